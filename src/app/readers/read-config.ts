/**
 * `guild.yaml` in a folder. If a part of it is wrong, a command that only reads uses the defaults,
 * and no work is done, because it would run without the owner's models, budgets and limits. A key
 * that resembles no known key is reported and ignored.
 */
import path from 'node:path';
import type { Env } from '../../domain/config/env.js';
import { problem, type Problem } from '../../domain/problem.js';
import type { Disk } from '../../ports/disk.js';
import { parseConfig, type ConfigParsed } from '../../text/config/config.js';
import { decodeUtf8, notUtf8 } from '../../text/lines/utf8.js';

export const CONFIG_FILE = 'guild.yaml';
const MAX_CONFIG_BYTES = 1024 * 1024;

interface ConfigRead extends ConfigParsed {
  /** The folder has an entry of this name. */
  there: boolean;
  /** Why no work may be done: the first of the problems. */
  unreadable?: Problem;
  /** No line of it can be read. */
  garbled: boolean;
}

export function readConfig(disk: Disk, root: string, env: Env): ConfigRead {
  const read = disk.read(path.join(root, CONFIG_FILE), MAX_CONFIG_BYTES);
  const text = read.kind === 'file' ? decodeUtf8(read.bytes) : '';
  const parsed = parseConfig(typeof text === 'string' ? text : '', CONFIG_FILE, env);
  if (read.kind === 'missing') return { ...parsed, there: false, garbled: false };
  if (typeof text !== 'string') return unusable(parsed, notUtf8(CONFIG_FILE, text));
  if (read.kind === 'file') {
    const garbled = parsed.problems.some(({ code }) => code === 'bad_file' || code === 'over_limit');
    const [first, ...others] = parsed.problems.filter((each) => !isForeignKey(each));
    return { ...parsed, there: true, garbled, ...(first ? { unreadable: withOthers(first, others.length) } : {}) };
  }
  const what = read.kind === 'too_big' ? `too big (${read.size} bytes)` : `a ${read.what}, not a file`;
  const hint = 'replace it with a text file, or remove it: every key is optional';
  return unusable(parsed, problem('bad_file', `${CONFIG_FILE} is ${what}`, { where: { file: CONFIG_FILE }, hint }));
}

function unusable(parsed: ConfigParsed, unreadable: Problem): ConfigRead {
  return { ...parsed, problems: [unreadable], there: true, unreadable, garbled: true };
}

/** A key of another program or version. A key that resembles a known key is a typing error. */
function isForeignKey({ code, meant }: Problem): boolean {
  return code === 'unknown_key' && meant === undefined;
}

function withOthers(first: Problem, others: number): Problem {
  if (others === 0) return first;
  const more = `guild check shows ${others} more`;
  return { ...first, hint: first.hint === undefined ? more : `${first.hint}; ${more}` };
}
