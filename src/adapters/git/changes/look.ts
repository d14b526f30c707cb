/**
 * Finds the changes of people, editors and commands since the last commit: files whose stamp
 * differs, new files, and files that are gone. A file with the same content did not change.
 */
import path from 'node:path';
import {
  isCovered,
  isInPlace,
  isProgramsOwn,
  OPEN_PLACES,
  pathInHistory,
  pathInWorkspace,
  TIMED_PLACES,
} from './covered.js';
import { readNow, statNow, type StatNow } from './files-now.js';
import { must, type RunGit } from '../repository/program.js';
import { blobId } from '../repository/target.js';
import { EXTRA, PLAIN, stampOf, type Stamps } from './stamps.js';
import { walk, type Pace } from './walk.js';

interface Look {
  root: string;
  stamps: Stamps;
  tip: string;
  run: RunGit;
  /** The ids of the files at these paths of the last commit. */
  idsOf(pathsInHistory: readonly string[]): Promise<(string | undefined)[]>;
  /** Changes that the program noted in the meantime are its own. */
  noted: { has(name: string): boolean; all(): Iterable<string> };
  /** Another process works here. It will list its own writes soon, so they are left to it. */
  isOtherAlive: boolean;
  /** Also looks at ended work and conversations. */
  isWhole: boolean;
  pace: Pace;
}

/** Changes this recent may come from another process. */
const YOUNG_MS = 1000;

export async function changesByPeople(look: Look): Promise<string[]> {
  const { root, stamps, noted, isOtherAlive, isWhole, pace } = look;
  const seen = { plain: 0, timed: 0 };
  const added: string[] = [];
  const uncertain: string[] = [];
  let isComplete = true;
  for (const place of isWhole ? [...OPEN_PLACES, ...TIMED_PLACES] : OPEN_PLACES) {
    isComplete = (await walk(root, place, visit, pace)) && isComplete;

    function visit(name: string, statOf: () => StatNow): void {
      const known = stamps.get(name);
      if (known !== undefined && known.minute !== EXTRA) seen[known.minute === PLAIN ? 'plain' : 'timed']++;
      if (!isInPlace(name) || noted.has(name)) return;
      const stat = statOf();
      if (stat === undefined || stat === 'unreadable' || known?.stamp === stampOf(stat)) return;
      if (isOtherAlive && (isProgramsOwn(name) || Date.now() - stat.ctimeMs < YOUNG_MS)) return;
      if (known === undefined) added.push(name);
      else uncertain.push(name);
    }
  }
  const changed = [...added, ...(await withOtherContent(look, uncertain))];
  if (!isComplete || isOtherAlive) return changed;
  for (const name of noted.all()) countGone(name);
  const isMissing = seen.plain < stamps.count('plain') || (isWhole && seen.timed < stamps.count('timed'));
  return isMissing ? [...changed, ...(await missing(look))] : changed;

  /** A known file that the program removed is not missing. */
  function countGone(name: string): void {
    const known = stamps.get(name);
    if (known === undefined || known.minute === EXTRA || exists(root, name)) return;
    seen[known.minute === PLAIN ? 'plain' : 'timed']++;
  }
}

/** A file that cannot be looked at, for example in a folder of another user, is not missing. */
function exists(root: string, name: string): boolean {
  return statNow(path.join(root, name)) !== undefined;
}

/** The files whose content differs from the last commit. The stamps of the others are corrected. */
async function withOtherContent({ root, stamps, tip, idsOf }: Look, names: string[]): Promise<string[]> {
  if (names.length === 0) return [];
  const files = names.map((name) => ({ name, now: readNow(path.join(root, name)), known: stamps.get(name)! }));
  const ids = await idsOf(files.map(({ name, known }) => pathInHistory(name, known.minute)));
  return files.flatMap(({ name, now, known }, i) => {
    if (now.kind !== 'file') return now.kind === 'missing' ? name : [];
    if (blobId(now.bytes, tip.length === 64 ? 'sha256' : 'sha1') !== ids[i]) return name;
    stamps.set(name, { stamp: now.stamp, minute: known.minute });
    return [];
  });
}

/** Stamps are stored without file names, so the names come from the last commit. */
async function missing({ root, stamps, tip, run, noted, isWhole }: Look): Promise<string[]> {
  const { out } = must(await run(['ls-tree', '-r', '-z', '--name-only', tip]));
  return out.split('\0').flatMap((inHistory) => {
    const name = pathInWorkspace(inHistory);
    if (name === '' || !isCovered(name) || noted.has(name) || stamps.get(name) === undefined) return [];
    if (!isWhole && inHistory !== name) return [];
    return exists(root, name) ? [] : name;
  });
}
