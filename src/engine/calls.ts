/**
 * Carries out what a model asked for. Each call is judged first: it runs, waits for a human, or is refused with a reason the
 * model can read. It ends as a tool result, as a child somebody else must answer, or as the final answer.
 */
import type { Agent } from '../domain/agent.js';
import { problem, type Problem } from '../domain/problem.js';
import { childId } from '../domain/id.js';
import { standing } from '../domain/lineage.js';
import type { Message, ToolCall } from '../domain/session.js';
import type { GateVerdict } from '../ports/gate.js';
import type { Budget } from '../domain/budget.js';
import { HUMAN, isEnded, type Task, type WantedChild } from '../domain/task.js';
import { fence } from '../rules/gather.js';
import { overBudget, withBudget, type Purse } from '../rules/purse.js';
import { checkArgs } from '../tools/args.js';
import type { Tool, ToolReply } from '../tools/tool.js';
import { admitNeed } from './admit-need.js';
import { answerOf } from './answer-of.js';
import { approvalFor, verdictOn } from './approvals.js';
import { createChildren } from './create-children.js';
import { giveBack } from './give-back.js';
import { grantedNames } from './prompt.js';
import { tellNote } from './notes.js';
import { runTool } from './run-tool.js';
import { tooFast } from './pace.js';
import { record, type Parts } from './parts.js';
import { quoted } from './quoted.js';

export interface CallsDone {
  /** Results to append, in the order of the calls. */
  results: Message[];
  /** Children that must exist and end before the conversation goes on. */
  asked: WantedChild[];
  /** Something was done that a human had allowed: people who go step by step see it before the model goes on. */
  allowed: boolean;
  final?: string;
}

export async function carryOut(
  parts: Parts,
  task: Task,
  agent: Agent,
  calls: readonly ToolCall[],
  stop: AbortSignal,
  purse: Purse,
): Promise<CallsDone> {
  const done: CallsDone = { results: [], asked: [], allowed: false };
  let room = purse.left().toolCalls ?? Infinity;
  /** Children that this turn still asks for: each gets the same share. */
  let wave = calls.filter((call) => parts.tools.get(call.name)?.kind === 'ask').length;
  for (const call of calls) {
    const isAsk = parts.tools.get(call.name)?.kind === 'ask';
    const from = parts.clock.monotonicMs();
    let reply: Carried =
      room-- > 0
        ? await carryOutOne(parts, task, agent, call, stop)
        : asReply(overBudget('toolCalls', task, 'and this call was not made'));
    if (reply.allowed) done.allowed = true;
    if (reply.kind === 'ask' || reply.kind === 'spawn') {
      const child = await parts.store.read(reply.child.id);
      const admitted = child === undefined ? await admitNeed(parts, task, reply.child) : reply.child;
      const granted =
        'code' in admitted ? admitted : child === undefined ? grantFor(parts, task, admitted, purse, wave) : {};
      // What its open children hold comes back when they end: until then the call waits.
      const short = 'code' in granted && granted.code === 'over_budget' ? purse.short() : undefined;
      if (short !== undefined) {
        done.asked.push(...short.holders);
        if (isAsk) wave--;
        continue;
      }
      if (!('code' in admitted)) reply = { ...reply, child: admitted };
      if ('code' in granted) reply = asReply(granted);
      else if (reply.kind === 'spawn') await createChildren(parts, task, [withBudget(reply.child, granted)]);
      else if (child === undefined || !isEnded(child.state)) done.asked.push(withBudget(reply.child, granted));
      else {
        note(parts, task, agent, call, child.state === 'completed', 0);
        done.results.push(await result(parts, call, answerOf(child), child.state === 'failed'));
      }
    }
    if (isAsk) wave--;
    if (reply.kind === 'ask') continue;
    if (reply.kind === 'tell') await tell(parts, task, agent, call, reply);
    if (reply.kind === 'note') reply = (await say(parts, task, agent, call, reply)) ?? reply;
    if (reply.kind === 'give_back') {
      const refused = await giveBack(parts, task, reply.resource);
      if (refused !== undefined) reply = { kind: 'problem', code: refused.code, message: refused.message, ran: true };
    }
    if (reply.kind === 'final') done.final = reply.text;
    if (!reply.ran) note(parts, task, agent, call, reply.kind !== 'problem', parts.clock.monotonicMs() - from);
    done.results.push(await result(parts, call, textOf(reply), reply.kind === 'problem', reply.kind === 'final'));
  }
  return { ...done, asked: done.asked.filter(({ id }, at, all) => all.findIndex((one) => one.id === id) === at) };
}

/** Its share of what is left; why it cannot be asked for. */
function grantFor(parts: Parts, task: Task, child: WantedChild, purse: Purse, wave: number): Budget | Problem {
  // A question to the human is never too many.
  if (child.to !== HUMAN && parts.pace?.room(task) === 0)
    return problem('over_limit', tooFast(parts.config.limits.tasksPerMinute));
  return parts.waits?.refuse(task, child) ?? purse.grant(child, Math.max(1, wave), 1);
}

/** A call that led to a task, or was refused: a line of its own, as every call has. */
function note(parts: Parts, task: Task, agent: Agent, call: ToolCall, ok: boolean, ms: number): void {
  const { id, name: tool } = call;
  record(parts, 'tool.ran', {
    task: task.id,
    agent: agent.name,
    role: task.role,
    tool,
    cause: id,
    ok,
    ms: Math.round(ms),
  });
}

function noted(reply: ToolReply): Carried {
  return reply.kind === 'ask' || reply.kind === 'spawn' ? reply : { ...reply, ran: true };
}

function asReply({ code, message }: Problem): Carried {
  return { kind: 'problem', code, message };
}

/** Stamped by us: who speaks is not the model's to say. The intent carries the id of the call, so saying it twice is saying it once. */
async function tell(
  parts: Parts,
  task: Task,
  agent: Agent,
  call: ToolCall,
  { task: target, message }: { task: string; message: string },
): Promise<void> {
  const text = `Message from ${agent.name} (${task.id}):\n\n${fence('message', agent.name, message, call.id)}`;
  const at = parts.clock.now().toISOString();
  await parts.store.submit({ kind: 'tell', id: call.id, task: target, text, by: agent.name, at });
}

/** On a channel, in the name of the agent. The note carries the id of the call, so saying it twice is saying it once. */
async function say(
  parts: Parts,
  task: Task,
  agent: Agent,
  call: ToolCall,
  { channel, message, priority }: Extract<ToolReply, { kind: 'note' }>,
): Promise<(Extract<ToolReply, { kind: 'problem' }> & { ran: true }) | undefined> {
  const body = { type: 'said', text: message } as const;
  const { root } = standing(task);
  const about = { task: task.id, ...(root ? { root } : {}), ...(priority ? { priority } : {}) };
  const note = { id: call.id, channel, from: agent.name, ...about, body };
  const refused = await tellNote(parts, note, { durable: true });
  if (refused === undefined) return undefined;
  const { code, message: why, hint } = refused;
  return { kind: 'problem', code, message: hint === undefined ? why : `${why}; ${hint}`, ran: true };
}

/** `ran`: its line of history is written. */
type Carried = ToolReply & { allowed?: boolean; ran?: boolean };

async function carryOutOne(
  parts: Parts,
  task: Task,
  agent: Agent,
  call: ToolCall,
  stop: AbortSignal,
): Promise<Carried> {
  const tool = parts.tools.get(call.name);
  if (tool === undefined || !grantedNames(agent, task, parts.config.channels).includes(call.name))
    return noSuchTool(parts, task, agent, call);
  const wrong = checkArgs(tool.parameters, call.arguments);
  if (wrong !== undefined) return { kind: 'problem', code: 'bad_field', message: wrong };
  const gate = parts.gate?.judge(agent, call.name, call.arguments);
  if (gate?.verdict === 'deny') return { kind: 'problem', code: 'not_allowed', message: gate.reasons.join('; ') };
  if (gate?.verdict === 'notify') {
    record(parts, 'human.notified', {
      task: task.id,
      agent: agent.name,
      tool: call.name,
      cause: call.id,
      action: call.arguments,
      why: gate.reasons,
    });
  }
  if (gate?.verdict !== 'ask') {
    return noted(await runTool(parts, task, agent, call, tool, stop, { approved: false, ...planOf(gate) }));
  }
  const wanted = approvalFor(parts, task, agent, call, gate);
  const said = verdictOn(await parts.store.read(wanted.id), wanted);
  if (said.kind === 'open') return { kind: 'ask', child: wanted };
  if (said.kind === 'no') return { kind: 'problem', code: 'not_allowed', message: said.message };
  return runAllowed(parts, task, agent, call, tool, stop, said.edited);
}

/** What the human allowed runs as the human left it; the model is told what was changed. */
async function runAllowed(
  parts: Parts,
  task: Task,
  agent: Agent,
  call: ToolCall,
  tool: Tool,
  stop: AbortSignal,
  edited: Record<string, unknown> | undefined,
): Promise<Carried> {
  const action = edited === undefined ? call : { ...call, arguments: { ...call.arguments, ...edited } };
  // Judged once more, as it will run: what is never done is not done by an edit either.
  const gate = parts.gate?.judge(agent, call.name, action.arguments);
  if (gate?.verdict === 'deny') {
    const message = gate.reasons.join('; ');
    const id = childId(task.id, `call-${call.id}`);
    if (await parts.store.begin(id, 'denied', message))
      await parts.store.finish(id, { ok: false, text: `not_allowed: ${message}` });
    return { kind: 'problem', code: 'not_allowed', message, allowed: true };
  }
  const permission = { approved: true, ...(gate?.action ? { action: gate.action } : {}) };
  const reply = noted(await runTool(parts, task, agent, action, tool, stop, permission));
  if (edited === undefined || reply.kind === 'ask') return { ...reply, allowed: true };
  const changes = Object.entries(edited).map(([name, value]) => {
    return `${name}: you asked for ${JSON.stringify(call.arguments[name])}, the human made it ${JSON.stringify(value)}`;
  });
  const note = `The human changed this action before allowing it. ${changes.join('; ')}.\n\n`;
  if (reply.kind === 'problem') return { ...reply, message: note + reply.message, allowed: true };
  return { ...reply, text: note + reply.text, allowed: true };
}

/** How it runs without a shell, where the gate knows. */
function planOf(gate: GateVerdict | undefined): Pick<GateVerdict, 'plan' | 'action'> {
  return { ...(gate?.plan ? { plan: gate.plan } : {}), ...(gate?.action ? { action: gate.action } : {}) };
}

function noSuchTool(parts: Parts, task: Task, agent: Agent, call: ToolCall): ToolReply {
  const granted =
    grantedNames(agent, task, parts.config.channels)
      .filter((name) => parts.tools.has(name))
      .join(', ') || 'none';
  return {
    kind: 'problem',
    code: 'unknown_tool',
    message: `${agent.name} has no tool ${call.name}; its tools are: ${granted}`,
  };
}

function textOf(reply: Exclude<ToolReply, { kind: 'ask' }>): string {
  return reply.kind === 'problem' ? `${reply.code}: ${reply.message}` : reply.text;
}

async function result(parts: Parts, call: ToolCall, text: string, isError: boolean, final = false): Promise<Message> {
  return {
    role: 'tool',
    name: call.name,
    content: final ? text : await quoted(parts, text),
    toolCallId: call.id,
    ...(final ? { final } : {}),
    ...(isError ? { isError } : {}),
    timestamp: parts.clock.now().toISOString(),
  };
}
