/**
 * Turns board bullets into tasks and shows the state of the tasks in their boxes. Both compare the
 * bullet with its task and do not depend on who changed which first. Task ids are derived from the
 * bullets, so a repeated pass creates nothing twice. The engine closes a box only after its task
 * has ended, so a box that closes earlier was closed by a person.
 */
import { roleFacts } from '../../domain/task/role.js';
import { fromBoard, type BoardMark, type BoardWish } from '../../domain/task/board.js';
import { parentsFirst } from '../../domain/task/lineage.js';
import { visible } from '../../domain/coordination/mail.js';
import { problem, type Problem } from '../../domain/problem.js';
import { HUMAN, isEnded, makeTask, type OpenState, type Placed, type Task } from '../../domain/task/task.js';
import type { Boards } from '../../ports/boards.js';
import type { OpenTask } from '../../ports/store/tasks.js';
import type { Flight } from '../core/flight.js';
import { cancelTask } from './intents.js';
import { underWay } from '../core/ready-queue.js';
import { record, type EngineContext } from '../core/context.js';
import { fence } from '../core/fence.js';
import { retryTask } from './retry.js';

interface BoardsTaken {
  moved: boolean;
  problems: Problem[];
  /** There are more lines than one pass takes; the next pass takes the rest. */
  isPartial?: boolean;
}

/** Creates tasks for new bullets, updates unstarted ones, and ends those that a person removed. */
export async function takeBoards(context: EngineContext, flights: ReadonlyMap<string, Flight>): Promise<BoardsTaken> {
  const { boards } = context;
  const { changed, wanted, reopened, problems } = await boards.read(context.agents.all().keys());
  let moved = false;
  let isPartial = false;
  if (changed) {
    const open = new Map<string, OpenTask>();
    for (const entry of context.tasks.open()) open.set(entry.task.id, entry);
    const missing = wanted.filter((wish) => !open.has(wish.task.id));
    isPartial = missing.length > MAX_PER_PASS;
    if (isPartial) boards.readAgain();
    missing.length = Math.min(missing.length, MAX_PER_PASS);
    const batch = context.isSequential ? 1 : BATCH;
    for (let at = 0; at < missing.length; at += batch) {
      const created = await Promise.all(
        missing.slice(at, at + batch).map((wish) => fence(context, placeOf(wish), () => create(context, wish), false)),
      );
      moved = created.includes(true) || moved;
    }
    for (const wish of wanted) {
      const entry = open.get(wish.task.id);
      if (entry !== undefined)
        moved = (await fence(context, placeOf(wish), () => change(context, wish, entry), false)) || moved;
    }
    for (const id of reopened) moved = (await reopen(context, id)) || moved;
  }
  for (const { task, code, why, stillApplies } of unwanted(context, boards)) {
    const error = problem(code, why, { hint: 'retry it to continue where it stopped' });
    moved = (await cancelTask(context, task, error, flights, stillApplies)) || moved;
  }
  return { moved, problems, isPartial };
}

/** A long board takes several passes, so that work can start meanwhile. */
const MAX_PER_PASS = 256;
/** Tasks created concurrently, so that they share disk syncs. */
const BATCH = 64;

function placeOf({ file, line }: BoardWish): string {
  return `${file}:${line}`;
}

async function create(context: EngineContext, wish: BoardWish): Promise<boolean> {
  const gone = new Set<string>();
  for (const id of wish.closed) if ((await context.tasks.read(id)) === undefined) gone.add(id);
  const task = makeTask({
    ...wish.task,
    dependencies: wish.task.dependencies.filter((id) => !gone.has(id)),
    from: HUMAN,
    created_by: HUMAN,
    created_at: context.clock.now().toISOString(),
    extra: { board: { file: wish.file, said: wish.said } },
  });
  if (!(await context.tasks.create(task))) return false;
  record(context, 'task.created', {
    task: task.id,
    agent: task.to,
    cause: `${wish.file}:${wish.line}`,
  });
  return true;
}

/** Updates a task that has not started to the current text of its bullet. */
async function change(context: EngineContext, wish: BoardWish, { task, state }: OpenTask): Promise<boolean> {
  const board = fromBoard(task);
  if (board === undefined || board.said === wish.said || isStarted(task, state)) return false;
  const claim = await context.tasks.claim(task.id, wish.task.to ?? 'nobody');
  if (claim === undefined) return false;
  if (fromBoard(claim.task)?.said === wish.said || isStarted(claim.task, claim.from)) {
    await context.tasks.release(claim, claim.task);
    return false;
  }
  const { to: _, schedule, ...old } = claim.task;
  const again = wish.task.schedule && { schedule: { ...schedule, ...wish.task.schedule } };
  const now: Task = {
    ...old,
    ...wish.task,
    ...again,
    extra: { ...old.extra, board: { file: wish.file, said: wish.said } },
  };
  if (await context.tasks.release(claim, now))
    record(context, 'task.changed', { task: task.id, cause: `${wish.file}:${wish.line}` });
  return true;
}

async function reopen(context: EngineContext, id: string): Promise<boolean> {
  const placed = context.tasks.isOpen(id) ? undefined : await context.tasks.read(id);
  return placed?.state === 'failed' && (await retryTask(context, id, 'board'));
}

interface Unwanted {
  task: Task;
  code: 'by_hand' | 'cancelled';
  why: string;
  /** Checked again under the claim. */
  stillApplies?: (task: Task, state: OpenState) => boolean;
}

/**
 * Open tasks that a person closed on a board, with the tasks below them, and unstarted tasks whose
 * bullet is gone. Parents first.
 */
function unwanted(context: EngineContext, boards: Boards): Unwanted[] {
  const tasks: Unwanted[] = [];
  const open = new Map<string, OpenTask>();
  for (const entry of boardTasks(context, boards)) open.set(entry.task.id, entry);
  for (const { task, state } of open.values()) {
    if (roleFacts(task.role).isApproval && task.parent === undefined) continue;
    const owner = nearestBullet(task, boards, open);
    const bullet = owner === undefined ? undefined : boards.bullet(owner);
    if (bullet?.closedByHand)
      tasks.push({ task, code: 'by_hand', why: bullet.box === 'done' ? 'done by hand' : 'skipped by hand' });
    const board = fromBoard(task);
    if (board === undefined || isStarted(task, state) || boards.bullet(task.id) || !boards.isComplete(board.file))
      continue;
    const stillApplies = (now: Task, from: OpenState): boolean => !isStarted(now, from);
    tasks.push({ task, code: 'cancelled', why: `its line was removed from ${board.file}`, stillApplies });
  }
  return parentsFirst(tasks, (entry) => entry.task);
}

/** Tasks that a board can affect. A queued root is only included if it has its own bullet. */
function* boardTasks(context: EngineContext, boards: Boards): Iterable<OpenTask> {
  yield* underWay(context);
  for (const id of boards.taskIds()) {
    const { one: entry } = context.queue.find(id) ?? context.queue.behind(id) ?? {};
    if (entry !== undefined) yield entry;
  }
}

/** The task or its nearest ancestor with a bullet. A task from a bullet only follows its own. */
function nearestBullet(task: Task, boards: Boards, open: ReadonlyMap<string, Placed>): string | undefined {
  let at: Task | undefined = task;
  for (let level = 0; at !== undefined && level < MAX_LEVELS; level++) {
    if (boards.bullet(at.id)) return at.id;
    if (fromBoard(at) !== undefined || at.parent === undefined) return undefined;
    if (!open.has(at.parent)) return [at.parent, at.root].find((id) => boards.bullet(id) !== undefined);
    at = open.get(at.parent)!.task;
  }
  return undefined;
}

/** Parent links are user-editable; guard against cycles. */
const MAX_LEVELS = 100;

function isStarted(task: Task, state: Placed['state']): boolean {
  // A schedule waits for its next time and may be changed meanwhile.
  if (roleFacts(task.role).isSchedule) return false;
  return state !== 'pending' || task.claimed_at !== undefined;
}

/** Shows the state of tasks in their boxes. `last`: no other call follows soon, so write all. */
export async function showBoards(context: EngineContext, last = false): Promise<void> {
  const { boards } = context;
  const marks: BoardMark[] = [];
  const open = new Set<string>();
  for (const { task, state } of boardTasks(context, boards)) {
    const bullet = boards.bullet(task.id);
    if (bullet === undefined || roleFacts(task.role).isApproval) continue;
    open.add(task.id);
    boards.follow(task.id);
    const reset = bullet.showsFailure && (bullet.box === 'skipped' || bullet.box === 'open');
    const isTaken = isStarted(task, state) && (bullet.box === 'open' || reset);
    const box = isTaken ? ('doing' as const) : reset ? ('open' as const) : undefined;
    if (box || !bullet.hasId) marks.push({ id: task.id, box, reset });
  }
  for (const id of [...boards.following()]) {
    if (open.has(id)) continue;
    const mark = endMark(boards, id, await context.tasks.read(id));
    if (mark) marks.push(mark);
    else boards.unfollow(id);
  }
  if (marks.length === 0) return;
  for (const unwritten of await boards.show(marks, last)) {
    context.watchers.problem(unwritten);
    record(context, 'file.held', { problem: unwritten });
  }
}

/** The mark for an ended task; undefined if it is open, already shown, or reopened by a person. */
function endMark(boards: Boards, id: string, placed: Placed | undefined): BoardMark | undefined {
  const bullet = boards.bullet(id);
  if (placed === undefined || bullet === undefined || !isEnded(placed.state) || roleFacts(placed.task.role).isApproval)
    return undefined;
  if (bullet.showsFailure || bullet.showsCompletion) return undefined;
  const { task, state } = placed;
  // A person closed it. The last reading may be older than their mark, which must not be
  // overwritten.
  if (task.error?.code === 'by_hand') return undefined;
  const at = task.ended_at ?? task.created_at;
  if (state === 'completed') return { id, box: 'done', completedAt: at };
  const error = shortened(task.error?.message ?? 'failed without a reason');
  return { id, box: 'skipped', failed: { at, error } };
}

function shortened(message: string): string {
  const line = visible(message).replace(/\s+/g, ' ').trim();
  return line.length > 200 ? `${line.slice(0, 199)}…` : line;
}
