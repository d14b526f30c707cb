/**
 * Delivers what a call addresses to others: a message to a conversation, a note on a channel, a
 * task for another agent, or the release of a resource. Each carries the id of the call, so a
 * repetition has no effect. The engine stamps the sender.
 */
import type { Agent } from '../../domain/agent/agent.js';
import { defined } from '../../domain/defined.js';
import { sessionId } from '../../domain/session/session-id.js';
import { lineageFields } from '../../domain/task/lineage.js';
import { problem, type Problem } from '../../domain/problem.js';
import type { ToolCall } from '../../domain/session/session.js';
import { taintIn } from '../../domain/task/taint.js';
import type { Task } from '../../domain/task/task.js';
import { fence } from '../../rules/patterns/gather.js';
import { assignProblem } from '../../rules/scheduling/assign.js';
import type { ToolReply } from '../../tools/core/tool.js';
import type { Spoken } from './ask-child.js';
import { releaseResource } from '../core/locks.js';
import { publishNote } from '../core/notes.js';
import { asReply } from './execute-call.js';
import type { EngineContext } from '../core/context.js';

/** Returns the reply, or the problem if it could not be delivered. */
export async function send(
  context: EngineContext,
  task: Task,
  agent: Agent,
  call: ToolCall,
  reply: Spoken,
): Promise<Spoken> {
  const refused = await delivered(context, task, agent, call, reply);
  return refused === undefined ? reply : { ...asReply(refused), ran: true };
}

async function delivered(
  context: EngineContext,
  task: Task,
  agent: Agent,
  call: ToolCall,
  reply: Spoken,
): Promise<Problem | undefined> {
  switch (reply.kind) {
    case 'tell':
      await tell(context, task, agent, call, reply);
      return undefined;
    case 'note':
      return publish(context, task, agent, call, reply);
    case 'assign':
      return assign(context, task, agent, call, reply);
    case 'give_back':
      return releaseResource(context, task, reply.resource);
    default:
      return undefined;
  }
}

/** An agent may reassign only tasks under its own root. */
async function assign(
  context: EngineContext,
  own: Task,
  agent: Agent,
  { id }: ToolCall,
  { task, to }: { task: string; to: string },
): Promise<Problem | undefined> {
  const { root } = own;
  const target = await context.tasks.read(task);
  // A call that is repeated after a crash has already been carried out.
  if (target?.task.root === root && target.task.to === to) return undefined;
  const wrong =
    target !== undefined && target.task.root !== root
      ? problem('not_allowed', `${task} does not belong to the goal of your task`)
      : assignProblem(task, target, to, context.agents.all().keys());
  if (wrong !== undefined) return wrong;
  const at = context.clock.now().toISOString();
  await context.intents.submit({ kind: 'assign', id, task, to, by: agent.name, at, ...taintField(own) });
  return undefined;
}

/** The engine stamps the sender: a model cannot speak for another agent. */
async function tell(
  context: EngineContext,
  task: Task,
  agent: Agent,
  call: ToolCall,
  { task: target, message }: { task: string; message: string },
): Promise<void> {
  const text = `Message from ${agent.name} (session ${sessionId(task, agent)}, task ${task.id}):\n\n${fence('message', agent.name, message, call.id)}`;
  const at = context.clock.now().toISOString();
  const told = { kind: 'tell', id: call.id, task: target, text, by: agent.name, at } as const;
  await context.intents.submit({ ...told, ...taintField(task) });
}

function taintField(task: Task): { taint?: string[] } {
  const taint = taintIn(task);
  return taint.length === 0 ? {} : { taint };
}

/** Publishes a note in the agent's name. */
async function publish(
  context: EngineContext,
  task: Task,
  agent: Agent,
  call: ToolCall,
  { channel, message, priority }: Extract<ToolReply, { kind: 'note' }>,
): Promise<Problem | undefined> {
  const body = { type: 'said', text: message } as const;
  const { root } = lineageFields(task);
  const about = defined({ task: task.id, root, priority });
  const note = { id: call.id, channel, from: agent.name, ...about, ...taintField(task), body };
  const refused = await publishNote(context, note, { durable: true });
  if (refused === undefined) return undefined;
  const { message: why, hint } = refused;
  return { ...refused, message: hint === undefined ? why : `${why}; ${hint}` };
}
