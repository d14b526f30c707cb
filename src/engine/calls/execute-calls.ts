/**
 * Carries out what a model asked for in one turn. Each call ends as a tool result, as a child somebody else must answer, or as the final
 * answer.
 */
import type { Agent } from '../../domain/agent/agent.js';
import type { Message, ToolCall } from '../../domain/session/session.js';
import type { Task, WantedChild } from '../../domain/task/task.js';
import { overBudget, type Purse } from '../../rules/budget/remaining.js';
import { answerOf } from './child-result.js';
import { askChild, type Asked, type Spoken } from './ask-child.js';
import { asReply, carryOutOne, type Carried } from './execute-call.js';
import { record, type EngineContext } from '../core/context.js';
import { passOn } from './send.js';
import { quoted } from '../core/quote.js';

interface CallsDone {
  /** Results to append, in the order of the calls. */
  results: Message[];
  /** Children that must exist and end before the conversation goes on. */
  asked: WantedChild[];
  /** Something was done that a human had allowed: people who go step by step see it before the model goes on. */
  allowed: boolean;
  final?: string;
}

export async function carryOut(
  context: EngineContext,
  task: Task,
  agent: Agent,
  calls: readonly ToolCall[],
  stop: AbortSignal,
  purse: Purse,
): Promise<CallsDone> {
  const done: CallsDone = { results: [], asked: [], allowed: false };
  const isAsk = ({ name }: ToolCall): boolean => context.tools.get(name)?.kind === 'ask';
  let room = purse.left().toolCalls ?? Infinity;
  let wave = calls.filter(isAsk).length;
  for (const call of calls) {
    const from = context.clock.monotonicMs();
    const reply: Carried =
      room-- > 0
        ? await carryOutOne(context, task, agent, call, stop)
        : asReply(overBudget('toolCalls', task, 'and this call was not made'));
    if (reply.allowed) done.allowed = true;
    const asked: Asked =
      reply.kind === 'ask' || reply.kind === 'spawn'
        ? await askChild(context, task, reply, purse, wave)
        : { kind: 'spoken', reply };
    if (isAsk(call)) wave--;
    if (asked.kind === 'wait') done.asked.push(...asked.children);
    else if (asked.kind === 'answered') {
      const { state } = asked.child;
      note(context, task, agent, call, state === 'completed', 0);
      const { text, ...more } = answerOf(asked.child);
      done.results.push({ ...(await result(context, call, text, state === 'failed')), ...more });
    } else {
      const said = await passOn(context, task, agent, call, asked.reply);
      if (said.kind === 'final') done.final = said.text;
      const made = said.kind !== 'problem' || said.code !== 'over_budget';
      if (!said.ran)
        note(context, task, agent, call, said.kind !== 'problem', context.clock.monotonicMs() - from, made);
      const message = await result(context, call, textOf(said), said.kind === 'problem', said.kind === 'final');
      done.results.push(said.kind === 'problem' ? { ...message, code: said.code } : message);
    }
  }
  return { ...done, asked: done.asked.filter(({ id }, at, all) => all.findIndex((one) => one.id === id) === at) };
}

/** A call that led to a task, or was refused: a line of its own, as every call has. One that no budget had room for was not made, and is not counted. */
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
