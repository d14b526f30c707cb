/**
 * The boards of a workspace as files. Each is read when its stamp changed and otherwise only looked at; what it says about
 * tasks is worked out over all of them, because a bullet may depend on one of another board. A board is written only
 * if it still is what was read, so that nobody's save is lost, and only after the new text was read back.
 */
import path from 'node:path';
import type { BoardMark } from '../../domain/task/board.js';
import { problem, type Problem } from '../../domain/problem.js';
import { inodeOf, writtenAt } from '../../domain/stamp.js';
import type { Boards } from '../../ports/boards.js';
import type { Clock } from '../../ports/clock.js';
import type { Disk } from '../../ports/disk.js';
import { applyEdits, boxEdits, type Edit, fieldEdits, removeFieldEdits } from '../../text/board/edit.js';
import { fieldOf, parseBoard, type Item } from '../../text/board/parse.js';
import { boardTasks, type BoardTasks, type Sheet } from '../../text/board/tasks.js';

/** Never a board of ours: it belongs to approvals. */
const BALLOT = 'approvals.task.md';
const MAX_BYTES = 16 * 1024 * 1024;
/** A file that is written in place may be half there; so long after its last change it is not. */
const SETTLED_MS = 100;
/** Reading a large board back after each change takes at most one part in this of the time. */
const SHARE = 8;
const LARGE_MS = 10;

interface Kept extends Sheet {
  stamp: string;
  /** The text is what lies there now; else an earlier one, because that one cannot be used. */
  whole: boolean;
}

export interface BoardsOptions {
  root: string;
  disk: Disk;
  clock: Clock;
  peer: string;
}

export function boards({ root, disk, clock, peer }: BoardsOptions): Boards {
  const folder = path.join(root, 'tasks');
  const kept = new Map<string, Kept>();
  const reported = new Set<string>();
  let known: string | undefined;
  let names: ReadonlySet<string> = new Set();
  let tasks: BoardTasks = { listed: new Map(), wanted: [], problems: [] };
  let followed = new Set<string>();
  let restUntil = 0;
  let tmps = 0;

  return {
    async read(agents) {
      const problems: Problem[] = [];
      const isNew = await refresh(problems);
      names = new Set(agents);
      const now = [...names].sort().join(' ');
      if (!isNew && now === known) return { changed: false, wanted: [], reopened: [], problems: fresh(problems) };
      known = now;
      work();
      for (const { board } of kept.values())
        for (const one of board.problems) if (one.severity === 'error') problems.push(one);
      const reopened: string[] = [];
      for (const [id, { stand }] of tasks.listed) if (stand.box === 'open' && stand.erred) reopened.push(id);
      return { changed: true, wanted: tasks.wanted, reopened, problems: fresh([...problems, ...tasks.problems]) };
    },
    readAgain() {
      known = undefined;
    },
    stand: (id) => tasks.listed.get(id)?.stand,
    standing: () => tasks.listed.keys(),
    isWhole: (file) => kept.get(path.basename(file))?.whole === true,
    following: () => followed,
    unfollow: (id) => void followed.delete(id),
    follow: (id) => void followed.add(id),
    async show(marks, last) {
      if (!last && clock.monotonicMs() < restUntil) return [];
      const problems: Problem[] = [];
      let spent = 0;
      for (const [name, mine] of byFile(marks)) spent += await mark(name, mine, problems);
      restUntil = spent < LARGE_MS ? 0 : clock.monotonicMs() + SHARE * spent;
      return fresh(problems);
    },
  };

  /** True if any board changed, came or went. */
  async function refresh(problems: Problem[]): Promise<boolean> {
    let changed = false;
    const there = disk
      .list(folder)
      .filter((name) => name.endsWith('.task.md') && !name.startsWith('.') && name !== BALLOT);
    for (const name of there.sort()) {
      if (disk.stamp(path.join(folder, name)) === kept.get(name)?.stamp) continue;
      await settled(name);
      changed = load(name, problems) || changed;
    }
    const names = new Set(there);
    for (const name of kept.keys()) if (!names.has(name)) changed = kept.delete(name) || changed;
    return changed;
  }

  /** An editor that replaces the file does so at once; one that writes into it is given time to end. */
  async function settled(name: string): Promise<void> {
    const before = kept.get(name)?.stamp;
    for (let tries = 0; tries < 5; tries++) {
      const now = disk.stamp(path.join(folder, name));
      if (now === undefined || (before !== undefined && inodeOf(now) !== inodeOf(before))) return;
      const age = clock.now().getTime() - Number(writtenAt(now) / 1_000_000n);
      if (age < 0 || age >= SETTLED_MS) return;
      await clock.sleep(SETTLED_MS - age);
    }
  }

  /** What cannot be used is held: what the board said before stays in force. */
  function load(name: string, problems: Problem[]): boolean {
    const file = `tasks/${name}`;
    const read = disk.read(path.join(folder, name), MAX_BYTES);
    if (read.kind === 'missing') return false;
    const before = kept.get(name);
    const hold = (why: string | undefined, stamp: string): boolean => {
      if (why !== undefined) problems.push(problem('bad_file', why, { where: { file }, hint: HELD }));
      kept.set(name, { ...(before ?? { text: '', board: parseBoard('', file) }), stamp, whole: false });
      return true;
    };
    if (read.kind !== 'file') {
      const what =
        read.kind === 'too_big' ? `${read.size} bytes, more than a board may have` : `a ${read.what}, not a file`;
      return hold(`${file} is ${what}`, disk.stamp(path.join(folder, name)) ?? '');
    }
    const text = utf8(read.bytes);
    if (text === undefined) return hold(`${file} is not UTF-8 text`, read.stamp);
    if (text.trim() === '' && before !== undefined && before.text.trim() !== '') return hold(undefined, read.stamp);
    const board = parseBoard(text, file);
    const conflict = board.problems.find((one) => one.lint === 'TD090');
    if (conflict) problems.push(conflict);
    if (conflict) return hold(undefined, read.stamp);
    kept.set(name, { board, text, stamp: read.stamp, whole: true });
    return true;
  }

  function work(): void {
    tasks = boardTasks([...kept.values()], names);
    followed = new Set();
    for (const [id, { stand }] of tasks.listed) if (stand.box === 'open' || stand.box === 'doing') followed.add(id);
  }

  function byFile(marks: readonly BoardMark[]): Map<string, BoardMark[]> {
    const found = new Map<string, BoardMark[]>();
    for (const one of marks) {
      const file = tasks.listed.get(one.id)?.board.file;
      if (file === undefined) continue;
      const name = path.basename(file);
      found.set(name, [...(found.get(name) ?? []), one]);
    }
    return found;
  }

  /** How long it took, without waiting for the disk. */
  async function mark(name: string, marks: BoardMark[], problems: Problem[]): Promise<number> {
    const from = clock.monotonicMs();
    const before = kept.get(name);
    if (before === undefined || !before.whole || disk.stamp(path.join(folder, name)) !== before.stamp) return 0;
    const text = applyEdits(
      before.text,
      marks.flatMap((one) => editsOf(before.text, tasks.listed.get(one.id)!.item, one)),
    );
    if (text === before.text) return 0;
    const board = parseBoard(text, before.board.file);
    if (board.items.length !== before.board.items.length) {
      problems.push(
        problem('bad_file', `the state of ${marks.map(({ id }) => id).join(', ')} cannot be shown on ${board.file}`, {
          where: { file: board.file },
          hint: 'guild lint shows what stands in the way',
        }),
      );
      return 0;
    }
    const spent = clock.monotonicMs() - from;
    const stamp = await replace(path.join(folder, name), text, before.stamp);
    if (stamp === undefined) return spent;
    kept.set(name, { board, text, stamp, whole: true });
    const still = followed;
    work();
    for (const id of followed) if (!still.has(id)) followed.delete(id);
    await disk.syncFolder(folder);
    return 2 * spent; // and once more to work out what it says now
  }

  /** The new stamp; undefined, and nothing written, if somebody saved in between, or swept the new file away because this peer is not known yet. */
  async function replace(file: string, text: string, stamp: string): Promise<string | undefined> {
    const tmp = path.join(root, '.guild', 'tmp', `${peer}-board${++tmps}`);
    disk.create(tmp, text);
    try {
      await disk.sync(tmp);
      if (disk.stamp(file) !== stamp) return undefined;
      return disk.rename(tmp, file) ? disk.stamp(file) : undefined;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    } finally {
      disk.remove(tmp);
    }
  }

  function fresh(problems: readonly Problem[]): Problem[] {
    return problems.filter((one) => {
      const key = `${one.where?.file}\n${one.where?.source ?? one.where?.line}\n${one.message}`;
      return !reported.has(key) && reported.add(key);
    });
  }
}

const HELD = 'nothing is done from this file until it can be read';

function utf8(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function editsOf(text: string, item: Item, mark: BoardMark): Edit[] {
  const edits: Edit[] = [];
  if (mark.box !== undefined) edits.push(...boxEdits(text, item, mark.box));
  if (item.id === undefined) edits.push(...fieldEdits(text, item, 'id', mark.id));
  // A person may have said `error:` about the work itself: that stays, and ours is called otherwise.
  const wasOurs = fieldOf(item, 'failed_at') !== undefined;
  const ours = fieldOf(item, 'failure') || (fieldOf(item, 'error') && !wasOurs) ? 'failure' : 'error';
  if (mark.anew) for (const key of ['failed_at', ours]) edits.push(...removeFieldEdits(text, item, key));
  if (mark.completedAt !== undefined) edits.push(...fieldEdits(text, item, 'completed_at', mark.completedAt));
  if (mark.failed !== undefined) {
    edits.push(...fieldEdits(text, item, 'failed_at', mark.failed.at));
    edits.push(...fieldEdits(text, item, ours, mark.failed.error));
  }
  return edits;
}
