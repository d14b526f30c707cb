/**
 * `guild.yaml` as it lies in a folder. What it says wrongly is reported and a default stands in; a file that cannot be read at all is
 * `unreadable`: nothing may be done then, because models, budgets and limits would be others than its owner meant.
 */
import path from 'node:path';
import type { Problem } from '../domain/problem.js';
import type { Disk } from '../ports/disk.js';
import { parseConfig, type ConfigParsed } from '../text/config-yaml.js';

export const CONFIG_FILE = 'guild.yaml';
const MAX_CONFIG_BYTES = 1024 * 1024;

export interface ConfigRead extends ConfigParsed {
  /** There is such a name in the folder. */
  there: boolean;
  unreadable?: Problem;
}

export function readConfig(disk: Disk, root: string, env: Record<string, string | undefined>): ConfigRead {
  const read = disk.read(path.join(root, CONFIG_FILE), MAX_CONFIG_BYTES);
  const parsed = parseConfig(read.kind === 'file' ? read.bytes.toString('utf8') : '', CONFIG_FILE, env);
  if (read.kind === 'missing') return { ...parsed, there: false };
  if (read.kind === 'file') {
    const unreadable = parsed.problems.find(({ code }) => code === 'bad_file' || code === 'over_limit');
    return { ...parsed, there: true, ...(unreadable ? { unreadable } : {}) };
  }
  const what = read.kind === 'too_big' ? `too big (${read.size} bytes)` : `${read.what}, not a file`;
  const unreadable: Problem = {
    code: 'bad_file',
    message: `${CONFIG_FILE} is ${what}`,
    where: { file: CONFIG_FILE },
    hint: 'put a text file in its place, or take it away: every line of it is optional',
  };
  return { ...parsed, problems: [unreadable], there: true, unreadable };
}
