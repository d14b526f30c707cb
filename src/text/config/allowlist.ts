/**
 * `storage/terminal-cmd-allowlist.yaml`: which commands people let run, or want to see first.
 *
 *   ls: true                        # commands that begin with these words run by themselves
 *   git push: false                 # these are always asked for
 *   npm: null                       # says nothing
 *   /^npm (test|run lint)$/: true   # a pattern on one command of the line
 *   /curl/: { approve: false, matchCommandLine: true }    # a pattern on the whole line
 *
 * Words are compared whole, so `ls` says nothing about `lsof` and `git status` nothing about `git push`. One bad entry makes
 * the file unreadable, because the part that was meant to hold something back may be the bad one.
 */
import type { AllowEntry } from '../../domain/policy.js';
import { problem, type Problem } from '../../domain/problem.js';
import { parseBash } from '../bash/parse.js';
import { readPattern } from './guarded-pattern.js';
import { loadYaml, wholeFile, YamlPlaces } from '../yaml/parse.js';
import { Fields, type Found, type Report } from '../yaml/fields.js';

type AllowlistRead = { ok: true; entries: AllowEntry[] } | { ok: false; problems: Problem[] };

const MAX_BYTES = 256 * 1024;

export function readAllowlist(file: string, text: string): AllowlistRead {
  if (text.length > MAX_BYTES) return tooLarge(file);
  const source = wholeFile(file, text);
  const loaded = loadYaml(source);
  if (!loaded.ok) return { ok: false, problems: [loaded.problem] };
  if (loaded.value === null || loaded.value === undefined) return { ok: true, entries: [] };
  const report: Report = { places: new YamlPlaces(source), problems: [], warnings: [] };
  const root = new Fields({ file: loaded.value }, [], report).mapping('file');
  const entries: AllowEntry[] = [];
  const fields = root && new Fields(loaded.value as Record<string, unknown>, [], report);
  for (const [key, found] of fields?.entries() ?? []) {
    const entry = readEntry(key, found, fields!);
    if (entry) entries.push(entry);
  }
  return report.problems.length > 0 ? { ok: false, problems: report.problems } : { ok: true, entries };
}

export function tooLarge(file: string): { ok: false; problems: Problem[] } {
  const message = `the file is larger than ${MAX_BYTES} characters`;
  return { ok: false, problems: [problem('over_limit', message, { where: { file } })] };
}

function readEntry(key: string, found: Found, fields: Fields): AllowEntry | undefined {
  const said = readApproval(found, fields);
  if (said === undefined) return undefined;
  const match = key.startsWith('/') && key.lastIndexOf('/') > 0 ? matchPattern(key, fields) : matchWords(key, fields);
  if (match === undefined) return undefined;
  if (said.wholeLine && match.kind === 'words') {
    fields.error('bad_field', 'matchCommandLine needs a /pattern/', found.path, 'value');
    return undefined;
  }
  return { key, match, ...said, line: fields.report.places.key(found.path).line ?? 0 };
}

function readApproval(found: Found, fields: Fields): { approve: boolean; wholeLine: boolean } | undefined {
  if (typeof found.value === 'boolean') return { approve: found.value, wholeLine: false };
  if (typeof found.value !== 'object' || found.value === null) {
    return fields.wrong(found, 'true, false, null or {approve, matchCommandLine}');
  }
  const inner = fields.mappingOf(found);
  const approve = inner?.flag('approve');
  const wholeLine = inner?.flag('matchCommandLine') ?? false;
  inner?.noMore();
  return approve === undefined ? undefined : { approve, wholeLine };
}

function matchPattern(key: string, fields: Fields): AllowEntry['match'] | undefined {
  const read = readPattern(key);
  if (read.ok) return { kind: 'pattern', pattern: read.pattern };
  fields.error('bad_field', `this pattern is not taken: ${read.reason}`, [key]);
  return undefined;
}

function matchWords(key: string, fields: Fields): AllowEntry['match'] | undefined {
  const parsed = parseBash(key);
  const node = parsed.ok && parsed.script.plain ? parsed.script.list.items[0]?.node : undefined;
  const words = node?.kind === 'command' ? node.words.map((word) => (word.glob ? undefined : word.value)) : [];
  const single = parsed.ok && parsed.script.list.items.length === 1 && node?.kind === 'command';
  const bare = single && node.assignments.length === 0 && node.redirections.length === 0;
  if (bare && words.length > 0 && !words.includes(undefined)) return { kind: 'words', words: words as string[] };
  const hint = 'write the first words of one command, or a /pattern/';
  fields.error('bad_field', 'this is not the beginning of one plain command', [key], 'key', hint);
  return undefined;
}
