/**
 * Carries out what a model asked for. Each call ends as a tool result, as a child somebody else must answer, or as the
 * final answer. Around an effect an intent is kept before it and an outcome after it; after a crash an intent without an
 * outcome is never silently repeated, it is told to the model as what it is.
 */
import type { Agent } from '../domain/agent.js';
import { childId, hash53 } from '../domain/id.js';
import type { ProblemCode } from '../domain/problem.js';
import type { Message, ToolCall } from '../domain/session.js';
import { isEnded, type Task, type WantedChild } from '../domain/task.js';
import { checkArgs } from '../tools/args.js';
import type { Tool, ToolReply } from '../tools/tool.js';
import { answerOf } from './answer-of.js';
import { record, type Parts } from './parts.js';

export interface CallsDone {
  /** Results to append, in the order of the calls. */
  results: Message[];
  /** Children that must exist and end before the conversation goes on. */
  asked: WantedChild[];
  final?: string;
}

export async function carryOut(parts: Parts, task: Task, agent: Agent, calls: readonly ToolCall[]): Promise<CallsDone> {
  const done: CallsDone = { results: [], asked: [] };
  for (const call of calls) {
    const reply = await runOne(parts, task, agent, call);
    if (reply.kind === 'ask') {
      const child = await parts.store.read(reply.child.id);
      if (child === undefined || !isEnded(child.state)) done.asked.push(reply.child);
      else done.results.push(await result(parts, call, answerOf(child), child.state === 'failed'));
      continue;
    }
    if (reply.kind === 'final') done.final = reply.text;
    const text =
      reply.kind === 'problem' ? `${reply.code}: ${reply.message}` : reply.kind === 'final' ? 'Accepted.' : reply.text;
    done.results.push(await result(parts, call, text, reply.kind === 'problem'));
  }
  return done;
}

async function runOne(parts: Parts, task: Task, agent: Agent, call: ToolCall): Promise<ToolReply> {
  const tool = parts.tools.get(call.name);
  if (tool === undefined || !agent.tools.includes(call.name)) {
    const granted = agent.tools.filter((name) => parts.tools.has(name)).join(', ') || 'none';
    return {
      kind: 'problem',
      code: 'unknown_tool',
      message: `${agent.name} has no tool ${call.name}; its tools are: ${granted}`,
    };
  }
  const wrong = checkArgs(tool.parameters, call.arguments);
  if (wrong !== undefined) return { kind: 'problem', code: 'bad_field', message: wrong };
  const from = parts.clock.monotonicMs();
  const reply =
    tool.kind === 'effect'
      ? await runOnce(parts, task, agent, call, tool)
      : await guarded(parts, task, agent, call, tool);
  // What an ask leads to is told by the task it makes; it is looked at again each time that one may have ended.
  if (tool.kind === 'ask' && reply.kind === 'ask') return reply;
  record(parts, 'tool.ran', {
    task: task.id,
    agent: agent.name,
    tool: call.name,
    cause: call.id,
    ok: reply.kind !== 'problem',
    ms: Math.round(parts.clock.monotonicMs() - from),
  });
  return reply;
}

/** At most once: whoever finds the intent there does not act. */
async function runOnce(parts: Parts, task: Task, agent: Agent, call: ToolCall, tool: Tool): Promise<ToolReply> {
  const id = childId(task.id, `call-${call.id}`);
  const digest = hash53(JSON.stringify([call.name, call.arguments]));
  const before = parts.store.effect(id);
  if (before.state === 'done') return asReply(before.outcome);
  if (before.state === 'started' || !(await parts.store.begin(id, digest, `${call.name} by ${agent.name}`))) {
    return {
      kind: 'problem',
      code: 'unknown_outcome',
      message: `${call.name} was begun before an interruption and may or may not have taken effect; look before you try again`,
    };
  }
  const reply = await guarded(parts, task, agent, call, tool);
  const text = reply.kind === 'text' ? reply.text : reply.kind === 'problem' ? `${reply.code}: ${reply.message}` : '';
  await parts.store.finish(id, { ok: reply.kind === 'text', text });
  return reply;
}

function asReply(outcome: { ok: boolean; text: string }): ToolReply {
  if (outcome.ok) return { kind: 'text', text: outcome.text };
  const [, code, message] = /^(\w+): ([\s\S]*)$/.exec(outcome.text) ?? [undefined, 'tool_failed', outcome.text];
  return { kind: 'problem', code: code as ProblemCode, message: message! };
}

async function guarded(parts: Parts, task: Task, agent: Agent, call: ToolCall, tool: Tool): Promise<ToolReply> {
  const context = { agent, task, callId: call.id, folder: parts.folder, agents: parts.agents.all() };
  try {
    return await tool.run(call.arguments, context);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    // A failing disk is not the model's business: the task stops where it is and is taken up again when the disk is mended.
    if (code !== undefined && DISK_FAILURES.has(code)) throw error;
    return { kind: 'problem', code: 'tool_failed', message: message ?? String(error) };
  }
}

const DISK_FAILURES = new Set(['ENOSPC', 'EIO', 'EROFS', 'EMFILE', 'ENFILE', 'EDQUOT']);

async function result(parts: Parts, call: ToolCall, text: string, isError: boolean): Promise<Message> {
  return {
    role: 'tool',
    name: call.name,
    content: await quoted(parts, text),
    toolCallId: call.id,
    ...(isError ? { isError } : {}),
    timestamp: parts.clock.now().toISOString(),
  };
}

/** A long result is kept whole under its hash; the conversation has its head and tail and says where the rest is. */
async function quoted(parts: Parts, text: string): Promise<string> {
  const limit = parts.config.limits.maxResultBytes;
  if (text.length <= limit && Buffer.byteLength(text) <= limit) return text;
  const hash = await parts.store.putBlob(text);
  const part = Math.floor(limit / 4);
  const lines = text.split('\n').length;
  const note = `[… cut: ${text.length} characters, ${lines} lines in all; the whole text is storage/blobs/${hash} …]`;
  return `${text.slice(0, part)}\n${note}\n${text.slice(-part)}`;
}
