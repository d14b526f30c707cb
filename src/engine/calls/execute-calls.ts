/**
 * Executes the tool calls of one turn. Each call becomes a tool result, a child that another peer
 * must answer, or the final answer.
 */
import type { Agent } from '../../domain/agent/agent.js';
import type { Message, ToolCall } from '../../domain/session/session.js';
import type { Task, WantedChild } from '../../domain/task/task.js';
import { overBudget, type RemainingBudget } from '../../rules/budget/remaining.js';
import { childResult } from './child-result.js';
import { askChild, type Asked, type Spoken } from './ask-child.js';
import { asReply, executeCall, type CallReply } from './execute-call.js';
import { record, type EngineContext } from '../core/context.js';
import { send } from './send.js';
import { quoted } from '../core/quote.js';

interface CallsDone {
  /** Results to append, in the order of the calls. */
  results: Message[];
  /** Children that must end before the conversation continues. */
  asked: WantedChild[];
  /**
   * An approved action ran: the pass ends here so that people see it before the model continues.
   */
  allowed: boolean;
  final?: string;
}

export async function executeCalls(
  context: EngineContext,
  task: Task,
  agent: Agent,
  calls: readonly ToolCall[],
  stop: AbortSignal,
  remaining: RemainingBudget,
): Promise<CallsDone> {
  const done: CallsDone = { results: [], asked: [], allowed: false };
  const isAsk = ({ name }: ToolCall): boolean => context.tools.get(name)?.kind === 'ask';
  let room = remaining.left().toolCalls ?? Infinity;
  let wave = calls.filter(isAsk).length;
  for (const call of calls) {
    const from = context.clock.monotonicMs();
    const reply: CallReply =
      room-- > 0
        ? await executeCall(context, task, agent, call, stop)
        : asReply(overBudget('toolCalls', task, 'so this call was not made'));
    if (reply.allowed) done.allowed = true;
    const asked: Asked =
      reply.kind === 'ask' || reply.kind === 'spawn' || reply.kind === 'approval'
        ? await askChild(context, task, reply, remaining, wave)
        : { kind: 'spoken', reply };
    if (isAsk(call)) wave--;
    if (asked.kind === 'wait') done.asked.push(...asked.children);
    else if (asked.kind === 'answered') {
      const { text, isError, ...more } = childResult(asked.child);
      note(context, task, agent, call, !isError, 0);
      done.results.push({ ...(await result(context, call, text, isError)), ...more });
    } else {
      const sent = await send(context, task, agent, call, asked.reply);
      if (sent.kind === 'final') done.final = sent.text;
      const made = sent.kind !== 'problem' || sent.code !== 'over_budget';
      if (!sent.ran)
        note(context, task, agent, call, sent.kind !== 'problem', context.clock.monotonicMs() - from, made);
      const message = await result(context, call, textOf(sent), sent.kind === 'problem', sent.kind === 'final');
      done.results.push(sent.kind === 'problem' ? { ...message, code: sent.code } : message);
    }
  }
  return { ...done, asked: done.asked.filter(({ id }, at, all) => all.findIndex((child) => child.id === id) === at) };
}

/**
 * The event of a call that led to a task or was refused. `made`: false if the budget had no room
 * for it.
 */
function note(
  context: EngineContext,
  task: Task,
  agent: Agent,
  call: ToolCall,
  ok: boolean,
  ms: number,
  made = true,
): void {
  const { id, name: tool } = call;
  record(context, 'tool.ran', {
    task: task.id,
    agent: agent.name,
    role: task.role,
    tool,
    cause: id,
    ok,
    ...(ok && context.tools.get(tool)?.kind === 'effect' ? { effect: true } : {}),
    ms: Math.round(ms),
    ...(made ? {} : { made }),
  });
}

function textOf(reply: Spoken): string {
  return reply.kind === 'problem' ? `${reply.code}: ${reply.message}` : reply.text;
}

async function result(
  context: EngineContext,
  call: ToolCall,
  text: string,
  isError: boolean,
  final = false,
): Promise<Message> {
  return {
    role: 'tool',
    name: call.name,
    content: final ? text : await quoted(context, text),
    toolCallId: call.id,
    ...(final ? { final } : {}),
    ...(isError ? { isError } : {}),
    timestamp: context.clock.now().toISOString(),
  };
}
