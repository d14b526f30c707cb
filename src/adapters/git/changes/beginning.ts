/**
 * The first commits of a workspace that already has files. A large first commit takes a while, so
 * it is made in parts, beside the work. If a process does not finish it, the next one continues.
 */
import fs from 'node:fs';
import path from 'node:path';
import type { Message } from './change-lists.js';
import { isCovered, OPEN_PLACES, TIMED_PLACES } from './covered.js';
import type { Stamps } from './stamps.js';
import { walk, type Pace } from './walk.js';

const PART_FILES = 1000;

type IsOwn = (name: string) => boolean;
type Put = (paths: Set<string>) => Promise<unknown>;

interface Beginning {
  /** History starts here: everything that is not known yet is committed in parts. */
  start(): void;
  isUnderWay(): boolean;
  message(files: number, note: string | undefined): Message;
  /** Leaves out files for which `isOwn` is true: they get a separate commit. */
  openPlaces(stamps: Stamps, isOwn: IsOwn, put: Put, pace: Pace): Promise<void>;
  /** Afterwards, if every place is done, the beginning is over. */
  timedPlaces(stamps: Stamps, isOwn: IsOwn, put: Put, pace: Pace): Promise<void>;
}

export function beginning(root: string, folder: string): Beginning {
  const file = path.join(folder, 'beginning');
  return {
    start: () => fs.writeFileSync(file, ''),
    isUnderWay: () => fs.existsSync(file),
    message: (files, note) => ({
      subject: `history begins: ${files} ${files === 1 ? 'file that was' : 'files that were'} there`,
      body: note ?? '',
    }),
    openPlaces: async (...args) => void (await putPlaces(OPEN_PLACES, ...args)),
    async timedPlaces(stamps, isOwn, put, pace) {
      const left = TIMED_PLACES.filter((place) => !fs.readFileSync(file, 'utf8').split('\n').includes(place));
      for (const [i, place] of left.entries()) {
        if (i > 0 && pace.isOver()) return;
        if (!(await putPlaces([place], stamps, isOwn, put, pace))) return;
        fs.appendFileSync(file, `${place}\n`);
      }
      fs.rmSync(file, { force: true });
    },
  };

  /** False if it was given up. */
  async function putPlaces(
    places: readonly string[],
    stamps: Stamps,
    isOwn: IsOwn,
    put: Put,
    pace: Pace,
  ): Promise<boolean> {
    const names: string[] = [];
    const visit = (name: string): void => {
      if (stamps.get(name) === undefined && isCovered(name) && !isOwn(name)) names.push(name);
    };
    // A process always finishes one part, even without time left; otherwise the beginning would
    // never end.
    const partPace = { isOver: () => names.length >= PART_FILES && pace.isOver() };
    let isWhole = true;
    for (const place of places) isWhole = isWhole && (await walk(root, place, visit, partPace));
    for (let from = 0; from < names.length; from += PART_FILES) {
      if (from > 0 && pace.isOver()) return false;
      await put(new Set(names.slice(from, from + PART_FILES)));
    }
    return isWhole;
  }
}
