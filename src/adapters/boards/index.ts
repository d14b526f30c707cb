/**
 * The boards of a workspace as files. A board is read again when its stamp changes. Tasks are
 * derived from all boards together, because a bullet may depend on a bullet of another board. A
 * board is written only if it is unchanged since it was read and the new text parses to the same
 * bullets.
 */
import { attempt } from '../../domain/attempt.js';
import { INTERVALS } from '../../domain/intervals.js';
import path from 'node:path';
import { fenced, isUnreadable } from '../../domain/fence.js';
import type { BoardMark } from '../../domain/task/board.js';
import { problem, type Problem } from '../../domain/problem.js';
import { inodeOf, writtenAt } from '../../domain/stamp.js';
import type { Boards } from '../../ports/boards.js';
import type { Clock } from '../../ports/clock.js';
import type { Disk } from '../../ports/disk.js';
import { applyEdits, boxEdits, type Edit, fieldEdits, removeFieldEdits } from '../../text/board/edit.js';
import { fieldOf, parseBoard, type Item } from '../../text/board/parse.js';
import { boardTasks, type BoardTasks, type Sheet } from '../../text/board/tasks.js';

/** Not a board: it belongs to approvals. */
const BALLOT = 'approvals.task.md';
const MAX_BYTES = 16 * 1024 * 1024;
/**
 * After an update that took at least this long, the next one waits `REST_FACTOR` times as long.
 */
const SLOW_MS = 10;
const REST_FACTOR = 8;

interface LoadedBoard extends Sheet {
  stamp: string;
  /** False if the file cannot be used now and this is its last usable version. */
  isCurrent: boolean;
}

interface BoardsOptions {
  root: string;
  disk: Disk;
  clock: Clock;
  peer: string;
}

export function boards({ root, disk, clock, peer }: BoardsOptions): Boards {
  const folder = path.join(root, 'tasks');
  const loaded = new Map<string, LoadedBoard>();
  const reported = new Set<string>();
  let isStale = true;
  let agentNames: ReadonlySet<string> = new Set();
  let tasks: BoardTasks = { listed: new Map(), wanted: [], problems: [] };
  let followed = new Set<string>();
  let restUntil = 0;
  let tmps = 0;

  return {
    async read(agents) {
      const problems: Problem[] = [];
      const isNew = await refresh(problems);
      const names = [...agents];
      const isSame = names.length === agentNames.size && names.every((name) => agentNames.has(name));
      if (!isNew && isSame && !isStale) return { changed: false, wanted: [], reopened: [], problems: fresh(problems) };
      agentNames = new Set(names);
      isStale = false;
      deriveTasks();
      for (const { board } of loaded.values())
        problems.push(...board.problems.filter(({ severity }) => severity === 'error'));
      const reopened: string[] = [];
      for (const [id, { bullet }] of tasks.listed) if (bullet.box === 'open' && bullet.showsFailure) reopened.push(id);
      return { changed: true, wanted: tasks.wanted, reopened, problems: fresh([...problems, ...tasks.problems]) };
    },
    readAgain() {
      isStale = true;
    },
    bullet: (id) => tasks.listed.get(id)?.bullet,
    taskIds: () => tasks.listed.keys(),
    isComplete: (file) => loaded.get(path.basename(file))?.isCurrent === true,
    following: () => followed,
    unfollow: (id) => void followed.delete(id),
    follow: (id) => void followed.add(id),
    async show(marks, last) {
      if (!last && clock.monotonicMs() < restUntil) return [];
      const problems: Problem[] = [];
      let spent = 0;
      for (const [name, group] of byFile(marks)) spent += await applyMarks(name, group, problems);
      restUntil = spent < SLOW_MS ? 0 : clock.monotonicMs() + REST_FACTOR * spent;
      return fresh(problems);
    },
  };

  /** True if any board was changed, added or removed. */
  async function refresh(problems: Problem[]): Promise<boolean> {
    let changed = false;
    const listed = fenced('tasks', () => disk.list(folder));
    if (isUnreadable(listed)) {
      problems.push(listed.problem);
      return false;
    }
    const names = listed.filter((name) => name.endsWith('.task.md') && !name.startsWith('.') && name !== BALLOT);
    for (const name of names.sort()) {
      if (stampOf(name) === loaded.get(name)?.stamp) continue;
      await waitUntilSettled(name);
      changed = load(name, problems) || changed;
    }
    for (const name of loaded.keys()) if (!names.includes(name)) changed = loaded.delete(name) || changed;
    return changed;
  }

  /**
   * Gives an editor that writes in place time to finish. A new inode means an atomic replacement.
   */
  async function waitUntilSettled(name: string): Promise<void> {
    const before = loaded.get(name)?.stamp;
    for (let tries = 0; tries < 5; tries++) {
      const now = stampOf(name);
      if (!now || (before !== undefined && inodeOf(now) !== inodeOf(before))) return;
      const age = clock.now().getTime() - Number(writtenAt(now) / 1_000_000n);
      if (age < 0 || age >= INTERVALS.boardSettleMs) return;
      await clock.sleep(INTERVALS.boardSettleMs - age);
    }
  }

  /** If the file cannot be used, the last usable version stays in force. */
  function load(name: string, problems: Problem[]): boolean {
    const file = `tasks/${name}`;
    const read = fenced(file, () => disk.read(path.join(folder, name), MAX_BYTES));
    if (read.kind === 'missing') return false;
    const before = loaded.get(name);
    const keepLast = (reason: string | undefined, stamp: string): boolean => {
      if (reason !== undefined) problems.push(problem('bad_file', reason, { where: { file }, hint: UNUSABLE_HINT }));
      loaded.set(name, { ...(before ?? { text: '', board: parseBoard('', file) }), stamp, isCurrent: false });
      return true;
    };
    if (read.kind === 'unreadable') {
      problems.push(read.problem);
      return keepLast(undefined, stampOf(name) ?? '');
    }
    if (read.kind !== 'file') {
      const reason =
        read.kind === 'too_big' ? `has ${read.size} bytes; the limit is ${MAX_BYTES}` : `is a ${read.what}, not a file`;
      return keepLast(`${file} ${reason}`, stampOf(name) ?? '');
    }
    const text = attempt(() => new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(read.bytes));
    if (text === undefined) return keepLast(`${file} is not UTF-8 text`, read.stamp);
    if (text.trim() === '' && before !== undefined && before.text.trim() !== '') return keepLast(undefined, read.stamp);
    const board = fenced(file, () => parseBoard(text, file));
    if (isUnreadable(board)) {
      problems.push(board.problem);
      return keepLast(undefined, read.stamp);
    }
    const conflict = board.problems.find(({ lint }) => lint === 'TD090');
    if (conflict) problems.push(conflict);
    if (conflict) return keepLast(undefined, read.stamp);
    loaded.set(name, { board, text, stamp: read.stamp, isCurrent: true });
    return true;
  }

  /** Empty for a board in a folder that may not be searched. */
  function stampOf(name: string): string | undefined {
    const stamp = fenced(name, () => disk.stamp(path.join(folder, name)));
    return isUnreadable(stamp) ? '' : stamp;
  }

  function deriveTasks(): void {
    tasks = boardTasks([...loaded.values()], agentNames);
    followed = new Set();
    for (const [id, { bullet }] of tasks.listed) if (bullet.box === 'open' || bullet.box === 'doing') followed.add(id);
  }

  function byFile(marks: readonly BoardMark[]): Map<string, BoardMark[]> {
    const groups = new Map<string, BoardMark[]>();
    for (const mark of marks) {
      const file = tasks.listed.get(mark.id)?.board.file;
      if (file === undefined) continue;
      const name = path.basename(file);
      groups.set(name, [...(groups.get(name) ?? []), mark]);
    }
    return groups;
  }

  /**
   * Writes the marks to one board. Returns the time spent computing, without waiting for the disk.
   */
  async function applyMarks(name: string, marks: BoardMark[], problems: Problem[]): Promise<number> {
    const from = clock.monotonicMs();
    const before = loaded.get(name);
    if (before === undefined || !before.isCurrent || disk.stamp(path.join(folder, name)) !== before.stamp) return 0;
    const text = applyEdits(
      before.text,
      marks.flatMap((mark) => editsOf(before.text, tasks.listed.get(mark.id)!.item, mark)),
    );
    if (text === before.text) return 0;
    const board = parseBoard(text, before.board.file);
    if (board.items.length !== before.board.items.length) {
      problems.push(
        problem('bad_file', `the state of ${marks.map(({ id }) => id).join(', ')} cannot be shown on ${board.file}`, {
          where: { file: board.file },
          hint: 'run guild lint to see why',
        }),
      );
      return 0;
    }
    const spent = clock.monotonicMs() - from;
    const stamp = await replace(path.join(folder, name), text, before.stamp);
    if (stamp === undefined) return spent;
    loaded.set(name, { board, text, stamp, isCurrent: true });
    const followedBefore = followed;
    deriveTasks();
    for (const id of followed) if (!followedBefore.has(id)) followed.delete(id);
    await disk.syncFolder(folder);
    return 2 * spent; // deriving the tasks again takes about as long
  }

  /**
   * Returns the new stamp. Undefined, and nothing is written, if a person saved in between or
   * another peer swept the temp file because this peer is not registered yet.
   */
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
    return problems.filter(({ where, message }) => {
      const key = `${where?.file}\n${where?.source ?? where?.line}\n${message}`;
      return !reported.has(key) && reported.add(key);
    });
  }
}

const UNUSABLE_HINT = 'this board is ignored until it can be read';

function editsOf(text: string, item: Item, mark: BoardMark): Edit[] {
  const edits: Edit[] = [];
  if (mark.box !== undefined) edits.push(...boxEdits(text, item, mark.box));
  if (item.id === undefined) edits.push(...fieldEdits(text, item, 'id', mark.id));
  // A person may have written `error:` about the work itself. Then our own field is `failure:`.
  const errorIsOurs = fieldOf(item, 'failed_at') !== undefined;
  const errorKey = fieldOf(item, 'failure') || (fieldOf(item, 'error') && !errorIsOurs) ? 'failure' : 'error';
  if (mark.reset) for (const key of ['failed_at', errorKey]) edits.push(...removeFieldEdits(text, item, key));
  if (mark.completedAt !== undefined) edits.push(...fieldEdits(text, item, 'completed_at', mark.completedAt));
  if (mark.failed !== undefined) {
    edits.push(...fieldEdits(text, item, 'failed_at', mark.failed.at));
    edits.push(...fieldEdits(text, item, errorKey, mark.failed.error));
  }
  return edits;
}
