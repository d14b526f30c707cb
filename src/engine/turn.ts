/** One turn: one model call, and its answer made durable. */
import { problem, type Problem } from '../domain/problem.js';
import type { Budget } from '../domain/budget.js';
import type { Message } from '../domain/session.js';
import type { Task } from '../domain/task.js';
import type { Usage } from '../domain/usage.js';
import type { ModelSettings } from '../domain/agent.js';
import type { ModelAnswer, ModelFailure } from '../ports/model.js';
import { askModel } from './ask-model.js';
import type { Conversation } from './conversation.js';
import { record, type Parts } from './parts.js';
import { grantedTools, systemPrompt } from './prompt.js';

export type Turn = { kind: 'answered' } | { kind: 'edited' } | { kind: 'failed'; problem: Problem };

interface TurnOptions {
  stop: AbortSignal;
  withTools: boolean;
  budget: Budget;
  usage: Usage;
  shown: readonly Message[];
}

export async function takeTurn(
  parts: Parts,
  task: Task,
  talk: Conversation,
  resolved: { models: string[]; settings: ModelSettings },
  { stop, withTools, budget, usage, shown }: TurnOptions,
): Promise<Turn> {
  const { agent } = talk;
  const from = parts.clock.monotonicMs();
  const reply = await askModel({
    model: parts.model,
    models: resolved.models,
    timeouts: parts.config.timeouts,
    clock: parts.clock,
    request: {
      system: systemPrompt(parts, agent, task),
      messages: shown,
      tools: withTools ? grantedTools(parts, agent, task) : [],
      settings: resolved.settings,
      agent: agent.name,
      task: task.id,
      turn: usage.turns + 1,
      signal: within(stop, budget, usage),
      onText: (text) => parts.watchers?.text?.(task, agent.name, text),
    },
    onRetry: (failure, model, waitMs) =>
      record(parts, 'model.failed', {
        task: task.id,
        agent: agent.name,
        model,
        class: failure.class,
        message: failure.message,
        waitMs,
      }),
  });
  const ms = Math.round(parts.clock.monotonicMs() - from);
  if (!reply.ok) {
    const { failure } = reply;
    record(parts, 'model.failed', { task: task.id, agent: agent.name, class: failure.class, message: failure.message });
    return { kind: 'failed', problem: modelProblem(failure, budget, task) };
  }
  const message = assistant(parts, reply.answer, reply.model, ms);
  const hasCalls = (message.toolCalls ?? []).length > 0;
  // An answer that ends the task becomes durable together with the task; one with calls must be durable before they run.
  const written = await talk.append([message], hasCalls);
  if (written === 'edited') return { kind: 'edited' };
  const { usage: cost } = message;
  record(parts, 'model.answered', {
    task: task.id,
    agent: agent.name,
    turn: usage.turns + 1,
    calls: message.toolCalls?.length ?? 0,
    ...cost,
  });
  return { kind: 'answered' };
}

function assistant(parts: Parts, answer: ModelAnswer, model: string, ms: number): Message {
  const cut =
    answer.finish === 'length' && answer.toolCalls.length === 0 ? '\n\n[cut off at the output limit of the model]' : '';
  return {
    role: 'assistant',
    content: answer.text + cut,
    // Calls get names of our own: a provider may use the same one twice, and ours become file names.
    ...(answer.toolCalls.length > 0
      ? { toolCalls: answer.toolCalls.map((call) => ({ ...call, id: parts.ids.next() })) }
      : {}),
    usage: {
      model,
      inputTokens: answer.inputTokens,
      outputTokens: answer.outputTokens,
      ...(answer.cachedTokens > 0 ? { cachedTokens: answer.cachedTokens } : {}),
      ...(answer.microUsd > 0 ? { microUsd: answer.microUsd } : {}),
      ms,
    },
    timestamp: parts.clock.now().toISOString(),
  };
}

/** The call ends when the task is stopped, and when its time is used up. */
function within(stop: AbortSignal, budget: Budget, usage: Usage): AbortSignal {
  if (budget.timeMs === undefined) return stop;
  return AbortSignal.any([stop, AbortSignal.timeout(Math.max(1, budget.timeMs - usage.busyMs))]);
}

function modelProblem(failure: ModelFailure, budget: Budget, task: Task): Problem {
  if (failure.class === 'aborted' && budget.timeMs !== undefined) {
    return problem('timed_out', `no answer within the ${budget.timeMs} ms this task has`);
  }
  return problem('model_failed', failure.message, { hint: `when that is mended: guild task retry ${task.root}` });
}
