/** The stamps that fit the newest commit, whoever made it. */
import { isCovered, isTimed, minuteOf, pathInWorkspace } from './covered.js';
import { must } from '../repository/program.js';
import { EXTRA, PLAIN, stamps, type Stamps } from './stamps.js';
import type { OpenTarget } from '../repository/target.js';

/**
 * If another process, a crash or a person moved the newest commit, the files that differ are marked
 * as unknown; without usable stamps all files are.
 */
export async function stampsAt(file: string, { tip, run }: OpenTarget): Promise<Stamps> {
  const known = stamps(file);
  const from = known.commit();
  if (tip === undefined) known.clear();
  else if (from === '' || !tip.startsWith(from)) {
    const diff =
      from === '' ? undefined : await run(['diff-tree', '-r', '-z', '--no-renames', '--name-status', from, tip]);
    if (diff?.code === 0) forget(known, diff.out.split('\0'));
    else {
      known.clear();
      const { out } = must(await run(['ls-tree', '-r', '-z', '--name-only', tip]));
      for (const inHistory of out.split('\0')) if (inHistory !== '') setUnknown(known, inHistory);
    }
  }
  return known;
}

function forget(known: Stamps, fields: string[]): void {
  for (let i = 0; i + 1 < fields.length; i += 2) {
    const inHistory = fields[i + 1]!;
    const name = pathInWorkspace(inHistory);
    if (fields[i] !== 'D') setUnknown(known, inHistory);
    else if (known.get(name)?.minute === kindOf(name, minuteOf(inHistory) ?? 0)) known.remove(name);
  }
}

function setUnknown(known: Stamps, inHistory: string): void {
  const name = pathInWorkspace(inHistory);
  known.set(name, { stamp: 0, minute: minuteOf(inHistory) ?? kindOf(name, 0) });
}

/** The minute of a file that is kept by time; for any other file its kind. */
export function kindOf(name: string, minute: number): number {
  if (minute > EXTRA && isTimed(name)) return minute;
  return isCovered(name) && !/^(?:results|sessions|tasks\/(?:completed|failed)|storage\/blobs)\//.test(name)
    ? PLAIN
    : EXTRA;
}
