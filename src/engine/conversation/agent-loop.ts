/**
 * Works on a leaf: takes turns with a model until the task has its answer, must wait for others, or may not go on.
 * A turn is exactly one model call. Its answer is durable before any of its tool calls runs, and everything that must
 * happen next is read off the conversation, so it does not matter who goes on from here, or when.
 */
import { roleFacts } from '../../domain/task/role.js';
import type { Agent } from '../../domain/agent/agent.js';
import type { Problem } from '../../domain/problem.js';
import { finalAnswer, openCalls, reportedAnswer, type Message } from '../../domain/session/session.js';
import { HUMAN, type Task, type WantedChild } from '../../domain/task/task.js';
import { windowOf } from '../../domain/config/window.js';
import type { Claim } from '../../ports/store/tasks.js';
import { resolveModels } from '../../rules/scheduling/models.js';
import { contribution } from '../../rules/patterns/team.js';
import { overBudget } from '../../rules/budget/remaining.js';
import { textTokens } from '../../rules/budget/reserve.js';
import { account, type Account } from './account.js';
import { unreadNotes } from '../tasks/certify.js';
import { allowance } from './allowance.js';
import { carryOut } from '../calls/execute-calls.js';
import { compactor, type Fit } from './compact.js';
import { createChildren } from '../tasks/create-children.js';
import { complete, fail, park, putBack } from '../tasks/settle.js';
import { endStopped } from '../tasks/settle-stopped.js';
import { stopReason } from '../core/flight.js';
import { record, type EngineContext } from '../core/context.js';
import { grantedTools, mended, systemPrompt } from './prompt.js';
import { openConversation, type Conversation } from './conversation.js';
import { reminder } from './required-call.js';
import { hearNotes } from './hear-notes.js';
import { planStep } from './plan.js';
import { spawnedBy } from './background-tasks.js';
import { tainted } from './taint.js';
import { takeTurn, type Turn } from './turn.js';

export async function converse(
  context: EngineContext,
  claim: Claim,
  task: Task,
  agent: Agent,
  stop: AbortSignal,
): Promise<void> {
  const resolved = resolveModels(agent, context.config, task.role);
  if ('code' in resolved) return fail(context, claim, task, resolved);
  const talk = await openConversation(context, claim, task, agent);
  const owned: Task = { ...task, session: talk.id };
  const books = account(context, owned, talk, agent);
  const fit = fitting(context, owned, talk, resolved);
  for (;;) {
    const step = await nextStep(context, owned, talk, books, resolved, fit, stop);
    if (step.kind === 'again') continue;
    await talk.made();
    const costs = await books.costs();
    if (step.kind === 'answer') {
      const { isRound } = roleFacts(owned.role);
      const marked = await tainted(context, owned, talk.messages());
      return complete(context, claim, marked, isRound ? contribution(talk.mine(), step.text) : step.text, costs);
    }
    if (step.kind === 'problem') return fail(context, claim, owned, step.problem, costs);
    if (step.kind === 'stopped') return endStopped(context, claim, owned, step.problem, costs);
    if (step.kind === 'pause') return putBack(context, claim, owned, 'what was allowed is done', costs);
    if (step.kind === 'paused') return putBack(context, claim, owned, `${agent.name} is paused`, costs);
    if (step.kind === 'leave') return putBack(context, claim, owned, 'the process is stopping', costs);
    return park(context, claim, owned, { tasks: step.waitFor }, costs);
  }
}

type Step =
  | { kind: 'again' }
  | { kind: 'answer'; text: string }
  | { kind: 'problem'; problem: Problem }
  | { kind: 'leave' }
  /** Somebody cancelled it. */
  | { kind: 'stopped'; problem: Problem }
  /** A person paused the agent: it starts no turn. */
  | { kind: 'paused' }
  /** Something a human had allowed was done: the next pass goes on. */
  | { kind: 'pause' }
  | { kind: 'wait'; waitFor: string[] };

type Resolved = Exclude<ReturnType<typeof resolveModels>, Problem>;

async function nextStep(
  context: EngineContext,
  task: Task,
  talk: Conversation,
  books: Account,
  resolved: Resolved,
  fit: Fit,
  stop: AbortSignal,
): Promise<Step> {
  const planning = await planStep(context, task, talk);
  if (planning.kind === 'again' || planning.kind === 'problem') return planning;
  if (planning.kind === 'wait') return { kind: 'wait', waitFor: await ask(context, task, [planning.child]) };
  const messages = talk.mine();
  const calls = openCalls(messages);
  if (calls.length > 0) {
    const marked = await tainted(context, task, talk.messages());
    const done = await carryOut(context, marked, talk.agent, calls, stop, await books.purse());
    if (done.results.length > 0 && (await talk.append(done.results, false)) === 'edited') return { kind: 'again' };
    if (done.asked.length > 0) return { kind: 'wait', waitFor: await ask(context, marked, done.asked) };
    if (done.final !== undefined) return { kind: 'answer', text: done.final };
    return { kind: done.allowed ? 'pause' : 'again' };
  }
  if (await hearTold(context, task, talk)) return { kind: 'again' };
  const spawned = await spawnedBy(context, task, talk.agent, messages);
  if (spawned.news.length > 0) {
    await talk.append(spawned.news, false);
    return { kind: 'again' };
  }
  const reminded = reminder(context, task, messages);
  if (reminded !== undefined) {
    const written = await talk.append([reminded.message], false);
    return written === 'written' && reminded.problem
      ? { kind: 'problem', problem: reminded.problem }
      : { kind: 'again' };
  }
  const answer = reportedAnswer(messages) ?? finalAnswer(messages);
  if (answer !== undefined && spawned.open.length > 0) return { kind: 'wait', waitFor: spawned.open };
  // What was told about this work before it ended belongs to it.
  const isMissed = answer !== undefined && task.parent === undefined && unreadNotes(context, task) > 0;
  if (isMissed && (await hearNotes(context, task, talk))) return { kind: 'again' };
  if (answer !== undefined) return { kind: 'answer', text: answer };

  const stopped = stopReason(stop);
  if (stopped !== undefined) return stopped === 'leaving' ? { kind: 'leave' } : { kind: 'stopped', problem: stopped };

  if (context.pauses.isPaused(talk.agent.name)) return { kind: 'paused' };

  if (await hearNotes(context, task, talk)) return { kind: 'again' };

  const view = fit(shown(talk));
  const allowed = await allowance(context, task, talk, await books.purse(), resolved, view);
  if (allowed.kind === 'problem') return allowed;
  if (allowed.kind === 'tell') {
    await talk.append([allowed.message], false);
    return { kind: 'again' };
  }
  const isLast = allowed.isLast || planning.kind === 'plan';
  const turn = (seen: readonly Message[]): Promise<Turn> =>
    takeTurn(context, task, talk, resolved, { stop, shown: seen, ...allowed, isLast });
  let reply = await turn(view);
  if (reply.kind === 'failed' && reply.isTooLong) {
    // Its window is smaller than we were told, or our count was wrong: once more, with half of it.
    const shorter = fit(shown(talk), true);
    if (shorter !== view) reply = await turn(shorter);
  }
  if (reply.kind === 'failed') return afterFailure(stop, reply.problem);
  if (reply.kind === 'edited') return { kind: 'again' };
  if (allowed.isLast && finalAnswer(talk.messages()) === undefined)
    return { kind: 'problem', problem: overBudget('turns', task, 'before there was an answer') };
  return { kind: 'again' };
}

function afterFailure(stop: AbortSignal, failure: Problem): Step {
  const stopped = stopReason(stop);
  if (stopped === 'leaving') return { kind: 'leave' };
  return stopped === undefined ? { kind: 'problem', problem: failure } : { kind: 'stopped', problem: stopped };
}

/** Only the first look at a conversation needs mending; what this process adds itself is whole. */
function shown(talk: Conversation): readonly Message[] {
  const messages = talk.messages();
  if (talk.whole) return messages;
  const view = mended(messages);
  if (view === messages) talk.whole = true;
  return view;
}

/** What the model is shown stays within its window. */
function fitting(context: EngineContext, task: Task, talk: Conversation, { models, settings }: Resolved): Fit {
  const head = systemPrompt(context, talk.agent, task) + JSON.stringify(grantedTools(context, talk.agent, task));
  return compactor(windowOf(models, context.config.windows), textTokens(head), settings.maxTokens ?? 4096);
}

async function ask(context: EngineContext, task: Task, children: WantedChild[]): Promise<string[]> {
  await createChildren(context, task, children);
  return children.map((child) => child.id);
}

/** What people told this task since its last turn becomes part of the conversation. */
async function hearTold(context: EngineContext, task: Task, talk: Conversation): Promise<boolean> {
  const told = (await context.intents.list()).filter((intent) => intent.kind === 'tell' && intent.task === task.id);
  for (const intent of told) {
    if (intent.kind !== 'tell') continue;
    // What an agent says carries the id of its call, so the same words are the same message; a person may repeat themselves.
    const heard = talk
      .messages()
      .some(({ content, timestamp }) => content === intent.text && (intent.by !== HUMAN || timestamp === intent.at));
    if (!heard) {
      const message: Message = { role: 'user', content: intent.text, from: intent.by, timestamp: intent.at };
      if ((await talk.append([message], true)) === 'edited') return true;
    }
    await context.intents.done(intent.id);
    record(context, 'intent.taken', { task: task.id, cause: intent.id, kind: 'tell' });
  }
  return told.length > 0;
}
