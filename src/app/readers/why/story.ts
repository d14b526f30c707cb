/**
 * The story of a task from its events: message → task → turn → approval → effect → cost, one line
 * per step. Children appear with their request and their answer; `guild why <child>` has the rest.
 */
import { roleFacts } from '../../../domain/task/role.js';
import { scoreText, type Score } from '../../../rules/staffing/award.js';
import { budgetWord } from '../../../domain/budget/budget.js';
import { callCost, type Event } from '../../../domain/event.js';
import { kinIn } from '../../../domain/task/lineage.js';
import { HUMAN, type Placed, type Task, type Waits } from '../../../domain/task/task.js';
import { moneyText } from '../../../domain/budget/usage.js';
import { toText, whoText } from '../../../views/who.js';
import type { EventHistory } from '../../../ports/aggregates/event-index.js';
import type { Store } from '../../../ports/store/index.js';

interface Step {
  at: string;
  text: string;
}

/** The chain of askers, the first one first. */
export async function originOf(store: Store, log: EventHistory, { task }: Placed): Promise<string[]> {
  const above: Task[] = [task];
  // Parent links are user-editable and may form a cycle.
  const seen = new Set([task.id]);
  for (let at = task; at.parent !== undefined && !seen.has(at.parent) && above.length < 50; at = above[0]!) {
    seen.add(at.parent);
    const parent = await store.tasks.read(at.parent);
    if (parent === undefined) break;
    above.unshift(parent.task);
  }
  const first = above[0]!;
  const [made] = log.events((name, id) => name === 'task.created' && id === first.id);
  const cause = made?.cause ?? first.created_by ?? first.from;
  const lines = [cause === undefined || cause === 'human' ? 'you asked for it' : `it came from ${cause}`];
  for (const ancestor of above)
    lines.push(
      `${ancestor.id}${roleFacts(ancestor.role).isRoot ? '' : ` (${ancestor.role})`} ${toText(ancestor.to, 'nobody yet')}: ${ancestor.description}`,
    );
  return lines;
}

const OF_CHILDREN = new Set<string>(['task.created', 'task.completed', 'task.failed', 'approval.answered']);

/** The steps of the task, with the requests to its children and their answers. */
export function storyOf(log: EventHistory, { task }: Placed): Step[] {
  const kin = kinIn(log.lineage());
  const isChild = (name: string, id: string | undefined): boolean =>
    OF_CHILDREN.has(name) && id !== undefined && kin.parentOf(id) === task.id;
  return log
    .events((name, id) => id === task.id || name === 'workspace.undone' || isChild(name, id))
    .filter((event) => event.name !== 'workspace.undone' || event.task === task.id || event.at > task.created_at)
    .flatMap((event) => {
      const text = event.task === undefined || event.task === task.id ? eventText(event) : childs(event);
      return text === undefined ? [] : [text, ...scoresIn(event)].map((line) => ({ at: event.at, text: line }));
    });
}

/** The bids behind an award, best first. */
function scoresIn({ name, scores }: Event): string[] {
  return name === 'task.awarded' && Array.isArray(scores)
    ? (scores as Score[]).map((score) => `  ${scoreText(score)}`)
    : [];
}

/** The sentence for an event about its own task. Undefined if a person does not need it. */
export function eventText(event: Event): string | undefined {
  const detail = (name: string): string => String(event[name] ?? '');
  switch (event.name) {
    case 'task.claimed':
    case 'session.created':
      return undefined;
    case 'task.created':
      return `asked of ${whoText(event.agent ?? 'nobody yet')}${causeText(event.cause ?? 'somebody')}`;
    case 'model.answered': {
      const cost = callCost(event);
      const money = cost.microUsd > 0 ? `, ${moneyText(cost.microUsd)}` : '';
      const calls =
        event['calls'] === 0 ? 'an answer' : `${detail('calls')} tool ${event['calls'] === 1 ? 'call' : 'calls'}`;
      return `turn ${detail('turn')}: ${calls} (${cost.inputTokens}+${cost.outputTokens} tokens${money}, ${cost.ms} ms)`;
    }
    case 'model.failed':
      return event['class'] === 'aborted'
        ? 'the model call was stopped'
        : `the model failed (${detail('class')}): ${detail('message')}`;
    case 'tool.ran':
      return `  used ${detail('tool')}${event['ok'] === false ? ', which failed' : ''}${event['approved'] ? ', as approved' : ''} (${detail('ms')} ms)`;
    case 'task.parked': {
      const waits = event['waits'] as Waits | undefined;
      const whose = waits?.budget === undefined ? '' : `its budget of ${budgetWord(waits.budget)}, held by `;
      if (waits?.file !== undefined) return `waits until ${waits.file} can be read`;
      return `waits for ${whose}${waits?.tasks?.join(', ') ?? waits?.until ?? 'something'}`;
    }
    case 'file.held':
      return `its conversation could not be read: ${problemOf(event)}`;
    case 'task.completed':
      return 'completed';
    case 'task.failed':
      return `failed: ${problemOf(event)}`;
    case 'task.offered':
      return `offered to ${(event['agents'] as string[] | undefined)?.join(', ') ?? 'all that fit'}`;
    case 'task.awarded':
      return `awarded to ${event.agent ?? 'nobody'}`;
    case 'task.released':
      return `put back: ${detail('why')}`;
    case 'intent.taken':
    case 'intent.refused':
      return intentText(event);
    case 'task.recovered':
      return `its process was lost; recovered, attempt ${detail('attempts')}`;
    case 'session.edited':
      return `a person changed the session: ${detail('added')} added, ${detail('changed')} changed, ${detail('removed')} removed`;
    case 'approval.answered':
      return answered(event);
    case 'deadlock.broken':
      return `lost a deadlock: ${gaveUp(event)}, because ${detail('rule')}`;
    case 'root.certified':
      return `the processes agreed that it is complete: ${detail('agreed')}`;
    case 'work.stuck':
      return `stuck: ${detail('why')}`;
    case 'workspace.undone':
      return `you went back to commit ${detail('to').slice(0, 10)}`;
    default:
      return otherEvent(event);
  }
}

/** `help.refused` is "help refused", with its cause and its reason. */
function otherEvent(event: Event): string {
  const cause = event.cause === undefined ? '' : causeText(event.cause);
  const reason = event['why'] ?? (event['problem'] as { message?: string } | undefined)?.message;
  return `${event.name.replace('.', ' ')}${cause}${reason === undefined ? '' : `: ${String(reason)}`}`;
}

function causeText(cause: string): string {
  return cause === HUMAN ? ' by you' : `, because of ${cause}`;
}

/** What became of a person's request, such as a message or a cancellation. */
function intentText({ name, kind, why }: Event): string {
  const what = { tell: 'your message', answer: 'your answer' }[String(kind)] ?? `your ${String(kind)}`;
  if (name === 'intent.refused') return `${what} was refused: ${String(why ?? 'it came too late')}`;
  return kind === 'tell' ? 'read your message' : `${what} was taken in`;
}

function childs(event: Event): string | undefined {
  switch (event.name) {
    case 'task.created':
      return `  asked ${whoText(event.agent ?? 'somebody')}: ${event.task}`;
    case 'task.completed':
      return `  ${whoText(event.agent ?? 'somebody')} answered: ${event.task}`;
    case 'task.failed':
      return `  ${whoText(event.agent ?? 'somebody')} failed: ${event.task}: ${problemOf(event)}`;
    default:
      return `  ${event.task} was ${answered(event)}`;
  }
}

function answered(event: Event): string {
  if (typeof event['text'] === 'string')
    return `answered by ${String(event['by'] ?? 'the human')} (${event.cause ?? 'command line'}): ${event['text']}`;
  const how = event['approved'] === true ? (event['edited'] ? 'approved with changes' : 'approved') : 'rejected';
  const reason = typeof event['reason'] === 'string' ? `: ${event['reason']}` : '';
  return `${how} by ${String(event['by'] ?? 'the human')} (${event.cause ?? 'command line'})${reason}`;
}

function problemOf(event: Event): string {
  return ((event['error'] ?? event['problem']) as { message?: string } | undefined)?.message ?? 'without a reason';
}

function gaveUp({ victim, cancelled, handled }: Event): string {
  if (victim !== cancelled) return `it continues without ${String(cancelled)}`;
  return handled === undefined ? 'it ended' : `it ended, and ${String(handled)} handles its work`;
}
