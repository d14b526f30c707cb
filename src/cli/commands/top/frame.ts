/**
 * One frame of `guild top`: what each agent is doing, requests for the human, open tasks, cost and
 * last events, as many rows as fit. Requests and tasks can be selected.
 */
import type { OwnRequests } from '../../../app/approvals.js';
import { isRequest } from '../../../views/own-words.js';
import type { EventsSeen } from '../../../app/readers/aggregates/open-index.js';
import type { Snapshot } from '../../../app/readers/open-states.js';
import type { AgentState } from '../../../domain/agent/agent-state.js';
import type { LiveTurn } from '../../../domain/live-turn.js';
import { callCost, type CallCost, type Event } from '../../../domain/event.js';
import { compareNatural, compareText } from '../../../domain/order.js';
import { HUMAN } from '../../../domain/task/task.js';
import { partialMoneyText } from '../../../domain/budget/usage.js';
import { lastPart } from '../../../views/short-id.js';
import { summary } from '../../../views/summary.js';
import { localTime, zone } from '../../../views/local-time.js';
import { toText, whoText } from '../../../views/who.js';
import { elapsedText, spentText } from '../../render/activity.js';
import { mark } from '../task/list.js';
import { stateMark } from '../state.js';
import { fitted, tableRows, oneLine, wrapped } from '../../render/layout.js';
import type { Terminal } from '../../render/terminal.js';

/** The cost so far, and the newest events. */
interface Ledger {
  tokens: number;
  microUsd: number;
  calls: number;
  /** Calls whose cost is not known. */
  unpriced: number;
  latest: Event[];
}

const KEPT = 100;

/** States that need attention come first. */
const ORDER: AgentState[] = ['error', 'working', 'blocked', 'paused', 'waiting', 'complete', 'idle'];

export function ledgerOf(log: EventsSeen): Ledger {
  const ledger: Ledger = { tokens: 0, microUsd: 0, calls: 0, unpriced: 0, latest: [] };
  for (const call of log.calls()) if (call.kind === 'model') addCall(ledger, call);
  ledger.latest = log.events((name) => Object.hasOwn(SHOWN, name), { limit: KEPT });
  return ledger;
}

export function addEvents(ledger: Ledger, events: readonly Event[]): void {
  for (const event of events) {
    if (event.name === 'model.answered') addCall(ledger, callCost(event));
    if (SHOWN[event.name] !== undefined) ledger.latest.push(event);
  }
  ledger.latest = ledger.latest.slice(-KEPT);
}

function addCall(ledger: Ledger, { inputTokens, outputTokens, microUsd, isUnpriced }: CallCost): void {
  ledger.tokens += inputTokens + outputTokens;
  ledger.microUsd += microUsd;
  ledger.calls++;
  if (isUnpriced) ledger.unpriced++;
}

export interface Frame {
  seen: Snapshot;
  /** The request in a task, if it may be drawn. */
  own: OwnRequests;
  ledger: Ledger;
  /** The titles of the tasks of the last events, by id; empty if unknown. */
  titles: ReadonlyMap<string, string>;
  /** The turns that run right now, in any process. */
  turns: readonly LiveTurn[];
  /** The time at which an agent entered the state `error`. */
  errorAt(agent: string): string | undefined;
  name: string;
  height: number;
  /** The selected request or task. */
  selected?: string | undefined;
  /** Ids are printed in full and no line is cut, because people copy from a single frame. */
  isWhole: boolean;
}

/** The lines of one thing; with an id it can be selected. */
interface Entry {
  id?: string;
  lines: string[];
}

export function topFrame(frame: Frame, terminal: Terminal): string[] {
  const { seen, ledger, name, height, selected } = frame;
  const head = [
    `${terminal.bold('guild top')} ${name}`,
    counts(seen, terminal),
    terminal.dim(
      `${amount(ledger.tokens)} tokens · ${partialMoneyText(ledger.microUsd, ledger.unpriced)} · ${seen.open.length} open · ${seen.peers.length} ${seen.peers.length === 1 ? 'process' : 'processes'}`,
    ),
  ].map((line) => fitted(line, terminal.width));
  const sections: [string, Entry[]][] = [
    ['agents', agentEntries(frame, terminal)],
    ['for you', yours(frame, terminal)],
    ['open tasks', taskEntries(frame, terminal)],
    [lastTitle(ledger), latest(frame, terminal)],
  ];
  const there = sections.filter(([, entries]) => entries.length > 0);
  const rooms = share(
    there.map(([, entries]) => entries.flatMap(({ lines }) => lines).length),
    height - head.length - 2 * there.length,
  );
  return [
    ...head,
    ...there.flatMap(([title, entries], i) => {
      // Of the events the newest are shown, of other lists those around the selected entry.
      const shown = title.startsWith('last')
        ? around(entries.toReversed(), rooms[i]!, 0).reverse()
        : around(
            entries,
            rooms[i]!,
            entries.findIndex(({ id }) => id !== undefined && id === selected),
          );
      const more = entries.length - shown.length;
      if (shown.length === 0) return [];
      const rows = shown.flatMap((entry) => marked(entry, selected, terminal));
      return ['', terminal.dim(`${title}${more > 0 ? ` (${more} more)` : ''}`), ...rows];
    }),
  ];
}

/** The ids that can be selected, in the order of the screen. */
export function selectable({ forHuman, open }: Snapshot): string[] {
  return [...forHuman.map(({ task }) => task.id), ...orderedTasks(open).map(({ task }) => task.id)];
}

function marked({ id, lines }: Entry, selected: string | undefined, terminal: Terminal): string[] {
  if (id === undefined || id !== selected) return lines;
  return lines.map((line, i) => (i === 0 ? terminal.bold(`>${line.slice(1)}`) : line));
}

/** As many whole entries as fit, with this one among them. */
function around(entries: readonly Entry[], room: number, index: number): Entry[] {
  const fits = (from: number): Entry[] => {
    let left = room;
    const over = entries.slice(from).findIndex(({ lines }) => (left -= lines.length) < 0);
    return entries.slice(from, over < 0 ? entries.length : from + over);
  };
  const starts = entries.slice(0, Math.max(0, index) + 1).keys();
  return fits([...starts].find((from) => from + fits(from).length > index) ?? 0);
}

/** Rows for each section: as many as it needs, or an equal share. */
function share(wanted: readonly number[], room: number): number[] {
  if (room === Infinity) return [...wanted];
  const granted = wanted.map(() => 0);
  let left = Math.max(0, room);
  while (left > 0 && granted.some((count, i) => count < wanted[i]!)) {
    for (const [i, want] of wanted.entries()) {
      if (left === 0 || granted[i]! >= want) continue;
      granted[i]!++;
      left--;
    }
  }
  return granted;
}

function counts({ agents }: Snapshot, terminal: Terminal): string {
  const by = new Map<AgentState, number>();
  for (const { state } of agents) by.set(state, (by.get(state) ?? 0) + 1);
  return (
    ORDER.filter((state) => by.has(state))
      .map((state) => `${by.get(state)} ${stateMark(state, terminal)}`)
      .join(' · ') || 'no agents'
  );
}

/** An error is news for this long; after that, all old errors share one line. */
const FRESH_MS = 10 * 60_000;

/** Working agents come first, then those that need attention; the rest shares a few lines. */
function agentEntries({ seen: { agents, open }, turns, errorAt, isWhole }: Frame, terminal: Terminal): Entry[] {
  const isOld = (agent: string): boolean => Date.now() - Date.parse(errorAt(agent) ?? '') > FRESH_MS;
  const quiet = new Set<AgentState>(['idle', 'complete']);
  const busy = agents
    .filter(({ agent, state }) => !quiet.has(state) && !(state === 'error' && isOld(agent)))
    .sort((a, b) => ROWS.indexOf(a.state) - ROWS.indexOf(b.state) || compareText(a.agent, b.agent));
  const titleOf = (id: string): string => {
    const task = open.find((placed) => placed.task.id === id)?.task;
    return task === undefined ? id : oneLine(summary(task), 60);
  };
  const rows = busy.map((entry) => {
    const turn = turns.find(({ agent, task }) => agent === entry.agent && entry.tasks.includes(task));
    const many = entry.tasks.length > 1 ? ` +${entry.tasks.length - 1}` : '';
    const first = isWhole ? entry.tasks[0] : titleOf(entry.tasks[0] ?? '');
    const why = isWhole ? entry.why : entry.why.replace(/[\w.-]+/g, titleOf);
    const what = entry.state === 'working' ? `${first}${many} ${liveText(turn)}` : why;
    return [terminal.bold(entry.agent), stateMark(entry.state, terminal), what];
  });
  const old = agents.flatMap(({ agent, state }) => (state === 'error' && isOld(agent) ? [agent] : []));
  const ago = (agent: string): string => `${agent} (${elapsedText(Date.now() - Date.parse(errorAt(agent)!))} ago)`;
  const rest = [
    ...(old.length > 0 ? [`${stateMark('error', terminal)}, earlier: ${old.map(ago).join(', ')}`] : []),
    ...[...quiet].flatMap((state) => {
      const names = agents.filter((entry) => entry.state === state).map(({ agent }) => agent);
      return names.length === 0 ? [] : [`${stateMark(state, terminal)}: ${names.join(', ')}`];
    }),
  ];
  return [
    ...tableRows(rows, terminal.width, isWhole ? [0, 1, 2] : [0, 1]).map((lines) => ({ lines })),
    ...rest.map((line) => ({ lines: [fitted(line, terminal.width)] })),
  ];
}

/** The order of the rows: errors must not hide working agents. */
const ROWS: AgentState[] = ['working', 'error', 'blocked', 'paused', 'waiting'];

/** `· read_file notes.md · 12 s · 1.2k tokens`. */
function liveText(turn: LiveTurn | undefined): string {
  if (turn === undefined) return '';
  const { tool, words, result } = turn;
  const doing =
    tool !== undefined
      ? `${tool.name} ${tool.line ?? tool.argument}`.trim()
      : words.trim() !== ''
        ? `“${words.replace(/\s+/g, ' ').trim().slice(-60)}`
        : result === undefined
          ? 'thinking'
          : `thinking · ${result.line}`;
  return `· ${spentText({ ...turn, sinceMs: Date.parse(turn.since) })} · ${doing}`;
}

function yours({ seen: { forHuman }, own, isWhole }: Frame, terminal: Terminal): Entry[] {
  const rows = forHuman.map(({ task }) => [
    `  ${terminal.colour('magenta', isWhole ? task.id : whoText(task.from ?? '?'))}`,
    isRequest(task) && own(task) === undefined
      ? 'a request that was not made on this machine; guild pump asks again'
      : oneLine(task.description, terminal.width - 2),
  ]);
  return tableRows(rows, terminal.width, [0]).map((lines, i) => ({ lines, id: forHuman[i]!.task.id }));
}

function orderedTasks(open: Snapshot['open']): Snapshot['open'] {
  const rank = ['active', 'waiting', 'pending'];
  return open
    .filter(({ task }) => task.to !== HUMAN)
    .sort((a, b) => rank.indexOf(a.state) - rank.indexOf(b.state) || compareNatural(a.task.id, b.task.id));
}

function taskEntries({ seen: { open, takers }, isWhole }: Frame, terminal: Terminal): Entry[] {
  const tasks = orderedTasks(open);
  const rows = tasks.map(({ task, state }) => {
    const who = toText(task.to ?? takers.get(task.id));
    const id = isWhole ? task.id : lastPart(task.id);
    return [`  ${mark(state, terminal)}`, id, who, oneLine(summary(task), terminal.width - 2)];
  });
  return tableRows(rows, terminal.width, [0, 1, 2]).map((lines, i) => ({ lines, id: tasks[i]!.task.id }));
}

const SHOWN: Partial<Record<Event['name'], string>> = {
  'task.created': '+',
  'task.claimed': '●',
  'task.parked': '…',
  'task.completed': '✓',
  'task.failed': '✗',
  'task.recovered': '↺',
  'tool.ran': '·',
  'model.failed': '!',
  'approval.answered': '☑',
  'deadlock.broken': '⨯',
  'help.requested': '?',
  'agent.moved': '≠',
  'agent.created': '+',
};

/** The zone is shown once, for all times below. */
function lastTitle({ latest: events }: Ledger): string {
  const newest = events.at(-1);
  return newest === undefined ? 'last' : `last (local time, UTC${zone(newest.at)})`;
}

function latest({ ledger, titles, isWhole }: Frame, terminal: Terminal): Entry[] {
  return ledger.latest.map((event) => {
    const tool = typeof event['tool'] === 'string' ? ` ${event['tool']} ·` : '';
    const id = event.task ?? '';
    const about = isWhole ? id : oneLine(titles.get(id) || lastPart(id), terminal.width);
    const line = `${terminal.dim(localTime(event.at))} ${SHOWN[event.name]} ${terminal.bold(nameOf(event))}${tool} ${about}`;
    return { lines: isWhole ? wrapped(line, terminal.width) : [fitted(line, terminal.width)] };
  });
}

/** `?`: the task has no agent yet, as `@?` among the open tasks. */
function nameOf({ agent }: Event): string {
  return agent === undefined || agent === 'nobody' ? '?' : whoText(agent);
}

function amount(count: number): string {
  if (count < 10_000) return String(count);
  return count < 10_000_000 ? `${Math.round(count / 1000)}k` : `${Math.round(count / 1_000_000)}M`;
}
