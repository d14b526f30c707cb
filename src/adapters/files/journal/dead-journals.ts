/**
 * Finds the journals of processes that have ended, and reads what they hold. Only the header of a
 * journal says who its owner is: boot, pid and start time. Nothing else decides whether it is dead.
 */
import { diskReason, problem, type Problem } from '../../../domain/problem.js';
import { changedAt, inodeOf } from '../../../domain/stamp.js';
import type { Disk } from '../../../ports/disk.js';
import type { Processes } from '../../../ports/processes.js';
import { faultOf } from './check-step.js';
import { JOURNAL_VERSION, readHeader, readLines, roomForLines, type Header, type Line, type Room } from './frames.js';
import { WRITTEN_BACK_MS } from './journal.js';
import { adoptedName, parseJournalName, type JournalFile } from './names.js';
import { oldSteps } from './old-format.js';
import type { Step } from './step.js';

export interface DeadJournal {
  peer: string;
  /** Its files, in the order in which they were written. */
  files: string[];
  steps: Step[];
  /**
   * Its process ran on this machine after the last boot, so its unsynced writes are still there.
   * False for a copy, whose files were read at different moments.
   */
  isThisBoot: boolean;
}

interface DeadJournals {
  /**
   * Takes over the journals of dead processes; exactly one process takes over each journal. A
   * journal with nothing to replay stays until the system has probably written its files to the
   * device. `join`: called before the first one is taken.
   */
  adopt(now: Date, join: () => void): { adopted: DeadJournal[]; problems: Problem[] };
  /** The journals that have something to replay, without taking them over. */
  look(): DeadJournal[];
  /** Another live process is replaying a journal. */
  isBusy(): boolean;
  /** Nobody else may take the tasks of a peer until its journal is replayed. */
  hasJournal(peer: string): boolean;
}

interface Dependencies {
  disk: Disk;
  folder: string;
  /** Path of the folder, for messages. */
  shown: string;
  me: string;
  processes: Processes;
  isPeerAlive: (peer: string) => boolean;
  /** The peer ids that this process had before it gave up their store. */
  abandoned?: ReadonlySet<string>;
  names?: () => readonly string[];
}

interface Group {
  peer: string;
  files: JournalFile[];
  last: JournalFile;
}

/** More journals than this would slow down every command that looks at them. */
const MANY = 8;

/** Extension of the files of a journal that cannot be replayed. */
export const HELD = '.held';
export const HELD_NAME = /^[a-z0-9]+\.\d+\..*\.held$/;

export function deadJournals(dependencies: Dependencies): DeadJournals {
  const { disk, folder, shown, me, processes, isPeerAlive, abandoned } = dependencies;
  const names = dependencies.names ?? (() => disk.list(folder));
  return {
    adopt(now, join) {
      const problems: Problem[] = [];
      const dead = deadGroups();
      const isMany = dead.length > MANY;
      const due = dead.filter((group) => isMany || !isComplete(group) || isWrittenBack(group, now));
      if (due.length > 0) join();
      const room = roomForLines();
      const adopted = due.flatMap((group) => {
        const name = adoptedName(group.last, me);
        if (!group.last.isOld && group.last.adopter !== me && !disk.rename(group.last.file, name)) return [];
        const last = group.last.isOld ? group.last : { ...group.last, file: name };
        const files = [...group.files.slice(0, -1), last];
        const read = readWhole({ ...group, files, last }, room);
        if (!('code' in read)) return [read];
        for (const { file } of files) disk.rename(file, `${file}${HELD}`);
        disk.create(`${last.file}${HELD}.why.md`, `${read.message}\n\n${read.hint}\n`);
        problems.push(read);
        return [];
      });
      return { adopted, problems };
    },
    look() {
      const room = roomForLines();
      return deadGroups().flatMap((group) => {
        const read = isComplete(group) ? undefined : readWhole(group, room);
        return read === undefined || 'code' in read ? [] : [read];
      });
    },
    isBusy: () =>
      groups().some(({ last: { adopter } }) => adopter !== undefined && adopter !== me && isPeerAlive(adopter)),
    hasJournal: (peer) =>
      names().some((name) => name.startsWith(`${peer}.`) && HELD_NAME.test(name)) ||
      groups().some((group) => group.peer === peer && !group.last.isClosed),
  };

  function groups(): Group[] {
    const byPeer = new Map<string, JournalFile[]>();
    for (const name of names()) {
      const file = parseJournalName(folder, name);
      if (file === undefined || file.peer === me) continue;
      byPeer.set(file.peer, [...(byPeer.get(file.peer) ?? []), file]);
    }
    return [...byPeer].map(([peer, found]) => {
      const files = found.sort((a, b) => a.segment - b.segment);
      return { peer, files, last: files.at(-1)! };
    });
  }

  function deadGroups(): Group[] {
    return groups().filter(({ peer, files, last }) => {
      if (last.adopter !== undefined) return last.adopter === me || !isPeerAlive(last.adopter);
      if (last.isClosed || abandoned?.has(peer) === true) return true;
      const header = files.map((file) => headerOf(disk, file)).find((found) => found !== undefined);
      return header === undefined ? !isPeerAlive(peer) : isCopy(header) || !processes.isAlive(header.owner);
    });
  }

  /** Its process closed it with every file in place, and no power cut has come since. */
  function isComplete({ files, last }: Group): boolean {
    const header = last.isClosed ? headerOf(disk, files[0]!) : undefined;
    return header !== undefined && header.owner.bootId === processes.me().bootId && !isCopy(header);
  }

  function isWrittenBack({ last }: Group, now: Date): boolean {
    const stamp = disk.stamp(last.file);
    return stamp !== undefined && now.getTime() - Number(changedAt(stamp) / 1_000_000n) > WRITTEN_BACK_MS;
  }

  function isCopy({ place }: Header): boolean {
    return place !== undefined && place !== inodeOf(disk.stamp(folder) ?? '');
  }

  /** A line that cannot be read, or that another version wrote, puts the whole journal on hold. */
  function readWhole(group: Group, room: Room): DeadJournal | Problem {
    const read = attempt(() => readJournal(group, room));
    return 'kind' in read ? unreadable(group.last.file, read.reason) : read;
  }

  /** Reading stops at the first line that is not whole: nothing after it was ever acknowledged. */
  function readJournal({ peer, files, last }: Group, room: Room): DeadJournal | Problem {
    const lines: Line[] = [];
    const steps: Step[] = [];
    let written: Header | undefined;
    for (const { file, segment, isOld } of files) {
      const read = disk.read(file, Infinity);
      if (read.kind === 'not_a_file') return unreadable(file, `it is a ${read.what}, not a file`);
      if (read.kind !== 'file') break;
      if (isOld) {
        steps.push(...oldSteps(read.bytes.toString('utf8')));
        continue;
      }
      const next = readLines(read.bytes, peer, room);
      const header = next[0];
      if (header === undefined || !('header' in header)) {
        if (isForeign(read.bytes)) return unreadable(file, 'it does not start with the header of a journal');
        break;
      }
      if (header.header.journal > JOURNAL_VERSION) {
        const by = `a newer version of guild wrote it (${header.header.journal}; this one reads ${JOURNAL_VERSION})`;
        return unreadable(file, by);
      }
      // A reused file whose new content never reached the device.
      if (header.header.segment !== segment) break;
      if (lines.length > 0 && header.n !== lines.at(-1)!.n + 1) break;
      written = header.header;
      lines.push(...next);
    }
    for (const line of lines) if ('step' in line) steps.push(line.step);
    for (const step of steps) {
      const fault = faultOf(step);
      if (fault !== undefined) return unreadable(last.file, fault);
    }
    return {
      peer,
      files: files.map(({ file }) => file),
      steps,
      isThisBoot: written !== undefined && written.owner.bootId === processes.me().bootId && !isCopy(written),
    };
  }

  function unreadable(file: string, why: string): Problem {
    const name = file.slice(folder.length + 1);
    return problem('bad_file', `${shown}/${name} cannot be replayed: ${why}`, {
      where: { file: `${shown}/${name}` },
      hint: 'its tasks are held; run `guild doctor --adopt` to continue them from their files',
    });
  }
}

/** A fault of the disk does not damage the journal: the next try may succeed. */
function attempt<T>(read: () => T): T | { kind: 'refused'; reason: string } {
  try {
    return read();
  } catch (thrown) {
    const { code, message } = thrown as NodeJS.ErrnoException;
    const isMalformed = thrown instanceof TypeError || thrown instanceof SyntaxError;
    if (!isMalformed && code !== 'EACCES' && code !== 'EPERM') throw thrown;
    return { kind: 'refused', reason: diskReason(thrown) ?? message };
  }
}

export function headerOf(disk: Disk, { file, peer, isOld }: JournalFile): Header | undefined {
  const read = isOld ? undefined : attempt(() => disk.read(file, Infinity));
  const header = read?.kind === 'file' ? attempt(() => readHeader(read.bytes, peer)) : undefined;
  return header !== undefined && 'journal' in header ? header : undefined;
}

/** Neither empty, nor zeros, nor the start of a line that a power cut tore. */
function isForeign(bytes: Buffer): boolean {
  const text = bytes.subarray(0, 9).toString('latin1');
  return bytes.length > 0 && !/^[0-9a-f]*[ \0]?\0*$/.test(text);
}
