/**
 * What a call says to others: to another conversation, on a channel, or that a resource is free again. Everything carries the id of the call, so that
 * saying it twice is saying it once, and the name of the agent is stamped by us.
 */
import type { Agent } from '../../domain/agent/agent.js';
import { standing } from '../../domain/task/lineage.js';
import type { Problem } from '../../domain/problem.js';
import type { ToolCall } from '../../domain/session/session.js';
import type { Task } from '../../domain/task/task.js';
import { fence } from '../../rules/patterns/gather.js';
import type { ToolReply } from '../../tools/core/tool.js';
import type { Spoken } from './ask-child.js';
import { releaseResource } from '../core/locks.js';
import { publishNote } from '../core/notes.js';
import { asReply } from './execute-call.js';
import type { EngineContext } from '../core/context.js';

/** The reply itself, or why it could not be passed on. */
export async function passOn(
  context: EngineContext,
  task: Task,
  agent: Agent,
  call: ToolCall,
  reply: Spoken,
): Promise<Spoken> {
  if (reply.kind === 'tell') await tell(context, task, agent, call, reply);
  const refused =
    reply.kind === 'note'
      ? await say(context, task, agent, call, reply)
      : reply.kind === 'give_back'
        ? await releaseResource(context, task, reply.resource)
        : undefined;
  return refused === undefined ? reply : { ...asReply(refused), ran: true };
}

/** Stamped by us: who speaks is not the model's to say. */
async function tell(
  context: EngineContext,
  task: Task,
  agent: Agent,
  call: ToolCall,
  { task: target, message }: { task: string; message: string },
): Promise<void> {
  const text = `Message from ${agent.name} (${task.id}):\n\n${fence('message', agent.name, message, call.id)}`;
  const at = context.clock.now().toISOString();
  await context.intents.submit({ kind: 'tell', id: call.id, task: target, text, by: agent.name, at });
}

/** On a channel, in the name of the agent. */
async function say(
  context: EngineContext,
  task: Task,
  agent: Agent,
  call: ToolCall,
  { channel, message, priority }: Extract<ToolReply, { kind: 'note' }>,
): Promise<Problem | undefined> {
  const body = { type: 'said', text: message } as const;
  const { root } = standing(task);
  const about = { task: task.id, ...(root ? { root } : {}), ...(priority ? { priority } : {}) };
  const note = { id: call.id, channel, from: agent.name, ...about, body };
  const refused = await publishNote(context, note, { durable: true });
  if (refused === undefined) return undefined;
  const { message: why, hint } = refused;
  return { ...refused, message: hint === undefined ? why : `${why}; ${hint}` };
}
