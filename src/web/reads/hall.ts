/** The first page: what waits for the person, who works on what, what it costs, the last hour. */
import type { OwnRequests } from '../../app/approvals.js';
import { isRequest } from '../../views/own-words.js';
import type { Snapshot } from '../../app/readers/open-states.js';
import type { AgentState } from '../../domain/agent/agent-state.js';
import { defined } from '../../domain/defined.js';
import { compareText } from '../../domain/order.js';
import { ENGINE, HUMAN, type Placed } from '../../domain/task/task.js';
import { summary } from '../../views/summary.js';
import type { AgentNow, Hall, Lane, Spend } from '../base/contract.js';
import type { Log } from '../base/log.js';
import { dayBudget } from './budgets.js';
import { requestReader } from './requests.js';
import { titleOf } from '../base/title.js';
import { claimant, rowOf, titled } from './rows.js';
import { spansByTask } from './spans.js';

const HOUR_MS = 3_600_000;
const LANES_MAX = 12;
const ENDED_SHOWN = 6;
const REQUESTS_SHOWN = 5;
const PROBLEMS_SHOWN = 5;
const ORDER: AgentState[] = ['error', 'working', 'blocked', 'paused', 'waiting', 'complete', 'idle'];

/** `cycles`: how many groups of tasks wait for each other now; the program breaks them. */
export function hallOf(
  seen: Snapshot,
  log: Log,
  ended: readonly Placed[],
  own: OwnRequests,
  cycles: number,
  now: Date,
): Hall {
  const { open, forHuman, agents } = seen;
  const shown = agents.filter(({ state }) => state !== 'idle' && state !== 'complete');
  const requests = [...forHuman].sort((a, b) => compareText(a.task.created_at, b.task.created_at));
  const spent = spendByAgent(log, startOfDay(now));
  const byId = new Map<string, Placed>(open.map((placed) => [placed.task.id, placed]));
  const titleIn = (id: string): string | undefined => {
    const task = byId.get(id)?.task;
    if (task === undefined) return undefined;
    return isRequest(task) && own(task) === undefined ? 'not made on this machine' : titleOf(summary(task));
  };
  return {
    waiting: defined({
      count: requests.length,
      oldestAt: requests[0] === undefined ? undefined : requests[0].task.created_at,
      blocks: new Set(
        open.flatMap(({ task }) => (task.waits?.tasks?.some((id) => isWaitedRequest(byId, id)) ? task.id : [])),
      ).size,
      first: requests.slice(0, REQUESTS_SHOWN).map(requestReader(open, own)),
    }),
    agents: shown
      .map((agent): AgentNow => {
        const task = byId.get(agent.tasks[0] ?? '')?.task;
        const since = task?.claimed_at;
        return defined({
          name: agent.agent,
          state: agent.state,
          why: titled(agent.why, titleIn),
          task: task === undefined ? undefined : { id: task.id, title: titleOf(summary(task)) },
          since,
          tokens: spent.get(agent.agent)?.tokens ?? 0,
          microUsd: spent.get(agent.agent)?.microUsd ?? 0,
        });
      })
      .sort((a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state) || compareText(a.name, b.name)),
    idle: agents.length - shown.length,
    open: countStates(open),
    pending: pendingBy(seen),
    deadlocks: deadlocksOf(log, cycles),
    spend: { ...spendToday(seen, log, now), ...hoursOf(log, now) },
    ended: ended
      .filter(({ task }) => task.parent === undefined)
      .slice(0, ENDED_SHOWN)
      .map(rowOf),
    ...lanesOf(log, now, byId),
    problems: [...seen.problems, ...seen.brokenAgents].slice(0, PROBLEMS_SHOWN),
  };
}

export function countStates(open: Snapshot['open']): Hall['open'] {
  const counts = { pending: 0, active: 0, waiting: 0 };
  for (const { state, task } of open) if (task.to !== HUMAN) counts[state]++;
  return counts;
}

function deadlocksOf(log: Log, cycles: number): Hall['deadlocks'] {
  const broken = log.events((name) => name === 'deadlock.broken');
  return defined({ now: cycles, resolved: broken.length, last: broken.at(-1)?.at });
}

/** Today's spending, in the zone of this machine, and the limits of what is open. */
export function spendToday(seen: Snapshot, log: Log, now: Date): Spend {
  const spend = spendOf(log, startOfDay(now));
  return defined({ ...spend, budget: dayBudget(seen, spend.microUsd) });
}

function spendOf(log: Log, sinceIso: string): Spend {
  const spend: Spend = { microUsd: 0, tokens: 0, unpricedCalls: 0 };
  for (const call of log.calls(sinceIso)) {
    spend.microUsd += call.microUsd;
    spend.tokens += call.inputTokens + call.outputTokens;
    if (call.isUnpriced) spend.unpricedCalls++;
  }
  return spend;
}

function startOfDay(now: Date): string {
  return new Date(now.getFullYear(), now.getMonth(), now.getDate()).toISOString();
}

function isWaitedRequest(open: ReadonlyMap<string, Placed>, id: string): boolean {
  return open.get(id)?.task.to === HUMAN;
}

function pendingBy({ open, takers }: Snapshot): Hall['pending'] {
  const groups = new Map<string | undefined, { count: number; oldestAt: string }>();
  for (const { task, state } of open) {
    if (state !== 'pending' || task.to === HUMAN || task.to === ENGINE) continue;
    const agent = task.to ?? takers.get(task.id);
    const group = groups.get(agent) ?? { count: 0, oldestAt: task.created_at };
    group.count++;
    if (task.created_at < group.oldestAt) group.oldestAt = task.created_at;
    groups.set(agent, group);
  }
  return [...groups].map(([agent, group]) => defined({ agent, ...group })).sort((a, b) => b.count - a.count);
}

function spendByAgent(log: Log, sinceIso: string): Map<string, Spend> {
  const spent = new Map<string, Spend>();
  for (const call of log.calls(sinceIso)) {
    const sum = spent.get(call.agent ?? '') ?? { microUsd: 0, tokens: 0, unpricedCalls: 0 };
    sum.microUsd += call.microUsd;
    sum.tokens += call.inputTokens + call.outputTokens;
    spent.set(call.agent ?? '', sum);
  }
  return spent;
}

const HOURS_SHOWN = 12;

/** Spending of today's last hours, at most twelve, oldest first. */
function hoursOf(log: Log, now: Date): { hours: number[]; since: string } {
  const end = new Date(now);
  end.setMinutes(60, 0, 0);
  const since = Math.max(end.getTime() - HOURS_SHOWN * HOUR_MS, Date.parse(startOfDay(now)));
  const hours = Array.from({ length: Math.ceil((end.getTime() - since) / HOUR_MS) }, () => 0);
  for (const call of log.calls(new Date(since).toISOString())) {
    const hour = Math.floor((Date.parse(call.at) - since) / HOUR_MS);
    if (hours[hour] !== undefined) hours[hour] += call.microUsd;
  }
  return { hours, since: new Date(since).toISOString() };
}

/** The last hour, or less if nothing happened in its first part. */
function lanesOf(log: Log, now: Date, open: ReadonlyMap<string, Placed>): Pick<Hall, 'lanes' | 'lanesFrom'> {
  const since = (ms: number): string => new Date(now.getTime() - ms).toISOString();
  const events = log.events((name) => LANE_EVENTS.has(name), { since: since(HOUR_MS) });
  const agentOf = new Map(events.flatMap(({ task, agent }) => (task && agent ? [[task, agent] as const] : [])));
  const isForPerson = (task: string): boolean => agentOf.get(task) === HUMAN || isWaitedRequest(open, task);
  const lanes = new Map<string, Lane>();
  for (const [task, spans] of spansByTask(events, isForPerson)) {
    const agent = claimant(agentOf.get(task));
    if (agent === undefined || agent === HUMAN) continue;
    const lane = lanes.get(agent) ?? { agent, spans: [] };
    lane.spans.push(...spans);
    lanes.set(agent, lane);
  }
  const shown = [...lanes.values()].sort((a, b) => b.spans.length - a.spans.length).slice(0, LANES_MAX);
  const first = events[0]?.at ?? since(0);
  const longMs = LANE_TIMES_MS.find((ms) => events.length > 0 && first >= since(ms)) ?? HOUR_MS;
  return { lanes: shown, lanesFrom: since(longMs) };
}

const LANE_TIMES_MS = [5 * 60_000, 15 * 60_000, HOUR_MS];

const LANE_EVENTS: ReadonlySet<string> = new Set([
  'task.created',
  'task.claimed',
  'task.parked',
  'task.completed',
  'task.failed',
  'task.released',
  'model.answered',
  'tool.ran',
]);
