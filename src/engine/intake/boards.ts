/**
 * Boards become tasks, and boxes follow them. Both are level-triggered: what a bullet says and where its task stands are
 * compared, whoever changed which and when. Task ids follow from the bullets, so a repeated pass makes nothing twice; a box
 * is closed only after its task has ended for good, so an early close is always a person's.
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
import { cancelOne } from './intents.js';
import { underWay } from '../core/ready-queue.js';
import { record, type EngineContext } from '../core/context.js';
import { retryTask } from './retry.js';

interface BoardsTended {
  moved: boolean;
  problems: Problem[];
}

/** Makes tasks of new bullets, changes those not begun whose bullet changed, and ends those that a person closed or took away. */
export async function tendBoards(context: EngineContext, flights: ReadonlyMap<string, Flight>): Promise<BoardsTended> {
  const { boards } = context;
  const { changed, wanted, reopened, problems } = await boards.read(context.agents.all().keys());
  let moved = false;
  if (changed) {
    const open = new Map<string, OpenTask>();
    for (const one of context.tasks.open()) open.set(one.task.id, one);
    const missing = wanted.filter((wish) => !open.has(wish.task.id));
    if (missing.length > AT_ONCE) boards.readAgain();
    missing.length = Math.min(missing.length, AT_ONCE);
    for (let at = 0; at < missing.length; at += TOGETHER) {
      const made = await Promise.all(missing.slice(at, at + TOGETHER).map((wish) => make(context, wish)));
      moved = made.includes(true) || moved;
    }
    for (const wish of wanted) {
      const one = open.get(wish.task.id);
      if (one !== undefined) moved = (await change(context, wish, one)) || moved;
    }
    for (const id of reopened) moved = (await reopen(context, id)) || moved;
  }
  for (const { task, code, why, isMeant } of unwanted(context, boards)) {
    const error = problem(code, why, { hint: 'retry it to go on from where it stopped' });
    moved = (await cancelOne(context, task, error, flights, isMeant)) || moved;
  }
  return { moved, problems };
}

/** How many tasks a pass makes before it goes on to work: a long board is taken in over several passes. */
const AT_ONCE = 256;
/** How many are made at the same time: their syncs go together. */
const TOGETHER = 64;

async function make(context: EngineContext, wish: BoardWish): Promise<boolean> {
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
    ...(task.to ? { agent: task.to } : {}),
    cause: `${wish.file}:${wish.line}`,
  });
  return true;
}

/** A task that nobody has begun says what its bullet says now. */
async function change(context: EngineContext, wish: BoardWish, { task, state }: OpenTask): Promise<boolean> {
  const board = fromBoard(task);
  if (board === undefined || board.said === wish.said || isBegun(task, state)) return false;
  const claim = await context.tasks.claim(task.id, wish.task.to ?? 'nobody');
  if (claim === undefined) return false;
  if (fromBoard(claim.task)?.said === wish.said || isBegun(claim.task, claim.from)) {
    await context.tasks.release(claim, claim.task);
    return false;
  }
  const { to: _, ...old } = claim.task;
  const now: Task = { ...old, ...wish.task, extra: { ...old.extra, board: { file: wish.file, said: wish.said } } };
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
  /** Whether it still holds for the record under the claim. */
  isMeant?: (task: Task, state: OpenState) => boolean;
}

/** Open tasks that a person has closed on a board, with what was made for them, and those not begun whose bullet is gone. Parents first. */
function unwanted(context: EngineContext, boards: Boards): Unwanted[] {
  const found: Unwanted[] = [];
  const open = new Map<string, OpenTask>();
  for (const one of concerned(context, boards)) open.set(one.task.id, one);
  for (const { task, state } of open.values()) {
    if (roleFacts(task.role).isApproval && task.parent === undefined) continue;
    const above = nearest(task, boards, open);
    const stand = above === undefined ? undefined : boards.stand(above);
    if (stand?.byHand)
      found.push({ task, code: 'by_hand', why: stand.box === 'done' ? 'done by hand' : 'skipped by hand' });
    const board = fromBoard(task);
    if (board === undefined || isBegun(task, state) || boards.stand(task.id) || !boards.isWhole(board.file)) continue;
    const isMeant = (now: Task, from: OpenState): boolean => !isBegun(now, from);
    found.push({ task, code: 'cancelled', why: `its line was taken off ${board.file}`, isMeant });
  }
  return parentsFirst(found, (one) => one.task);
}

/** Who only waits for its turn was made by no board and for nobody: only a bullet of its own concerns it. */
function* concerned(context: EngineContext, boards: Boards): Iterable<OpenTask> {
  yield* underWay(context);
  for (const id of boards.standing()) {
    const { one } = context.queue.find(id) ?? context.queue.behind(id) ?? {};
    if (one !== undefined) yield one;
  }
}

/** The task itself, or the nearest one it was made for, that has a bullet. A task with a bullet of its own stands and falls with that. */
function nearest(task: Task, boards: Boards, open: ReadonlyMap<string, Placed>): string | undefined {
  let at: Task | undefined = task;
  for (let level = 0; at !== undefined && level < MOST_LEVELS; level++) {
    if (boards.stand(at.id)) return at.id;
    if (fromBoard(at) !== undefined || at.parent === undefined) return undefined;
    if (!open.has(at.parent)) return [at.parent, at.root].find((id) => boards.stand(id) !== undefined);
    at = open.get(at.parent)!.task;
  }
  return undefined;
}

/** A circle of parents is damage that a person made; it must not hang us. */
const MOST_LEVELS = 100;

function isBegun(task: Task, state: Placed['state']): boolean {
  return state !== 'pending' || task.claimed_at !== undefined;
}

/** Makes the boxes say how their tasks stand. `last`: nothing follows for now, so nothing is left for later. */
export async function showBoards(context: EngineContext, last = false): Promise<void> {
  const { boards } = context;
  const marks: BoardMark[] = [];
  const open = new Set<string>();
  for (const { task, state } of concerned(context, boards)) {
    const stand = boards.stand(task.id);
    if (stand === undefined || roleFacts(task.role).isApproval) continue;
    open.add(task.id);
    boards.follow(task.id);
    const anew = stand.erred && (stand.box === 'skipped' || stand.box === 'open');
    const takes = isBegun(task, state) && (stand.box === 'open' || anew);
    const box = takes ? ('doing' as const) : anew ? ('open' as const) : undefined;
    if (box || !stand.named) marks.push({ id: task.id, ...(box ? { box } : {}), ...(anew ? { anew } : {}) });
  }
  for (const id of [...boards.following()]) {
    if (open.has(id)) continue;
    const mark = endMark(boards, id, await context.tasks.read(id));
    if (mark) marks.push(mark);
    else boards.unfollow(id);
  }
  if (marks.length === 0) return;
  for (const one of await boards.show(marks, last)) {
    context.watchers.problem(one);
    record(context, 'file.held', { problem: one });
  }
}

/** How a bullet shows the end of its task; undefined if there is none to show, or a person has opened it again. */
function endMark(boards: Boards, id: string, placed: Placed | undefined): BoardMark | undefined {
  const stand = boards.stand(id);
  if (placed === undefined || stand === undefined || !isEnded(placed.state) || roleFacts(placed.task.role).isApproval)
    return undefined;
  if (stand.erred || stand.dated) return undefined;
  const { task, state } = placed;
  // A person closed it, and what they wrote stands: what is known of the board here may be older than their mark.
  if (task.error?.code === 'by_hand') return undefined;
  const at = task.ended_at ?? task.created_at;
  if (state === 'completed') return { id, box: 'done', completedAt: at };
  const error = shortened(task.error?.message ?? 'it failed without saying why');
  return { id, box: 'skipped', failed: { at, error } };
}

function shortened(message: string): string {
  const line = visible(message).replace(/\s+/g, ' ').trim();
  return line.length > 200 ? `${line.slice(0, 199)}…` : line;
}
