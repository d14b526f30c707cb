/**
 * Takes in mail. Each message becomes a task for its agent, with its text fenced and labelled as
 * data from outside. With `admit: ask` it first becomes a question for the human, and a yes creates
 * the task. Task ids are derived from the line, and a line is marked done last.
 */
import { plainName, type Mail } from '../../domain/coordination/mail.js';
import { problem, type Problem } from '../../domain/problem.js';
import type { Task } from '../../domain/task/task.js';
import { admission, saltOf, takeTask, taskOfMail } from '../approvals/admit-mail.js';
import type { EngineContext, Ports } from '../core/context.js';
import { fence } from '../core/fence.js';

/** Many messages take several passes, so that running work continues meanwhile. */
const MAX_PER_PASS = 200;

interface MailTaken {
  /** A task was created, or there is more mail. */
  moved: boolean;
  problems: Problem[];
}

export async function takeMail(context: EngineContext): Promise<MailTaken> {
  const { mail: all, problems } = await context.inbox.take();
  if (all.length === 0 && problems.length === 0) return { moved: false, problems };
  const mail = all.slice(0, MAX_PER_PASS);
  let moved = false;
  const taken: Mail[] = [];
  for (const message of mail) {
    const place = `${message.file}:${message.line}`;
    const take = async (): Promise<boolean> => {
      const wanted = wantedTask(context, message);
      if (wanted.problem) problems.push(wanted.problem);
      const isCreated = await takeTask(context, wanted.task, wanted.follows, place);
      taken.push(message);
      return isCreated;
    };
    moved = (await fence(context, place, take, false)) || moved;
  }
  await context.inbox.done(taken);
  return { moved: moved || mail.length < all.length, problems };
}

/** The task for a message, or the question whether to admit it. */
function wantedTask(context: Ports, mail: Mail): { task: Task; follows?: string; problem?: Problem } {
  const { to, problem: unknown } = assigneeOf(context, mail);
  const at = context.clock.now().toISOString();
  const asks = context.config.inbox.admit === 'ask';
  const task = asks ? admission(context, mail, to, at) : taskOfMail(mail, to, at, saltOf(context, mail));
  const follows = asks || mail.follows === undefined ? {} : { follows: mail.follows };
  return { task, ...follows, problem: unknown };
}

/** The agent that the message names, then `inbox.agent`, the planner, the default; else any. */
function assigneeOf(context: Ports, mail: Mail): { to?: string; problem?: Problem } {
  const agents = context.agents.all();
  const planner = (): string | undefined =>
    agents.has('planner') ? 'planner' : [...agents.values()].find((agent) => agent.type === 'planner')?.name;
  const { config } = context;
  const fallback = config.inbox.agent ?? planner() ?? config.defaultAgent;
  const named = mail.to?.replace(/^@/, '');
  if (named === undefined) return { to: fallback };
  if (agents.has(named)) return { to: named };
  const unknown = problem(
    'unknown_agent',
    `the message is addressed to an unknown agent: ${JSON.stringify(plainName(named))}`,
    {
      where: { file: mail.file, line: mail.line },
      hint: fallback === undefined ? 'it is offered to all agents' : `${fallback} gets it instead`,
    },
  );
  return { to: fallback, problem: unknown };
}
