/**
 * Executes the tool calls of one turn. Each call becomes a tool result, a child that another peer
 * must answer, or the final answer.
 */
import type { Agent } from '../../domain/agent/agent.js';
import { defined } from '../../domain/defined.js';
import { problem, type ProblemCode } from '../../domain/problem.js';
import { shownArgument, shownResult } from '../../domain/progress.js';
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
  /** Results to append, in the order of the calls. A deferred call has none yet. */
  results: Message[];
  /** Children that must end before the conversation continues. */
  asked: WantedChild[];
  /**
   * An approved action ran: the pass ends here so that people see it before the model continues.
   */
  allowed: boolean;
  /** A call ended the task. */
  isFinal: boolean;
}

export async function executeCalls(
  context: EngineContext,
  task: Task,
  agent: Agent,
  calls: readonly ToolCall[],
  stop: AbortSignal,
  remaining: RemainingBudget,
): Promise<CallsDone> {
  const done: CallsDone = { results: [], asked: [], allowed: false, isFinal: false };
  const isAsk = ({ name }: ToolCall): boolean => context.tools.get(name)?.kind === 'ask';
  /** Requests of this turn that are not on record yet. */
  let asking = 0;
  let isWaiting = false;
  let room = remaining.left().toolCalls ?? Infinity;
  let wave = calls.filter(isAsk).length;
  for (const [n, call] of calls.entries()) {
    const from = context.clock.monotonicMs();
    const now = { task: task.id, root: task.root, agent: agent.name, tool: call.name };
    context.watchers.progress({ ...now, kind: 'tool', argument: shownArgument(call.arguments) });
    const reply: CallReply =
      n >= context.config.limits.calls
        ? asReply(problem('over_limit', tooManyCalls(context.config.limits.calls)))
        : room-- > 0
          ? await executeCall(context, task, agent, call, stop, { asking, isWaiting })
          : asReply(overBudget('toolCalls', task, 'so this call was not made'));
    if (reply.kind === 'deferred') continue;
    if (reply.kind === 'approval') isWaiting = true;
    if (reply.allowed) done.allowed = true;
    if (reply.kind === 'approval' && reply.placed === undefined) asking++;
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
      context.watchers.progress({ ...now, kind: 'result', ok: !isError, ...shownResult(text) });
    } else {
      const sent = await send(context, task, agent, call, asked.reply);
      if (sent.kind === 'final') done.isFinal = true;
      const made = sent.kind !== 'problem' || sent.code !== 'over_budget';
      if (!sent.ran)
        note(context, task, agent, call, sent.kind !== 'problem', context.clock.monotonicMs() - from, made);
      const isSecret = sent.secret === true && sent.kind === 'text';
      const message = isSecret
        ? await privateResult(context, call, sent.text)
        : await result(context, call, textOf(sent), sent.kind === 'problem', sent.kind === 'final');
      if (sent.kind === 'text' && sent.kept) message.files = sent.kept;
      if (sent.kind === 'text' && sent.taint) message.taint = sent.taint;
      const shown = isSecret ? { line: '' } : shownResult(shownOf(sent));
      context.watchers.progress({ ...now, kind: 'result', ok: sent.kind !== 'problem', ...shown });
      const code = codeOf(sent);
      done.results.push(code === undefined ? message : { ...message, code });
    }
  }
  return { ...done, asked: done.asked.filter(({ id }, at, all) => all.findIndex((child) => child.id === id) === at) };
}

function tooManyCalls(limit: number): string {
  return `a turn may make ${limit} calls (limits.calls), so this one was not made; make it in the next turn`;
}

/**
 * The event of a call that led to a task or was refused. `made`: false if the budget did not cover
 * it.
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
    effect: ok && context.tools.get(tool)?.kind === 'effect' ? true : undefined,
    ms: Math.round(ms),
    made: made ? undefined : false,
  });
}

function codeOf(reply: Spoken): ProblemCode | undefined {
  if (reply.kind === 'problem') return reply.code;
  return reply.kind === 'final' && reply.success === false ? 'gave_up' : undefined;
}

function textOf(reply: Spoken): string {
  return reply.kind === 'problem' ? `${reply.code}: ${reply.message}` : reply.text;
}

/** For people: without the words that only the model needs. */
function shownOf(reply: Spoken): string {
  if (reply.kind === 'problem') return `${reply.code}: ${reply.shown ?? reply.message}`;
  return reply.kind === 'text' ? (reply.shown ?? reply.text) : reply.text;
}

/** The text stays on this machine; conversation and history name only its hash. */
async function privateResult(context: EngineContext, call: ToolCall, text: string): Promise<Message> {
  const hash = await context.privateTexts.put(text);
  const note = 'This result may contain a secret. It is kept in .guild/private on the machine that read it.';
  return { ...(await result(context, call, note, false)), private: hash };
}

async function result(
  context: EngineContext,
  call: ToolCall,
  text: string,
  isError: boolean,
  final = false,
): Promise<Message> {
  return defined({
    role: 'tool',
    name: call.name,
    content: final ? text : await quoted(context, text),
    toolCallId: call.id,
    final: final || undefined,
    isError: isError || undefined,
    timestamp: context.clock.now().toISOString(),
  });
}
