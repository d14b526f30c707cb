/** Requests that wait for the person, and requests that were answered lately. */
import type { OwnRequests } from '../../app/approvals.js';
import { isRequest } from '../../views/own-words.js';
import type { Snapshot } from '../../app/readers/open-states.js';
import { whyNoRule } from '../../app/trust/no-rule.js';
import { draw } from '../../domain/consent/draw.js';
import { visible } from '../../domain/consent/visible.js';
import { isUnconfined, needsConfirmation } from '../../domain/consent/weight.js';
import { defined } from '../../domain/defined.js';
import { mainArgument, type Answer, type Approval } from '../../domain/task/approval.js';
import { compareText } from '../../domain/order.js';
import { isEnded, type Placed } from '../../domain/task/task.js';
import { taintIn } from '../../domain/task/taint.js';
import { summary } from '../../views/summary.js';
import type { Request, Requests } from '../base/contract.js';
import { titleOf } from '../base/title.js';
import { isForPerson, shortOf } from './rows.js';

const ANSWERED_SHOWN = 20;

/** An answer counts as soon as it is given, even if no process is running to read it. */
export function requestsOf({ open, forHuman }: Snapshot, ended: readonly Placed[], own: OwnRequests): Requests {
  const shown = requestReader(open, own);
  return {
    open: [...forHuman].sort((a, b) => compareText(a.task.created_at, b.task.created_at)).map(shown),
    answered: ended.filter(isForPerson).slice(0, ANSWERED_SHOWN).map(shown),
  };
}

/** `open`: all open tasks, to find those that a request blocks. */
export function requestReader(open: readonly Placed[], own: OwnRequests): (placed: Placed) => Request {
  const alike = alikeIn(open, own);
  return (placed) =>
    isRequest(placed.task) && own(placed.task) === undefined
      ? foreignRequest(placed, open)
      : requestOf(placed, open, own(placed.task), alike);
}

/** How many open requests there are for each action. */
function alikeIn(open: readonly Placed[], own: OwnRequests): (digest: string) => number {
  const counts = new Map<string, number>();
  for (const { task } of open) {
    const digest = own(task)?.request.digest;
    if (digest !== undefined) counts.set(digest, (counts.get(digest) ?? 0) + 1);
  }
  return (digest) => Math.max(1, counts.get(digest) ?? 0);
}

/**
 * A request that came with the folder could say anything in the program's name, so none of its text
 * is shown, and it cannot be answered here.
 */
function foreignRequest({ task, state }: Placed, open: readonly Placed[]): Request {
  const title = 'A request that was not made on this machine';
  return defined<Request>({
    id: task.id,
    short: shortOf(task.id),
    kind: 'other',
    isForeign: true,
    agent: 'somebody',
    createdAt: task.created_at,
    answeredAt: isEnded(state) ? task.ended_at : undefined,
    taint: [],
    blocks: blockedBy(task.id, open),
    place: 'tasks/approvals.task.md',
    title,
    heading: { act: title, object: '' },
    facts: { asked: ['it came with the folder, so its words are not shown'], runs: '', more: [], again: [] },
    isGrave: false,
    alike: 1,
    action: { key: 'What happens now', text: ASKED_AGAIN },
    changes: [],
    seen: task.id,
  });
}

const ASKED_AGAIN =
  'It will be asked again, in the program’s own words, when a process works here: guild pump or guild watch.';

function requestOf(
  placed: Placed,
  open: readonly Placed[],
  approval: Approval | undefined,
  alike: (digest: string) => number,
): Request {
  const { task, state } = placed;
  const asker = open.find((each) => each.task.id === task.parent)?.task;
  return {
    id: task.id,
    short: shortOf(task.id),
    kind: kindOf(approval),
    agent: approval?.request.agent ?? task.from ?? 'somebody',
    task: asker && { id: asker.id, title: titleOf(summary(asker)) },
    session: approval?.request.session,
    createdAt: task.created_at,
    answeredAt: isEnded(state) ? task.ended_at : undefined,
    taint: approval?.request.taint ?? taintIn(task),
    blocks: blockedBy(task.id, open),
    place: 'tasks/approvals.task.md',
    ...(approval === undefined ? plainFields(task) : approvalFields(approval, alike)),
  };
}

/** The tasks that wait for it, and the tasks that wait for these. */
function blockedBy(id: string, open: readonly Placed[]): Request['blocks'] {
  const blocked = new Map<string, Request['blocks'][number]>();
  const next = [id];
  for (const cause of next)
    for (const { task } of open) {
      if (blocked.has(task.id) || task.waits?.tasks?.includes(cause) !== true) continue;
      blocked.set(task.id, defined({ id: task.id, agent: task.to }));
      next.push(task.id);
    }
  return [...blocked.values()];
}

type Drawn = Pick<Request, 'title' | 'heading' | 'facts' | 'isGrave' | 'alike' | 'action' | 'changes' | 'seen'> &
  Partial<Request>;

function approvalFields(approval: Approval, alike: (digest: string) => number): Drawn {
  const { request, answer } = approval;
  const { title, facts, action, risk, question, digest } = draw(approval);
  const { diff, ...others } = facts;
  const text = request.arguments[mainArgument(request.tool) ?? ''];
  const { path } = request.arguments;
  const noRule = whyNoRule(request);
  return defined({
    title,
    heading: headingOf(title, approval),
    facts: others,
    action,
    changes: diff,
    seen: digest,
    isGrave: needsConfirmation(request),
    isUnconfined: isUnconfined(request),
    alike: alike(digest),
    risk,
    question,
    rule: noRule === undefined ? action.text : undefined,
    noRule: request.tool === 'execute_command' && noRule !== undefined ? visible(noRule) : undefined,
    editable: typeof text === 'string' && question === undefined ? text : undefined,
    path: typeof path === 'string' ? visible(path) : undefined,
    answer: answer === undefined ? undefined : answerOf(answer),
  });
}

/** The title in two parts, so that a page can set the agent's part in another type. */
function headingOf(title: string, { request }: Approval): Request['heading'] {
  const { tool, arguments: args } = request;
  // The agent's name is next to it, and the question is the whole request.
  if (request.question !== undefined) return { act: titleOf(visible(request.question.text)), object: '' };
  const named = NAMED[tool];
  const object = named === undefined ? undefined : args[named.argument];
  if (named === undefined || typeof object !== 'string' || object.includes('\n')) return { act: title, object: '' };
  return { act: named.act, object: visible(object) };
}

const NAMED: Record<string, { act: string; argument: string }> = {
  execute_command: { act: 'Run', argument: 'command' },
  write_file: { act: 'Change', argument: 'path' },
  create_directory: { act: 'Make the folder', argument: 'path' },
  create_agent: { act: 'New agent', argument: 'name' },
  allow_command: { act: 'Always allow', argument: 'command' },
};

function answerOf(answer: Answer): NonNullable<Request['answer']> {
  return defined({
    approved: answer.approved,
    by: answer.by,
    at: answer.at,
    reason: answer.reason,
    text: answer.text,
    edited: answer.edited && Object.values(answer.edited).map(String).join('\n'),
  });
}

/** A task for the person that the program did not make: it can only be read here. */
function plainFields(task: Placed['task']): Drawn {
  const text = visible(task.description);
  const title = titleOf(text);
  return {
    title,
    heading: { act: title, object: '' },
    facts: { asked: [], runs: '', more: [], again: [] },
    isGrave: false,
    alike: 1,
    action: { key: 'task', text },
    changes: [],
    seen: task.id,
  };
}

const KINDS: Record<string, Request['kind']> = {
  execute_command: 'command',
  write_file: 'file',
  create_directory: 'file',
  create_agent: 'agent',
  slack_send: 'message',
  send_message: 'message',
  follow_plan: 'plan',
  allow_command: 'rule',
  ask_human: 'question',
};

function kindOf(approval: Approval | undefined): Request['kind'] {
  return approval === undefined ? 'other' : (KINDS[approval.request.tool] ?? 'other');
}
