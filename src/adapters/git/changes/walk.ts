/**
 * Visits the files of a folder, in slices, so that other work of the process continues. Links are
 * visited and not followed; repositories inside are not entered.
 */
import fs from 'node:fs';
import path from 'node:path';
import { isKeptOut, TIMED_PLACES } from './covered.js';
import { statNow, type StatNow } from './files-now.js';

const SLICE_MS = 2;

export interface Pace {
  /** True if the walk should be given up. */
  isOver(): boolean;
}

/**
 * `visit` gets paths relative to the workspace, without those that are kept out. False if it was
 * given up.
 */
export async function walk(
  root: string,
  place: string,
  visit: (name: string, stat: () => StatNow) => void,
  pace: Pace,
): Promise<boolean> {
  let sliceFrom = performance.now();
  const first = statNow(path.join(root, place));
  const isFolder = first === undefined || first === 'unreadable' || !(first.isFile() || first.isSymbolicLink());
  return isFolder ? folder(place) : !seen(place) || rest();

  async function folder(name: string): Promise<boolean> {
    const entries = await fs.promises.readdir(path.join(root, name), { withFileTypes: true }).catch(() => []);
    if (name !== place && entries.some((entry) => entry.name === '.git')) return true;
    for (const entry of entries) {
      const below = `${name}/${entry.name}`;
      if (entry.isDirectory()) {
        if (TIMED_PLACES.includes(below) || isKeptOut(below)) continue;
        if (!(await folder(below))) return false;
      } else if ((entry.isFile() || entry.isSymbolicLink()) && seen(below) && !(await rest())) return false;
    }
    return true;
  }

  /** True if the slice is over. */
  function seen(name: string): boolean {
    if (!isKeptOut(name)) visit(name, () => statNow(path.join(root, name)));
    return performance.now() - sliceFrom > SLICE_MS;
  }

  async function rest(): Promise<boolean> {
    await new Promise((resolve) => setImmediate(resolve));
    sliceFrom = performance.now();
    return !pace.isOver();
  }
}
