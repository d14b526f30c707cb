/**
 * One frame of `guild top`: agents, requests for the human, open tasks, cost and last events, as
 * many rows as fit.
 */
import type { EventsSeen } from '../../../app/readers/aggregates/open-index.js';
import type { Snapshot } from '../../../app/readers/open-states.js';
import type { AgentState } from '../../../domain/agent/agent-state.js';
import { callCost, type CallCost, type Event } from '../../../domain/event.js';
import { compareText } from '../../../domain/order.js';
import { HUMAN } from '../../../domain/task/task.js';
import { partialMoneyText } from '../../../domain/budget/usage.js';
import { summary } from '../../../views/summary.js';
import { localTime, zone } from '../../../views/local-time.js';
import { toText, whoText } from '../../../views/who.js';
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
  ledger.latest = log.events((name) => Object.hasOwn(SHOWN, name), KEPT);
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

export function topFrame(seen: Snapshot, ledger: Ledger, name: string, terminal: Terminal, height: number): string[] {
  const { width } = terminal;
  const fit = (line: string): string => fitted(line, width);
  const head = [
    `${terminal.bold('guild top')} ${name}`,
    counts(seen, terminal),
    terminal.dim(
      `${amount(ledger.tokens)} tokens · ${partialMoneyText(ledger.microUsd, ledger.unpriced)} · ${seen.open.length} open · ${seen.peers.length} ${seen.peers.length === 1 ? 'process' : 'processes'}`,
    ),
  ].map(fit);
  /** Titles and entries; an entry has one or more lines. */
  const sections: [string, string[][]][] = [
    ['agents', agentLines(seen, terminal)],
    ['for you', yours(seen, terminal)],
    ['open tasks', taskLines(seen, terminal)],
    [lastTitle(ledger), latest(ledger, terminal)],
  ];
  const there = sections.filter(([, entries]) => entries.length > 0);
  const rooms = share(
    there.map(([, entries]) => entries.flat().length),
    height - head.length - 2 * there.length,
  );
  return [
    ...head,
    ...there.flatMap(([title, entries], i) => {
      // Of the events the newest are shown, of the rest the first.
      const shown = title.startsWith('last')
        ? first(entries.toReversed(), rooms[i]!).reverse()
        : first(entries, rooms[i]!);
      const more = entries.length - shown.length;
      if (shown.length === 0) return [];
      return ['', terminal.dim(`${title}${more > 0 ? ` (${more} more)` : ''}`), ...shown.flat()];
    }),
  ];
}

/** The first entries that fit completely. */
function first(entries: readonly string[][], room: number): string[][] {
  let left = room;
  const over = entries.findIndex((lines) => (left -= lines.length) < 0);
  return entries.slice(0, over < 0 ? entries.length : over);
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

/** Busy agents first; idle and complete ones share a line. */
function agentLines({ agents }: Snapshot, terminal: Terminal): string[][] {
  const quiet = new Set<AgentState>(['idle', 'complete']);
  const busy = agents
    .filter(({ state }) => !quiet.has(state))
    .sort((a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state) || compareText(a.agent, b.agent));
  const rows = busy.map((entry) => [
    terminal.bold(entry.agent),
    stateMark(entry.state, terminal),
    entry.state === 'working'
      ? `${entry.tasks[0]}${entry.tasks.length > 1 ? ` +${entry.tasks.length - 1}` : ''} ${entry.why}`
      : entry.why,
  ]);
  const rest = [...quiet].flatMap((state) => {
    const names = agents.filter((entry) => entry.state === state).map(({ agent }) => agent);
    return names.length === 0 ? [] : [`${stateMark(state, terminal)}: ${names.join(', ')}`];
  });
  return [...tableRows(rows, terminal.width, [0, 1, 2]), ...rest.map((line) => wrapped(line, terminal.width))];
}

function yours({ forHuman }: Snapshot, terminal: Terminal): string[][] {
  const about = (text: string): string => oneLine(text, terminal.width - 2);
  const rows = forHuman.map(({ task }) => [terminal.colour('magenta', task.id), about(task.description)]);
  return tableRows(rows, terminal.width, [0]);
}

function taskLines({ open, takers }: Snapshot, terminal: Terminal): string[][] {
  const rank = ['active', 'waiting', 'pending'];
  const rows = open
    .filter(({ task }) => task.to !== HUMAN)
    .sort((a, b) => rank.indexOf(a.state) - rank.indexOf(b.state) || compareText(a.task.id, b.task.id))
    .map(({ task, state }) => {
      const who = toText(task.to ?? takers.get(task.id));
      return [mark(state, terminal), task.id, who, oneLine(summary(task), terminal.width - 2)];
    });
  return tableRows(rows, terminal.width, [0, 1, 2]);
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

function latest({ latest: events }: Ledger, terminal: Terminal): string[][] {
  return events.map((event) => {
    const tool = typeof event['tool'] === 'string' ? ` ${event['tool']}` : '';
    const line = `${terminal.dim(localTime(event.at))} ${SHOWN[event.name]} ${terminal.bold(nameOf(event))}${tool} ${event.task ?? ''}`;
    return wrapped(line, terminal.width);
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
