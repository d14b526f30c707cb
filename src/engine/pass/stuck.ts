/**
 * Detects work without progress that is not a deadlock, and reports it once. Starved: a ready task
 * is overtaken by later tasks that are not more urgent, or no task of its agent starts. No
 * progress: turns under a root change nothing. A long queue that moves is normal. Acting on a
 * report is left to people.
 */
import type { Event } from '../../domain/event.js';
import type { Task } from '../../domain/task/task.js';
import { record, type Ports } from '../core/context.js';

export interface Stuck {
  heard(event: Event): void;
  /** The task is ready, but there was no capacity. Only needed for the first task of each queue. */
  passedOver(task: Task, agent: string): void;
  started(task: string, agent: string): void;
  /** Records new findings, unless this or another process recorded them before. */
  report(): Promise<void>;
  remembered(): number;
}

const STARVED_MS = 10 * 60_000;
const STARVED_STARTS = 5;
/** Turns in a row under one root that change nothing. */
export const IDLE_TURNS = 40;
/** Ended tasks are forgotten above this size, and then each time the size has doubled. */
const MIN_SWEEP_SIZE = 100;

interface Finding {
  task: string;
  kind: 'starved' | 'no_progress';
  why: string;
}

type Waiting = Pick<Task, 'id' | 'priority' | 'created_at'> & {
  sinceMs: number;
  overtaken: number;
  isReported: boolean;
};

export function stuck(context: Ports, rootOf: (task: string) => string): Stuck {
  const waiting = new Map<string, Waiting>();
  /** The first waiting task by agent and priority. Tasks behind it only wait in a queue. */
  const firsts = new Map<string, string>();
  const lastStart = new Map<string, number>();
  const turns = new Map<string, number>();
  let sweepSize = MIN_SWEEP_SIZE;
  let findings: Finding[] = [];

  return {
    heard(event) {
      if (event.task === undefined) return;
      if (event.name === 'task.failed' || event.name === 'task.completed') waiting.delete(event.task);
      const root = rootOf(event.task);
      if (event.name === 'model.answered') {
        const count = (turns.get(root) ?? 0) + 1;
        turns.set(root, count);
        forgetEnded();
        const why = `${count} turns under it changed nothing`;
        if (count === IDLE_TURNS) findings.push({ task: root, kind: 'no_progress', why });
      } else if (isChange(context, event)) turns.delete(root);
    },
    passedOver({ id, priority, created_at }, agent) {
      const now = context.clock.monotonicMs();
      const task = waiting.get(id) ?? { id, priority, created_at, sinceMs: now, overtaken: 0, isReported: false };
      waiting.set(id, task);
      forgetEnded();
      const first = firstOf(agent, priority);
      if (first === undefined || task.created_at < first.created_at) firsts.set(`${agent} ${priority}`, id);
      if (task.isReported || now - task.sinceMs < STARVED_MS || firstOf(agent, priority) !== task) return;
      const why = whyStarved(task, agent, now);
      if (why === undefined) return;
      task.isReported = true;
      findings.push({
        task: id,
        kind: 'starved',
        why: `it has been ready for ${minutes(now - task.sinceMs)}, and ${why}`,
      });
    },
    started(id, agent) {
      const firstTasks = PRIORITIES.flatMap((priority) => firstOf(agent, priority) ?? []);
      const task = firstTasks.length === 0 ? undefined : (waiting.get(id) ?? context.tasks.getOpen(id)?.task);
      if (task !== undefined)
        for (const first of firstTasks)
          if (task.created_at > first.created_at && task.priority >= first.priority) first.overtaken++;
      waiting.delete(id);
      lastStart.set(agent, context.clock.monotonicMs());
    },
    report,
    remembered: () => waiting.size + turns.size,
  };

  function firstOf(agent: string, priority: Task['priority']): Waiting | undefined {
    return waiting.get(firsts.get(`${agent} ${priority}`) ?? '');
  }

  function whyStarved(task: Waiting, agent: string, now: number): string | undefined {
    const whose = agent === 'nobody' ? 'that fit other agents' : `of ${agent}`;
    if (task.overtaken >= STARVED_STARTS)
      return `${task.overtaken} tasks ${whose} started before it, although they are newer and not more urgent`;
    const isFirst = PRIORITIES.every((urgent) => urgent >= task.priority || firstOf(agent, urgent) === undefined);
    const idleMs = now - Math.max(task.sinceMs, lastStart.get(agent) ?? -Infinity);
    if (!isFirst || idleMs < STARVED_MS) return undefined;
    return agent === 'nobody'
      ? `no agent that fits was free for ${minutes(idleMs)}`
      : `no task of ${agent} started for ${minutes(idleMs)}`;
  }

  /** Tasks that other processes end cause no event here. */
  function forgetEnded(): void {
    if (waiting.size + turns.size <= sweepSize) return;
    for (const map of [waiting, turns]) for (const id of map.keys()) if (!context.tasks.isOpen(id)) map.delete(id);
    for (const [key, id] of firsts) if (!waiting.has(id)) firsts.delete(key);
    sweepSize = Math.max(MIN_SWEEP_SIZE, 2 * (waiting.size + turns.size));
  }

  /** Another process, or this one before a restart, may have reported it. */
  async function report(): Promise<void> {
    const batch = findings;
    findings = [];
    for (const { task, kind, why } of batch) {
      const events = await context.events.list({ task });
      const isRecorded = events.some((event) => event.name === 'work.stuck' && event['kind'] === kind);
      if (!isRecorded) record(context, 'work.stuck', { task, kind, why });
    }
  }
}

const PRIORITIES = ['A', 'B', 'C', 'D'] as const;

function minutes(ms: number): string {
  return `${Math.round(ms / 60_000)} minutes`;
}

const CHANGES = new Set<Event['name']>(['task.created', 'task.completed', 'task.failed', 'approval.answered']);

function isChange({ tools }: Ports, event: Event): boolean {
  if (CHANGES.has(event.name)) return true;
  return event.name === 'tool.ran' && event['ok'] === true && tools.get(String(event['tool']))?.kind === 'effect';
}
