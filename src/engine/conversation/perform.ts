/** Performs one step of a conversation, as `nextStep` decided it. */
import { ratesFor, type Price } from '../../domain/budget/price.js';
import type { Problem } from '../../domain/problem.js';
import { finalAnswer, type Message, type ToolCall } from '../../domain/session/session.js';
import type { Task, WantedChild } from '../../domain/task/task.js';
import { overBudget } from '../../rules/budget/remaining.js';
import { promptTokens } from '../../rules/budget/reserve.js';
import type { resolveModels } from '../../rules/scheduling/models.js';
import { askPrice } from '../approvals/ask-price.js';
import { executeCalls } from '../calls/execute-calls.js';
import type { EngineContext } from '../core/context.js';
import { stopReason } from '../core/flight.js';
import { stopAsked } from '../core/stop-asked.js';
import { unreadNotes } from '../tasks/certify.js';
import { createChildren } from '../tasks/create-children.js';
import type { Account } from './account.js';
import { backgroundTasks } from './background-tasks.js';
import type { Compactor } from './compact.js';
import { factsOf } from '../core/message-facts.js';
import type { Conversation } from './conversation.js';
import { hearNotes } from './hear-notes.js';
import { hearPeople } from './hear-people.js';
import { announceTools, newsFor } from './news.js';
import { headTokens, withMissingResults } from './prompt.js';
import { presentAgent } from './rights.js';
import type { Action, Ending, Facts, SayStep, TurnBudget, TurnStep } from './decide/step.js';
import { submitPlan } from './submit-plan.js';
import { tainted } from './taint.js';
import { takeTurn, type Turn } from './turn.js';

/** A task and its conversation while this process works on it. */
export interface Loop {
  context: EngineContext;
  task: Task;
  conversation: Conversation;
  account: Account;
  resolved: Exclude<ReturnType<typeof resolveModels>, Problem>;
  fit: Compactor;
  stop: AbortSignal;
}

/** The conversation changed, new facts are known, or the task leaves this process. */
type Performed = 'changed' | Facts | Ending;

export async function perform(loop: Loop, step: Action): Promise<Performed> {
  const { context, task, conversation } = loop;
  switch (step.do) {
    case 'say':
      return say(loop, step);
    case 'submit_plan': {
      const verdict = await submitPlan(context, task, conversation, step);
      if (verdict === 'edited') return 'changed';
      return 'child' in verdict ? ask(context, task, [verdict.child]) : { planVerdict: verdict };
    }
    case 'execute_calls':
      return performCalls(loop, step.calls);
    case 'hear_people':
      return (await hearPeople(context, task, conversation)) ? 'changed' : { areMessagesHeard: true };
    case 'look_up_background':
      return { background: await backgroundTasks(context, task, conversation.agent, conversation.mine()) };
    case 'hear_notes': {
      const mayMatter = !step.isAnswered || unreadNotes(context, task) > 0;
      if (mayMatter && (await hearNotes(context, task, conversation))) return 'changed';
      if (step.isAnswered) return { areNotesHeard: true };
      if (await announceTools(context, task, conversation)) return 'changed';
      return { areNotesHeard: true, news: newsFor(context, task, conversation) };
    }
    case 'look_up_budget':
      return (await compacted(loop)) ? 'changed' : { budget: await turnBudget(loop) };
    case 'ask_price': {
      const verdict = await askPrice(context, task, conversation.agent, step.models);
      return typeof verdict === 'object' ? ask(context, task, [verdict.child]) : { priceVerdict: verdict };
    }
    case 'take_turn':
      return turn(loop, step);
  }
}

async function say({ context, conversation }: Loop, { messages, failure }: SayStep): Promise<Performed> {
  const timestamp = context.clock.now().toISOString();
  // An answer that was paid for is durable before the model is asked again.
  const isAnswered = conversation.messages().at(-1)?.role === 'assistant';
  const written = await conversation.append(
    messages.map((message) => ({ ...message, timestamp })),
    isAnswered && failure === undefined,
  );
  return written === 'written' && failure !== undefined ? { do: 'fail', problem: failure } : 'changed';
}

async function performCalls(loop: Loop, calls: ToolCall[]): Promise<Performed> {
  const { context, conversation, account, stop } = loop;
  const task = await tainted(context, loop.task, conversation);
  const agent = presentAgent(context, conversation, task);
  const done = await executeCalls(context, task, agent, calls, stop, await account.remaining());
  if (done.results.length > 0 && (await conversation.append(done.results, false)) === 'edited') return 'changed';
  if (done.asked.length > 0) return ask(context, task, done.asked);
  if (done.isFinal) return 'changed';
  // A person who works step by step sees the approved action done before the model continues.
  return done.allowed ? { do: 'put_back', why: 'the approved action is done' } : 'changed';
}

async function ask(context: EngineContext, task: Task, children: WantedChild[]): Promise<Ending> {
  await createChildren(context, task, children);
  return { do: 'wait', tasks: children.map((child) => child.id) };
}

async function turnBudget({ context, task, conversation, account, resolved, fit }: Loop): Promise<TurnBudget> {
  const remaining = await account.remaining();
  const ofHead = (): number => headTokens(context, conversation.head());
  const tokens = promptTokens(ofHead, shown(context, conversation, fit));
  return {
    left: remaining.left(),
    lastMs: remaining.lastMs,
    isStopAsked: await stopAsked(context, task),
    promptTokens: tokens,
    maxTokens: resolved.settings.maxTokens,
    price: highestPrice(context, resolved.models, tokens),
    unpriced: resolved.models.filter((model) => context.price(model) === undefined),
  };
}

/** Input that is written to the cache may cost more than usual. */
function highestPrice(context: EngineContext, models: readonly string[], tokens: number): Price | undefined {
  const prices = models.flatMap((model) => context.price(model) ?? []).map((price) => ratesFor(price, tokens));
  if (prices.length === 0) return undefined;
  return {
    input: Math.max(...prices.map(({ input, write = 0 }) => Math.max(input, write))),
    output: Math.max(...prices.map((price) => price.output)),
  };
}

/** Writes an outline of old messages if the conversation no longer fits. True if it did. */
async function compacted({ context, conversation, fit }: Loop, tooLong = false): Promise<boolean> {
  const draft = fit.compaction(conversation.messages(), tooLong);
  if (draft === undefined) return false;
  await conversation.append([{ ...draft, timestamp: context.clock.now().toISOString() }], false);
  return true;
}

async function turn(loop: Loop, step: TurnStep): Promise<Performed> {
  const { context, task, conversation, resolved, fit, stop } = loop;
  const take = (): Promise<Turn> =>
    takeTurn(context, task, conversation, resolved, { ...step, stop, shown: shown(context, conversation, fit) });
  let reply = await take();
  // The window is smaller than configured or the estimate was too low: try once with half.
  if (reply.kind === 'failed' && reply.isTooLong && (await compacted(loop, true))) reply = await take();
  if (reply.kind === 'failed') return afterFailure(stop, reply.problem);
  const isUnanswered = step.isLast && reply.kind === 'answered' && finalAnswer(conversation.messages()) === undefined;
  return isUnanswered ? { do: 'fail', problem: overBudget('turns', task, 'before there was an answer') } : 'changed';
}

function afterFailure(stop: AbortSignal, failure: Problem): Ending {
  const stopped = stopReason(stop);
  if (stopped === 'leaving') return { do: 'put_back', why: 'it was stopped' };
  return stopped === undefined ? { do: 'fail', problem: failure } : { do: 'stop', problem: stopped };
}

/** The messages as the model gets them. */
function shown(context: EngineContext, conversation: Conversation, fit: Compactor): readonly Message[] {
  const messages = fit.view(conversation.messages());
  const { hasGaps, openCalls } = factsOf(context, messages);
  return withPrivateTexts(context, hasGaps || openCalls.size > 0 ? withMissingResults(messages) : messages);
}

/** The messages with the real content of private results, as the model gets them. */
function withPrivateTexts(context: EngineContext, messages: readonly Message[]): readonly Message[] {
  if (!factsOf(context, messages).hasPrivate) return messages;
  return messages.map((message) => {
    const content =
      message.private === undefined ? undefined : context.privateTexts.get(message.private)?.toString('utf8');
    return content === undefined ? message : { ...message, content };
  });
}
