/** Requests that wait for the person, and requests that were answered lately. */
import type { Snapshot } from '../../app/readers/open-states.js';
import { whyNoRule } from '../../app/trust/no-rule.js';
import { draw } from '../../domain/consent/draw.js';
import { visible } from '../../domain/consent/visible.js';
import { needsConfirmation } from '../../domain/consent/weight.js';
import { defined } from '../../domain/defined.js';
import { approvalOf, mainArgument, type Answer, type Approval } from '../../domain/task/approval.js';
import { compareText } from '../../domain/order.js';
import { isEnded, type Placed } from '../../domain/task/task.js';
import { taintIn } from '../../domain/task/taint.js';
import { summary } from '../../views/summary.js';
import type { Request, Requests } from '../base/contract.js';
import { isForPerson, shortOf, titleOf } from './rows.js';

const ANSWERED_SHOWN = 20;

/** An answer counts as soon as it is given, also if nobody works and reads it. */
export function requestsOf({ open, forHuman }: Snapshot, ended: readonly Placed[]): Requests {
  return {
    open: [...forHuman]
      .sort((a, b) => compareText(a.task.created_at, b.task.created_at))
      .map((placed) => requestOf(placed, open)),
    answered: ended
      .filter(isForPerson)
      .slice(0, ANSWERED_SHOWN)
      .map((placed) => requestOf(placed, open)),
  };
}

/** `open`: all open tasks, to find those that the request blocks. */
export function requestOf(placed: Placed, open: readonly Placed[]): Request {
  const { task, state } = placed;
  const approval = approvalOf(task);
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
    ...(approval === undefined ? plainFields(task) : approvalFields(approval, open)),
  };
}

/** The tasks that wait for it, and those that wait for these. */
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

function approvalFields(approval: Approval, open: readonly Placed[]): Drawn {
  const { request, answer } = approval;
  const { title, facts, action, changes, risk, question, digest } = draw(approval);
  const text = request.arguments[mainArgument(request.tool) ?? ''];
  const { path } = request.arguments;
  const noRule = whyNoRule(request);
  const isAlike = (each: Placed): boolean => approvalOf(each.task)?.request.digest === digest;
  return defined({
    title,
    heading: headingOf(title, approval),
    facts,
    action,
    changes,
    seen: digest,
    isGrave: needsConfirmation(request),
    alike: Math.max(1, open.filter(isAlike).length),
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
  // The agent's name is beside it, and its words are all that is asked.
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
    edited: answer.edited !== undefined,
  });
}

/** A task for the person that the program did not make: it can only be read here. */
function plainFields(task: Placed['task']): Drawn {
  const text = visible(task.description);
  const title = titleOf(text);
  return {
    title,
    heading: { act: title, object: '' },
    facts: { asked: [], runs: '', more: [] },
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
