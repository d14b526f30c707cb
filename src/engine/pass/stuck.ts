/**
 * Work that does not come on although nobody waits in a circle. Starved: a task could begin, and others that came later and are no more urgent begin
 * again and again before it, or nothing of its agent begins at all. A long queue that moves is a queue, and more urgent work goes first: neither
 * is told. Without progress: turn after turn is taken under a root, and nothing changes, no task made or ended and no effect. All are told
 * once, and nothing is done about them: a person, or the coordinator, knows better.
 */
import type { Event } from '../../domain/event.js';
import type { Task } from '../../domain/task/task.js';
import { record, type Ports } from '../core/context.js';

export interface Stuck {
  heard(event: Event): void;
  /** It could begin, and there was no room. Of those who wait in a line, the first is enough: its time begins when it is that. */
  passedOver(task: Task, agent: string): void;
  began(task: string, agent: string): void;
  /** Records what was found since the last call, unless history has it already: it is reported once, by whatever process. */
  tell(): Promise<void>;
  /** How many tasks it knows something of. */
  remembered(): number;
}

const STARVED_MS = 10 * 60_000;
const STARVED_STARTS = 5;
/** Turns of a whole root in a row that changed nothing. */
export const IDLE_TURNS = 40;
/** What others ended is forgotten now and then: whenever there is twice as much as was left the last time, and more than this. */
const MOST_REMEMBERED = 100;

interface Found {
  task: string;
  kind: 'starved' | 'no_progress';
  why: string;
}

type InLine = Pick<Task, 'id' | 'priority' | 'created_at'>;
type Passed = InLine & { sinceMs: number; overtaken: number; told: boolean };

export function stuck(context: Ports, rootOf: (task: string) => string): Stuck {
  const passed = new Map<string, Passed>();
  /** The first in line of each agent and priority. Those behind it are not looked at: it is they whom a queue keeps. */
  const firsts = new Map<string, string>();
  const lastStart = new Map<string, number>();
  const turns = new Map<string, number>();
  let most = MOST_REMEMBERED;
  let untold: Found[] = [];

  return {
    heard(event) {
      if (event.task === undefined) return;
      if (event.name === 'task.failed' || event.name === 'task.completed') passed.delete(event.task);
      const root = rootOf(event.task);
      if (event.name === 'model.answered') {
        const count = (turns.get(root) ?? 0) + 1;
        turns.set(root, count);
        forgetEnded();
        const why = `${count} turns were taken under it, and nothing changed`;
        if (count === IDLE_TURNS) untold.push({ task: root, kind: 'no_progress', why });
      } else if (isChange(context, event)) turns.delete(root);
    },
    passedOver({ id, priority, created_at }, agent) {
      const now = context.clock.monotonicMs();
      const one = passed.get(id) ?? { id, priority, created_at, sinceMs: now, overtaken: 0, told: false };
      passed.set(id, one);
      forgetEnded();
      const first = firstOf(agent, priority);
      if (first === undefined || one.created_at < first.created_at) firsts.set(`${agent} ${priority}`, id);
      if (one.told || now - one.sinceMs < STARVED_MS || firstOf(agent, priority) !== one) return;
      const why = whyStarved(one, agent, now);
      if (why === undefined) return;
      one.told = true;
      untold.push({ task: id, kind: 'starved', why: `it could begin for ${minutes(now - one.sinceMs)}, and ${why}` });
    },
    began(task, agent) {
      const waiting = PRIORITIES.flatMap((priority) => firstOf(agent, priority) ?? []);
      const started = waiting.length === 0 ? undefined : (passed.get(task) ?? context.tasks.getOpen(task)?.task);
      if (started !== undefined)
        for (const one of waiting)
          if (started.created_at > one.created_at && started.priority >= one.priority) one.overtaken++;
      passed.delete(task);
      lastStart.set(agent, context.clock.monotonicMs());
    },
    tell,
    remembered: () => passed.size + turns.size,
  };

  function firstOf(agent: string, priority: Task['priority']): Passed | undefined {
    return passed.get(firsts.get(`${agent} ${priority}`) ?? '');
  }

  function whyStarved(one: Passed, agent: string, now: number): string | undefined {
    const whose = agent === 'nobody' ? 'that fit other agents' : `of ${agent}`;
    if (one.overtaken >= STARVED_STARTS)
      return `${one.overtaken} tasks ${whose} that came later and are no more urgent began before it`;
    const isFirst = PRIORITIES.every((urgent) => urgent >= one.priority || firstOf(agent, urgent) === undefined);
    const idleMs = now - Math.max(one.sinceMs, lastStart.get(agent) ?? -Infinity);
    if (!isFirst || idleMs < STARVED_MS) return undefined;
    return agent === 'nobody'
      ? `nobody who could do it was free for ${minutes(idleMs)}`
      : `nothing of ${agent} began for ${minutes(idleMs)}`;
  }

  /** Of what other processes end, nothing is heard here. */
  function forgetEnded(): void {
    if (passed.size + turns.size <= most) return;
    for (const known of [passed, turns]) for (const id of known.keys()) if (!context.tasks.isOpen(id)) known.delete(id);
    for (const [line, id] of firsts) if (!passed.has(id)) firsts.delete(line);
    most = Math.max(MOST_REMEMBERED, 2 * (passed.size + turns.size));
  }

  /** Another process, or this one before it was started again, may have reported it. */
  async function tell(): Promise<void> {
    const found = untold;
    untold = [];
    for (const { task, kind, why } of found) {
      const events = await context.events.list({ task });
      const isTold = events.some((event) => event.name === 'work.stuck' && event['kind'] === kind);
      if (!isTold) record(context, 'work.stuck', { task, kind, why });
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
