/**
 * Takes in mail. Each message becomes a task for its agent, its text fenced and labelled as what it is: data from outside.
 * Where the human wants to look first, it becomes a question to the human instead, and the task is made when the answer is
 * yes. Only then is the line done: a stop in between finds the task made already, because its id follows from the line.
 */
import { createHash } from 'node:crypto';
import { APPROVAL_ROLE, type ApprovalRequest } from '../../domain/task/approval.js';
import { childId } from '../../domain/task/id.js';
import { plainName, taintOf, type Mail } from '../../domain/coordination/mail.js';
import { problem, type Problem } from '../../domain/problem.js';
import { HUMAN, makeTask, type Task } from '../../domain/task/task.js';
import { ADMIT_TOOL, createMailTask, origin, taskOfMail } from '../approvals/admit-mail.js';
import type { Ports } from '../core/context.js';

/** A flood is taken in over several passes, so that what is under way goes on meanwhile. */
const MOST_AT_ONCE = 200;

interface MailTaken {
  /** Any task was made, or there is more to take. */
  moved: boolean;
  problems: Problem[];
}

export async function takeMail(context: Ports): Promise<MailTaken> {
  const { mail: all, problems } = await context.inbox.take();
  if (all.length === 0 && problems.length === 0) return { moved: false, problems };
  const mail = all.slice(0, MOST_AT_ONCE);
  let moved = false;
  for (const one of mail) {
    const wanted = wantedTask(context, one);
    if (wanted.problem) problems.push(wanted.problem);
    moved = (await createMailTask(context, wanted.task, `${one.file}:${one.line}`)) || moved;
  }
  await context.inbox.done(mail);
  return { moved: moved || mail.length < all.length, problems };
}

/** The task of a message, or the question whether to let it in. */
function wantedTask(context: Ports, mail: Mail): { task: Task; problem?: Problem } {
  const { to, problem: wrong } = takerOfMail(context, mail);
  const at = context.clock.now().toISOString();
  const asks = context.config.inbox.admit === 'ask';
  const task = asks ? admission(mail, to, at) : taskOfMail(mail, to, at, context.ids.next());
  return { task, ...(wrong ? { problem: wrong } : {}) };
}

/** The agent it names, else the one that guild.yaml says, else the planner, else the default agent, else whoever fits. */
function takerOfMail(context: Ports, mail: Mail): { to?: string; problem?: Problem } {
  const agents = context.agents.all();
  const planner = (): string | undefined =>
    agents.has('planner') ? 'planner' : [...agents.values()].find((agent) => agent.type === 'planner')?.name;
  const { config } = context;
  const usual = config.inbox.agent ?? planner() ?? config.defaultAgent;
  const named = mail.to?.replace(/^@/, '');
  if (named === undefined) return { to: usual };
  if (agents.has(named)) return { to: named };
  const wrong = problem(
    'unknown_agent',
    `this message is for ${JSON.stringify(plainName(named))}, and no agent has that name`,
    {
      where: { file: mail.file, line: mail.line },
      hint: usual === undefined ? 'it is offered to all' : `it goes to ${usual}`,
    },
  );
  return { to: usual, problem: wrong };
}

/** A question to the human, answered like any other approval; the message itself is kept in it. */
function admission(mail: Mail, to: string | undefined, at: string): Task {
  const args = {
    from: mail.from ?? 'unknown',
    channel: [mail.source, mail.channel].filter(Boolean).join(' '),
    text: mail.text,
  };
  const agent = to ?? '';
  const request: ApprovalRequest = {
    tool: ADMIT_TOOL,
    arguments: args,
    digest: createHash('sha256')
      .update(JSON.stringify([ADMIT_TOOL, args, agent]))
      .digest('hex'),
    agent,
    session: '',
    call: mail.task,
    reasons: ['messages from outside reach agents only when you let them in (inbox: admit: ask in guild.yaml)'],
    risk: 'LOW',
    taint: [taintOf(mail)],
    confinement: 'by the program itself; no command runs',
  };
  return makeTask({
    id: childId(mail.task, 'admit'),
    role: APPROVAL_ROLE,
    to: HUMAN,
    description: `Let in a message from ${origin(mail)}`,
    from: taintOf(mail),
    created_by: taintOf(mail),
    created_at: at,
    context: { request, mail, taint: [taintOf(mail)] },
  });
}
