/**
 * The tree of a run with what happened when. Spans that no screen can tell apart are drawn as one,
 * so that a run with tens of thousands of them opens at once.
 */
import fs from 'node:fs';
import path from 'node:path';
import { defined } from '../../domain/defined.js';
import { compareText } from '../../domain/order.js';
import { sessionId } from '../../domain/session/session-id.js';
import { roleFacts } from '../../domain/task/role.js';
import { HUMAN } from '../../domain/task/task.js';
import { stretchesOf, unfoldedMs } from '../../views/time-folds.js';
import type { Span, TaskSpans, TreeRow } from '../base/contract.js';
import { sessionFile } from '../base/sessions.js';
import type { Moment } from './moment.js';
import { spansByTask } from './spans.js';
import { asTree, rowOnly, type ListedTask } from './tasks.js';

interface Tree {
  rows: TreeRow[];
  /** Some spans are drawn as one. */
  isMerged: boolean;
  listed: ListedTask[];
}

/** More spans than this are merged. */
const SPANS_MAX = 3000;
/** How many steps of time a view of a whole run, or of the requested part, can show. */
const STEPS = 4000;

export async function treeOf(moment: Moment, id: string): Promise<Tree> {
  const inside = below(await moment.tasks(''), id);
  const spans = spansIn(moment, inside);
  const listed = asTree(inside, byLatestStart(spans));
  const count = [...spans.values()].reduce((sum, each) => sum + each.length, 0);
  const isMerged = count > SPANS_MAX;
  const stepMs = isMerged ? unfoldedMs(stretches(listed, spans, moment.now.getTime())) / STEPS : 0;
  const attempts = attemptsIn(listed);
  const rows = listed.map((task): TreeRow => {
    const own = spans.get(task.id) ?? [];
    return defined({
      ...rowOnly(task),
      title: attempts.get(task.id) ?? task.title,
      depth: task.depth ?? 0,
      own: { tokens: task.own.inputTokens + task.own.outputTokens, microUsd: task.own.microUsd },
      spans: isMerged ? merged(own, stepMs, moment.now.getTime()) : own,
      session: task.session ?? begunSession(moment, task),
      isObjection: task.isObjection,
      caption: task.isObjection === true ? 'sent back' : task.state === 'failed' ? wordsOf(task.code) : undefined,
    });
  });
  return { rows: withBidGroups(rows, listed), isMerged, listed };
}

/** In the first turn the conversation already has a file, but the task does not name it yet. */
function begunSession({ feed }: Moment, { id, agent, state }: ListedTask): string | undefined {
  if (state !== 'active' || agent === undefined) return undefined;
  const session = sessionId({ id }, { name: agent });
  return fs.existsSync(path.join(feed.root, sessionFile(session))) ? session : undefined;
}

function wordsOf(code = 'failed'): string {
  return code.replaceAll('_', ' ');
}

/** Work that is repeated after a check gets a number, because its request is only the objection. */
function attemptsIn(listed: readonly ListedTask[]): Map<string, string> {
  const own = new Map<string, string[]>();
  for (const { id, role, parent = '' } of listed)
    if (roleFacts(role).isOwnWork) own.set(parent, [...(own.get(parent) ?? []), id]);
  const repeated = [...own.values()].filter(({ length }) => length > 1);
  return new Map(repeated.flatMap((ids) => ids.map((id, i) => [id, `Attempt ${i + 1}`] as const)));
}

/** In the order in which work on them began, so that the bars of a waterfall go downwards. */
function byLatestStart(spans: ReadonlyMap<string, Span[]>): (a: ListedTask, b: ListedTask) => number {
  const start = ({ id, createdAt }: ListedTask): string => spans.get(id)?.[0]?.start ?? createdAt;
  return (a, b) => compareText(start(b), start(a)) || compareText(b.id, a.id);
}

/** The bids on one task are below a row that sums them up. */
function withBidGroups(rows: readonly TreeRow[], listed: readonly ListedTask[]): TreeRow[] {
  const out: TreeRow[] = [];
  for (let i = 0; i < rows.length;) {
    const first = rows[i]!;
    let end = i;
    while (isBid(rows[end]) && rows[end]!.parent === first.parent) end++;
    if (end - i < 2) {
      out.push(first);
      i++;
      continue;
    }
    const bids = rows.slice(i, end);
    const winner = listed.find(({ id }) => id === first.parent)?.agent;
    out.push(groupOf(bids, listed.slice(i, end), winner), ...bids.map((row) => ({ ...row, depth: row.depth + 1 })));
    i = end;
  }
  return out;
}

function isBid(row: TreeRow | undefined): boolean {
  return row !== undefined && roleFacts(row.role).isBid;
}

function groupOf(rows: readonly TreeRow[], listed: readonly ListedTask[], winner: string | undefined): TreeRow {
  const offers = listed
    .flatMap(({ agent, bid }) => (bid?.proceed === true && bid.able ? [{ agent, fitness: bid.fitness }] : []))
    .sort((a, b) => b.fitness - a.fitness);
  const declined = listed.filter(({ bid }) => bid !== undefined && !(bid.proceed && bid.able)).length;
  const said = [
    offers.map(({ agent, fitness }) => `${agent} ${fitness}`).join(', '),
    declined === 0 ? '' : `${declined} declined`,
  ].filter((part) => part !== '');
  const isOpen = rows.some(({ endedAt }) => endedAt === undefined);
  const { id, role, parent, depth, createdAt } = rows[0]!;
  const sum = (of: (row: TreeRow) => number): number => rows.reduce((total, row) => total + of(row), 0);
  return defined({
    id: `${id} and others`,
    short: '',
    title: `${rows.length} bids${said.length === 0 ? '' : `: ${said.join('; ')}`}`,
    role,
    state: isOpen ? 'active' : 'completed',
    parent,
    depth,
    createdAt,
    endedAt: isOpen ? undefined : rows.map(({ endedAt }) => endedAt!).reduce((a, b) => (a > b ? a : b)),
    tokens: sum(({ tokens }) => tokens),
    microUsd: sum(({ microUsd }) => microUsd),
    own: { tokens: 0, microUsd: 0 },
    // Its cost is the sum of the rows below it, so its bars have none.
    spans: rows.flatMap(({ spans }) =>
      spans.map(({ kind, start, end, label }) => defined({ kind, start, end, label })),
    ),
    isGroup: true,
    caption: isOpen || winner === undefined ? undefined : `${winner} wins`,
  });
}

/** The spans between two times, as finely as a screen can show that part. */
export async function spansBetween(moment: Moment, id: string, fromMs: number, toMs: number): Promise<TaskSpans> {
  const listed = below(await moment.tasks(''), id);
  const now = moment.now.getTime();
  const spans: TaskSpans['spans'] = {};
  for (const [task, all] of spansIn(moment, listed)) {
    const inside = all.filter(({ start, end }) => Date.parse(start) <= toMs && endOf(end, now) >= fromMs);
    if (inside.length > 0) spans[task] = merged(inside, (toMs - fromMs) / STEPS, now);
  }
  return { spans };
}

function below(all: readonly ListedTask[], id: string): ListedTask[] {
  const children = new Map<string, ListedTask[]>();
  let top: ListedTask | undefined;
  for (const task of all) {
    if (task.id === id) top = task;
    const siblings = children.get(task.parent ?? '');
    if (siblings === undefined) children.set(task.parent ?? '', [task]);
    else siblings.push(task);
  }
  if (top === undefined) return [];
  // Parent links are user-editable and may form a cycle.
  const inside = new Set([top]);
  for (const task of inside) for (const child of children.get(task.id) ?? []) inside.add(child);
  return asTree([...inside].map((task) => (task === top ? withoutParent(task) : task)));
}

function withoutParent({ parent: _, ...task }: ListedTask): ListedTask {
  return task;
}

function spansIn({ log }: Moment, listed: readonly ListedTask[]): Map<string, Span[]> {
  const ids = new Set(listed.map(({ id }) => id));
  const people = new Set(listed.flatMap(({ id, agent }) => (agent === HUMAN ? [id] : [])));
  return spansByTask(
    log.events((_, of) => of !== undefined && ids.has(of)),
    (task) => people.has(task),
  );
}

function stretches(listed: readonly ListedTask[], spans: ReadonlyMap<string, Span[]>, now: number) {
  const times = listed.flatMap(({ createdAt, endedAt }) => [Date.parse(createdAt), endOf(endedAt, now)]);
  const first = times.reduce((a, b) => Math.min(a, b), now);
  const last = times.reduce((a, b) => Math.max(a, b), first);
  const busy = [...spans.values()].flatMap((each) =>
    each
      .filter(({ kind }) => kind !== 'wait' && kind !== 'you')
      .map(({ start, end }) => ({ from: Date.parse(start), to: endOf(end, now) })),
  );
  return stretchesOf(busy, first, last);
}

/** Neighbours of one kind that are nearer than one step become one span with a count. */
function merged(spans: readonly Span[], stepMs: number, now: number): Span[] {
  const out: Span[] = [];
  const last = new Map<string, Span>();
  for (const span of spans) {
    const before = last.get(span.kind);
    const isNear =
      before !== undefined &&
      Date.parse(span.start) - endOf(before.end, now) < stepMs &&
      endOf(span.end, now) - Date.parse(span.start) < stepMs;
    if (!isNear) {
      const own = { ...span };
      out.push(own);
      last.set(span.kind, own);
      continue;
    }
    before.n = (before.n ?? 1) + 1;
    before.tokens = (before.tokens ?? 0) + (span.tokens ?? 0);
    before.microUsd = (before.microUsd ?? 0) + (span.microUsd ?? 0);
    if (span.end === undefined) delete before.end;
    else if (before.end !== undefined && span.end > before.end) before.end = span.end;
    if (span.ok === false) before.ok = false;
  }
  return out;
}

function endOf(end: string | undefined, now: number): number {
  return end === undefined ? now : Date.parse(end);
}
