/** One turn: one model call, and its answer made durable. */
import type { Problem } from '../../domain/problem.js';
import type { Budget } from '../../domain/budget/budget.js';
import type { Message, MessageUsage } from '../../domain/session/session.js';
import type { Task } from '../../domain/task/task.js';
import type { ModelSettings } from '../../domain/agent/agent.js';
import type { ModelAnswer } from '../../ports/model.js';
import { askModel } from './ask-model.js';
import type { Conversation } from './conversation.js';
import { modelProblem } from './model-problem.js';
import { record, type EngineContext } from '../core/context.js';
import { grantedTools, systemPrompt } from './prompt.js';

export type Turn = { kind: 'answered' } | { kind: 'edited' } | { kind: 'failed'; problem: Problem; isTooLong: boolean };

interface TurnOptions {
  stop: AbortSignal;
  withTools: boolean;
  left: Budget;
  /** What the answer must be held to, so that it stays within what is left. */
  maxTokens?: number;
  shown: readonly Message[];
}

export async function takeTurn(
  context: EngineContext,
  task: Task,
  talk: Conversation,
  resolved: { models: string[]; settings: ModelSettings },
  { stop, withTools, left, maxTokens, shown }: TurnOptions,
): Promise<Turn> {
  const { agent } = talk;
  const turn = talk.usage().turns + 1;
  const who = { task: task.id, agent: agent.name, role: task.role };
  const from = context.clock.monotonicMs();
  const reply = await askModel({
    model: context.model,
    models: resolved.models,
    timeouts: context.config.timeouts,
    clock: context.clock,
    request: {
      system: systemPrompt(context, agent, task),
      messages: shown,
      tools: withTools ? grantedTools(context, agent, task) : [],
      settings: maxTokens === undefined ? resolved.settings : { ...resolved.settings, maxTokens },
      agent: agent.name,
      task: task.id,
      turn,
      signal: within(stop, left),
      onText: (text) => context.watchers.text(task, agent.name, text),
    },
    onRetry: (failure, model, waitMs) =>
      record(context, 'model.failed', {
        ...who,
        model,
        class: failure.class,
        message: failure.message,
        wait_ms: waitMs,
      }),
  });
  const ms = Math.round(context.clock.monotonicMs() - from);
  if (!reply.ok) {
    const { failure } = reply;
    record(context, 'model.failed', { ...who, class: failure.class, message: failure.message, ms });
    return {
      kind: 'failed',
      problem: await modelProblem(context, failure, left, task),
      isTooLong: failure.class === 'context',
    };
  }
  const message = assistant(context, reply.answer, reply.model, ms);
  const calls = message.toolCalls?.length ?? 0;
  // Before the answer is kept: it was paid, whether a person's edit takes its place or this process dies now.
  record(context, 'model.answered', {
    ...who,
    turn,
    calls,
    ...costFields(message.usage!),
    ...(reply.answer.unpriced ? { unpriced: true } : {}),
  });
  // An answer that ends the task becomes durable together with the task; one with calls must be durable before they run.
  const written = await talk.append([message], calls > 0);
  return { kind: written === 'edited' ? 'edited' : 'answered' };
}

function assistant(context: EngineContext, answer: ModelAnswer, model: string, ms: number): Message {
  const cut =
    answer.finish === 'length' && answer.toolCalls.length === 0 ? '\n\n[cut off at the output limit of the model]' : '';
  return {
    role: 'assistant',
    content: answer.text + cut,
    // Calls get names of our own: a provider may use the same one twice, and ours become file names.
    ...(answer.toolCalls.length > 0
      ? { toolCalls: answer.toolCalls.map((call) => ({ ...call, id: context.ids.next() })) }
      : {}),
    usage: {
      model,
      inputTokens: answer.inputTokens,
      outputTokens: answer.outputTokens,
      ...(answer.cachedTokens > 0 ? { cachedTokens: answer.cachedTokens } : {}),
      ...(answer.microUsd > 0 ? { microUsd: answer.microUsd } : {}),
      ms,
    },
    timestamp: context.clock.now().toISOString(),
  };
}

/** One line of the books: what this call took. */
function costFields(cost: MessageUsage): Record<string, string | number | undefined> {
  return {
    model: cost.model,
    input_tokens: cost.inputTokens,
    output_tokens: cost.outputTokens,
    cached_tokens: cost.cachedTokens ?? 0,
    micro_usd: cost.microUsd ?? 0,
    ms: cost.ms,
  };
}

/** The call ends when the task is stopped, and when its time is used up. */
function within(stop: AbortSignal, left: Budget): AbortSignal {
  if (left.timeMs === undefined) return stop;
  return AbortSignal.any([stop, AbortSignal.timeout(Math.max(1, left.timeMs))]);
}
