/** One turn: a model call whose answer is added to the conversation. */
import { defined } from '../../domain/defined.js';
import type { Problem } from '../../domain/problem.js';
import type { Budget } from '../../domain/budget/budget.js';
import { boundedCall, type Message, type MessageUsage, type ProviderData } from '../../domain/session/session.js';
import { roleFacts } from '../../domain/task/role.js';
import type { Task } from '../../domain/task/task.js';
import type { Agent, ModelSettings } from '../../domain/agent/agent.js';
import { deadline } from '../../ports/clock.js';
import type { ModelAnswer, ModelRequest } from '../../ports/model.js';
import { askModel } from './ask-model.js';
import type { Conversation } from './conversation.js';
import { modelProblem } from './model-problem.js';
import type { PromptHead } from './prompt.js';
import { record, type EngineContext } from '../core/context.js';
import { requiredTool } from './decide/required-call.js';

export type Turn = { kind: 'answered' } | { kind: 'edited' } | { kind: 'failed'; problem: Problem; isTooLong: boolean };

interface TurnOptions {
  stop: AbortSignal;
  withTools: boolean;
  left: Budget;
  /** Limit for the answer that keeps it within the budget. */
  maxTokens?: number;
  shown: readonly Message[];
}

export async function takeTurn(
  context: EngineContext,
  task: Task,
  conversation: Conversation,
  resolved: { models: string[]; settings: ModelSettings },
  { stop, withTools, left, maxTokens, shown }: TurnOptions,
): Promise<Turn> {
  const { agent } = conversation;
  const turn = conversation.usage().turns + 1;
  const who = { task: task.id, agent: agent.name, role: task.role };
  const from = context.clock.monotonicMs();
  const now = { task: task.id, root: task.root, agent: agent.name };
  context.watchers.progress({ ...now, kind: 'thinking' });
  const limit = left.timeMs === undefined ? undefined : deadline(left.timeMs, stop);
  const reply = await askModel({
    model: context.model,
    models: resolved.models,
    timeouts: context.config.timeouts,
    clock: context.clock,
    request: {
      ...conversation.head(),
      messages: shown,
      ...toolChoice(task, agent, withTools),
      ...formatOf(task, agent, conversation.head()),
      settings: maxTokens === undefined ? resolved.settings : { ...resolved.settings, maxTokens },
      agent: agent.name,
      task: task.id,
      turn,
      signal: limit?.signal ?? stop,
      onText: (text) => context.watchers.progress({ ...now, kind: 'words', text }),
    },
    onRetry: (failure, model, waitMs) =>
      record(context, 'model.failed', {
        ...who,
        model,
        class: failure.class,
        message: failure.message,
        wait_ms: waitMs,
      }),
  }).finally(() => limit?.end());
  const ms = Math.round(context.clock.monotonicMs() - from);
  if (!reply.ok) {
    const { failure } = reply;
    context.outages.failed(resolved.models, failure);
    record(context, 'model.failed', { ...who, class: failure.class, message: failure.message, ms });
    return {
      kind: 'failed',
      problem: await modelProblem(context, failure, left, task),
      isTooLong: failure.class === 'context',
    };
  }
  context.outages.answered(reply.model);
  const message = assistant(context, reply.answer, reply.model, ms);
  const { provider } = reply.answer;
  const calls = message.toolCalls?.length ?? 0;
  // Recorded before the answer is written: it was paid for, even if an edit or a crash discards it.
  record(context, 'model.answered', {
    ...who,
    turn,
    calls,
    ...costFields(message.usage!),
    ...(reply.answer.unpriced ? { unpriced: true } : {}),
  });
  if (provider !== undefined) message.provider = await keptData(context, provider);
  // Calls must be durable before they run; a final answer becomes durable with the task's result.
  const written = await conversation.append([message], calls > 0);
  return { kind: written === 'edited' ? 'edited' : 'answered' };
}

function assistant(context: EngineContext, answer: ModelAnswer, model: string, ms: number): Message {
  const cut =
    answer.finish === 'length' && answer.toolCalls.length === 0 ? '\n\n[cut off at the output limit of the model]' : '';
  return defined({
    role: 'assistant',
    content: answer.text + cut,
    // Calls get new ids: a provider may use an id twice, and ours become file names.
    toolCalls:
      answer.toolCalls.length > 0
        ? answer.toolCalls.map((call) => ({ ...boundedCall(call), id: context.ids.next() }))
        : undefined,
    usage: defined({
      model,
      inputTokens: answer.inputTokens,
      outputTokens: answer.outputTokens,
      cachedTokens: answer.cachedTokens > 0 ? answer.cachedTokens : undefined,
      microUsd: answer.microUsd > 0 ? answer.microUsd : undefined,
      ms,
    }),
    timestamp: context.clock.now().toISOString(),
  });
}

/** Longer data would bury the text of a conversation, so it becomes a blob. */
const MAX_INLINE_DATA = 1000;

/** A blob is durable before the message that names it. */
async function keptData(context: EngineContext, data: ProviderData): Promise<ProviderData> {
  const { parts, ...rest } = data;
  if (parts === undefined || parts.length <= MAX_INLINE_DATA) return data;
  return { ...rest, blob: await context.blobs.put(parts) };
}

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

/** The tools are the same in every call; only the choice differs. */
function toolChoice(task: Task, agent: Agent, withTools: boolean): Pick<ModelRequest, 'toolChoice'> {
  if (!withTools) return { toolChoice: 'none' };
  const tool = requiredTool(task, agent);
  return tool === undefined ? {} : { toolChoice: { tool } };
}

/** The format for an agent that answers in text and declares its result. */
function formatOf(task: Task, { output }: Agent, { tools }: PromptHead): Pick<ModelRequest, 'format'> {
  const { answersInText, requiredTool: required, prompt } = roleFacts(task.role);
  const isFree = output === undefined || answersInText || required !== undefined || prompt !== undefined;
  return isFree || tools.some(({ name }) => name === 'final_report') ? {} : { format: output };
}
