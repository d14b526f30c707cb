/** What waits for the person, and what was answered lately. */
import { draw } from '../../domain/consent/draw.js';
import { visible } from '../../domain/consent/visible.js';
import { approvalOf, mainArgument, type Approval } from '../../domain/task/approval.js';
import { compareText } from '../../domain/order.js';
import { isEnded, type Placed } from '../../domain/task/task.js';
import { taintIn } from '../../domain/task/taint.js';
import { summary } from '../../views/summary.js';
import type { Request, Requests } from '../base/contract.js';
import { isForPerson, shortOf, titleOf } from './rows.js';

const ANSWERED_SHOWN = 20;

export function requestsOf(open: readonly Placed[], ended: readonly Placed[]): Requests {
  return {
    open: open
      .filter(isForPerson)
      .sort((a, b) => compareText(a.task.created_at, b.task.created_at))
      .map((placed) => requestOf(placed, open)),
    answered: ended
      .filter(isForPerson)
      .slice(0, ANSWERED_SHOWN)
      .map((placed) => requestOf(placed, open)),
  };
}

/** `open`: all open tasks, for what the request blocks. */
export function requestOf(placed: Placed, open: readonly Placed[]): Request {
  const { task, state } = placed;
  const approval = approvalOf(task);
  const asker = open.find((each) => each.task.id === task.parent)?.task;
  return {
    id: task.id,
    short: shortOf(task.id),
    kind: kindOf(approval),
    agent: approval?.request.agent ?? task.from ?? 'somebody',
    ...(asker === undefined ? {} : { task: { id: asker.id, title: titleOf(summary(asker)) } }),
    ...(approval === undefined ? {} : { session: approval.request.session }),
    createdAt: task.created_at,
    ...(isEnded(state) && task.ended_at !== undefined ? { answeredAt: task.ended_at } : {}),
    taint: approval?.request.taint ?? taintIn(task),
    blocks: open.filter((each) => each.task.waits?.tasks?.includes(task.id)).map((each) => each.task.id),
    place: 'tasks/approvals.task.md',
    ...(approval === undefined ? questionFields(task) : approvalFields(approval)),
  };
}

type Drawn = Pick<Request, 'title' | 'about' | 'action' | 'changes' | 'seen'>;

function approvalFields(approval: Approval): Drawn & Partial<Request> {
  const { request, answer } = approval;
  const { title, about, action, changes, risk, digest } = draw(approval);
  const text = request.arguments[mainArgument(request.tool) ?? ''];
  const { path } = request.arguments;
  return {
    title,
    about,
    action,
    changes,
    seen: digest,
    ...(risk === undefined ? {} : { risk }),
    ...(typeof text === 'string' ? { editable: text } : {}),
    ...(typeof path === 'string' ? { path } : {}),
    ...(answer === undefined
      ? {}
      : {
          answer: {
            approved: answer.approved,
            by: answer.by,
            at: answer.at,
            ...(answer.reason === undefined ? {} : { reason: answer.reason }),
            edited: answer.edited !== undefined,
          },
        }),
  };
}

function questionFields(task: Placed['task']): Drawn {
  const text = visible(task.description);
  return { title: titleOf(text), about: [], action: { key: 'question', text }, changes: [], seen: task.id };
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
};

function kindOf(approval: Approval | undefined): Request['kind'] {
  return approval === undefined ? 'question' : (KINDS[approval.request.tool] ?? 'other');
}
