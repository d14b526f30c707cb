/**
 * `storage/terminal-cmd-allowlist.yaml`: commands that people allow, or want to approve each time.
 * Words are compared whole, so `ls` does not match `lsof`. One wrong entry makes the file
 * unreadable, because it may be the one that requires approval.
 */
import type { AllowEntry } from '../../domain/policy.js';
import { problem, type Problem } from '../../domain/problem.js';
import { allowlistYaml, type AllowlistEntry } from '../../schemas/allowlist.js';
import { parseBash } from '../bash/parse.js';
import { fault, inOrder, placed, type Fault } from '../schema/fault.js';
import { readYaml } from '../schema/read-yaml.js';
import { readPattern } from './guarded-pattern.js';

type AllowlistRead = { ok: true; entries: AllowEntry[] } | { ok: false; problems: Problem[] };

const MAX_BYTES = 256 * 1024;

export function readAllowlist(file: string, text: string): AllowlistRead {
  const large = tooLarge(file, text);
  if (large !== undefined) return { ok: false, problems: [large] };
  const { value = {}, problems, where } = readYaml(allowlistYaml, file, text);
  const entries: AllowEntry[] = [];
  for (const [key, written] of Object.entries(value)) {
    if (written === null) continue;
    const read = toEntry(key, written, where([key], 'key').line ?? 0);
    if ('match' in read) entries.push(read);
    else problems.push(placed(read, where(read.path, read.side)));
  }
  return problems.length > 0 ? { ok: false, problems: inOrder(problems) } : { ok: true, entries };
}

export function tooLarge(file: string, text: string): Problem | undefined {
  if (text.length <= MAX_BYTES) return undefined;
  return problem('over_limit', `the file is larger than ${MAX_BYTES} characters`, { where: { file } });
}

function toEntry(key: string, written: NonNullable<AllowlistEntry>, line: number): AllowEntry | Fault {
  const { approve, matchCommandLine: wholeLine = false } =
    typeof written === 'boolean' ? { approve: written } : written;
  const isPattern = key.startsWith('/') && key.lastIndexOf('/') > 0;
  if (wholeLine && !isPattern) return fault([key], 'matchCommandLine needs a /pattern/');
  const match = isPattern ? matchPattern(key) : matchWords(key);
  return 'kind' in match ? { key, match, approve, wholeLine, line } : match;
}

function matchPattern(key: string): AllowEntry['match'] | Fault {
  const read = readPattern(key);
  if (read.ok) return { kind: 'pattern', pattern: read.pattern };
  return fault([key], `this pattern is not accepted: ${read.reason}`, { side: 'key' });
}

function matchWords(key: string): AllowEntry['match'] | Fault {
  const parsed = parseBash(key);
  const node = parsed.ok && parsed.script.plain ? parsed.script.list.items[0]?.node : undefined;
  const words = node?.kind === 'command' ? node.words.map((word) => (word.glob ? undefined : word.value)) : [];
  const single = parsed.ok && parsed.script.list.items.length === 1 && node?.kind === 'command';
  const bare = single && node.assignments.length === 0 && node.redirections.length === 0;
  if (bare && words.length > 0 && !words.includes(undefined)) return { kind: 'words', words: words as string[] };
  const hint = 'write the first words of one command, or a /pattern/';
  return fault([key], 'this is not the start of one plain command', { side: 'key', hint });
}
