/**
 * The message of a commit to history. The subject says what happened; the body has a line for each
 * event, with task, agent and cause. Both are bounded. Texts of models and people are not quoted.
 */
import type { Event } from '../domain/event.js';
import { kinIn } from '../domain/task/lineage.js';
import { toText, whoText } from './who.js';

const SUBJECT_CHARS = 100;
const MAX_LINES = 60;
const IDS_CHARS = 4000;

export function commitMessage(events: readonly Event[]): { subject: string; body: string } {
  const shown = events.filter(({ name }) => !SILENT.has(name));
  const lines = [...new Set((shown.length > 0 ? shown : events).map(line))];
  const tasks = [...new Set(events.flatMap(({ task }) => task ?? []))];
  const more = lines.length - MAX_LINES;
  const body = [...lines.slice(0, MAX_LINES), ...(more > 0 ? [`and ${more} more`, idsLine(tasks)] : [])];
  return { subject: oneLine(subject(events, tasks), SUBJECT_CHARS), body: body.join('\n') };
}

/** Omitted, because the outcome follows in another event. */
const SILENT: ReadonlySet<string> = new Set(['task.claimed', 'session.created']);

/** Events in order of importance for the subject. */
const WEIGHT = [
  'approval.answered',
  'task.failed',
  'task.completed',
  'task.parked',
  'task.recovered',
  'tool.ran',
  'model.answered',
  'session.edited',
  'task.retried',
  'task.reassigned',
  'task.created',
];

function subject(events: readonly Event[], tasks: readonly string[]): string {
  const weight = ({ name }: Event): number => (WEIGHT.indexOf(name) + WEIGHT.length + 1) % (WEIGHT.length + 1);
  const byTask = new Map<string, Event>();
  for (const event of events) {
    const best = byTask.get(event.task ?? '');
    if (best === undefined || weight(event) < weight(best)) byTask.set(event.task ?? '', event);
  }
  const of = (task: string): string => happened(byTask.get(task)!);
  if (tasks.length === 0) return events.length === 0 ? 'changes' : happened(events[0]!);
  if (tasks.length === 1) return `${tasks[0]}: ${of(tasks[0]!)}`;
  const roots = topmost(events, tasks);
  if (roots.length === 1) return `${roots[0]}: ${of(roots[0]!)}; ${tasks.length} tasks moved`;
  const named = roots.slice(0, SUBJECT_CHARS); // everything after this would be cut off
  return `${roots.length} tasks: ${named.map((task) => `${task} (${of(task)})`).join(', ')}`;
}

/** The tasks that are not below another of these tasks. */
function topmost(events: readonly Event[], tasks: readonly string[]): string[] {
  const kin = kinIn(events);
  const present = new Set(tasks);
  const isBelow = (task: string): boolean => {
    for (let at = kin.parentOf(task), i = 0; at !== undefined && i < MAX_LEVELS; at = kin.parentOf(at), i++)
      if (present.has(at)) return true;
    const root = kin.rootOf(task);
    return root !== task && present.has(root);
  };
  return tasks.filter((task) => !isBelow(task));
}

/** Parent links are user-editable and may form a cycle. */
const MAX_LEVELS = 50;

function happened(event: Event): string {
  const agent = whoText(event.agent ?? 'an unknown agent');
  switch (event.name) {
    case 'task.completed':
      return `${agent} answered`;
    case 'task.failed':
      return `${agent} failed`;
    case 'task.parked':
      return event.agent === 'nobody' ? 'waits for an agent' : `${agent} waits`;
    case 'task.created':
      return event.agent === undefined ? 'created, not assigned yet' : `asked of ${agent}`;
    case 'model.answered':
      return `${agent} took a turn`;
    case 'tool.ran':
      return `${agent} used ${text(event['tool'])}`;
    case 'session.edited':
      return `a person changed the session of ${agent}`;
    default:
      return `${event.name.replace('.', ' ')}${event.agent === undefined ? '' : ` by ${agent}`}`;
  }
}

function line(event: Event): string {
  const who = event.agent === undefined ? '' : ` ${toText(event.agent)}`;
  const cause = event.cause === undefined ? '' : `, because of ${event.cause}`;
  return oneLine(`${event.task ?? '-'}${who} ${event.name}${detail(event)}${cause}`, 200);
}

function detail(event: Event): string {
  const problem = (event['error'] ?? event['problem']) as { code?: unknown } | undefined;
  const waits = (event['waits'] as { tasks?: unknown } | undefined)?.tasks;
  if (event.name === 'tool.ran') return ` ${text(event['tool'])}${event['ok'] === false ? ', which failed' : ''}`;
  if (event.name === 'model.answered')
    return ` turn ${text(event['turn'])}, ${text(event['input_tokens'])}+${text(event['output_tokens'])} tokens`;
  if (problem?.code !== undefined) return ` ${text(problem.code)}`;
  return Array.isArray(waits) ? ` for ${waits.slice(0, 5).map(text).join(', ')}` : '';
}

/** Lets people search the history for tasks whose line was left out. */
function idsLine(tasks: readonly string[]): string {
  let ids = 'tasks:';
  for (const id of tasks) if (ids.length + id.length < IDS_CHARS) ids += ` ${id}`;
  return ids;
}

function text(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

function oneLine(message: string, maxChars: number): string {
  // eslint-disable-next-line no-control-regex
  const plain = message.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ').trim();
  return plain.length <= maxChars ? plain : `${plain.slice(0, maxChars - 1)}…`;
}
