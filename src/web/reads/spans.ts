/** The timeline of tasks, from their events: model calls, tools, checks, bids and waits. */
import { defined } from '../../domain/defined.js';
import { callCost, type Event } from '../../domain/event.js';
import { roleFacts } from '../../domain/task/role.js';
import type { Waits } from '../../domain/task/task.js';
import type { Span, SpanKind } from '../base/contract.js';

/** Spans by task, oldest first. `isForPerson`: the task waits for a person's answer. */
export function spansByTask(events: readonly Event[], isForPerson: (task: string) => boolean): Map<string, Span[]> {
  const spans = new Map<string, Span[]>();
  const waiting = new Map<string, Span>();
  const add = (task: string, span: Span): void => {
    const list = spans.get(task);
    if (list === undefined) spans.set(task, [span]);
    else list.push(span);
  };
  for (const event of events) {
    const { task, at } = event;
    if (task === undefined) continue;
    const wait = waiting.get(task);
    if (wait !== undefined && ENDS_WAIT.has(event.name)) {
      wait.end = at;
      waiting.delete(task);
    }
    if (event.name === 'model.answered') add(task, modelSpan(event));
    else if (event.name === 'model.failed')
      add(task, { kind: 'model', start: at, end: at, label: 'failed', ok: false });
    else if (event.name === 'tool.ran') add(task, toolSpan(event));
    else if (event.name === 'task.parked') {
      const span = waitSpan(event, isForPerson);
      waiting.set(task, span);
      add(task, span);
    } else if (event.name === 'task.created' && isForPerson(task)) {
      const span: Span = { kind: 'you', start: at, label: 'waits for you' };
      waiting.set(task, span);
      add(task, span);
    }
  }
  return spans;
}

const ENDS_WAIT: ReadonlySet<string> = new Set([
  'task.claimed',
  'task.parked',
  'task.completed',
  'task.failed',
  'task.released',
  'approval.answered',
]);

function modelSpan(event: Event): Span {
  const cost = callCost(event);
  const role = String(event['role'] ?? '');
  return defined({
    kind: kindOf(role),
    start: before(event.at, cost.ms),
    end: event.at,
    label: event['calls'] === 0 ? 'answer' : `${String(event['calls'] ?? '')} calls`,
    ok: true,
    tokens: cost.inputTokens + cost.outputTokens,
    microUsd: cost.microUsd,
    model: typeof event['model'] === 'string' ? event['model'] : undefined,
    turn: typeof event['turn'] === 'number' ? event['turn'] : undefined,
  });
}

function kindOf(role: string): SpanKind {
  if (role === '') return 'model';
  const facts = roleFacts(role);
  if (facts.isBid) return 'bid';
  return facts.prompt === 'check' ? 'check' : 'model';
}

function toolSpan(event: Event): Span {
  const ms = Number(event['ms'] ?? 0);
  return {
    kind: 'tool',
    start: before(event.at, ms),
    end: event.at,
    label: String(event['tool'] ?? 'tool'),
    ok: event['ok'] !== false,
  };
}

function waitSpan(event: Event, isForPerson: (task: string) => boolean): Span {
  const { tasks = [], until, budget } = (event['waits'] ?? {}) as Waits;
  const person = tasks.some(isForPerson);
  const label = person ? 'waits for you' : budget !== undefined ? 'waits for budget' : waitLabel(tasks.length, until);
  return { kind: person ? 'you' : 'wait', start: event.at, label };
}

function waitLabel(tasks: number, until: string | undefined): string {
  if (tasks === 0) return until === undefined ? 'waits' : `waits until ${until}`;
  return `waits for ${tasks === 1 ? 'a task' : `${tasks} tasks`}`;
}

function before(at: string, ms: number): string {
  return new Date(Date.parse(at) - ms).toISOString();
}
