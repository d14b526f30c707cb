/**
 * Executes one tool call: the gate judges it, then it runs, waits for the human, or is refused with
 * a reason that the model can read. Children and messages that follow from it are left to the
 * caller.
 */
import type { Agent } from '../../domain/agent/agent.js';
import type { Problem } from '../../domain/problem.js';
import type { ToolCall } from '../../domain/session/session.js';
import type { Placed, Task, WantedChild } from '../../domain/task/task.js';
import type { GateVerdict } from '../../ports/gate.js';
import { checkArgs } from '../../tools/core/args.js';
import type { Tool, ToolReply } from '../../tools/core/tool.js';
import { answerTo, approvalFor, approvalId } from '../approvals/request.js';
import { record, type EngineContext } from '../core/context.js';
import { grantedNames } from '../core/grants.js';
import { runTool } from './run-tool.js';

/** An action that a human must approve. `placed`: the approval as it was read, not ended. */
interface ApprovalReply {
  kind: 'approval';
  child: WantedChild;
  placed: Placed | undefined;
}

/** `allowed`: a human approved it; `ran`: its event is recorded. */
export type CallReply = (ToolReply | ApprovalReply) & { allowed?: boolean; ran?: boolean };

export async function executeCall(
  context: EngineContext,
  task: Task,
  agent: Agent,
  call: ToolCall,
  stop: AbortSignal,
): Promise<CallReply> {
  const tool = context.tools.get(call.name);
  if (tool === undefined || !grantedNames(agent, task, context.config.channels).includes(call.name))
    return noSuchTool(context, task, agent, call);
  if (call.fault !== undefined) return { kind: 'problem', code: 'over_limit', message: call.fault };
  const wrong = checkArgs(tool.parameters, call.arguments);
  if (wrong !== undefined) return { kind: 'problem', code: 'bad_field', message: wrong };
  const gate = context.gate.judge(agent, call.name, call.arguments);
  if (gate.verdict === 'deny') return { kind: 'problem', code: 'not_allowed', message: gate.reasons.join('; ') };
  if (gate.verdict === 'notify') {
    record(context, 'human.notified', {
      task: task.id,
      agent: agent.name,
      tool: call.name,
      cause: call.id,
      action: call.arguments,
      why: gate.reasons,
    });
  }
  if (gate.verdict !== 'ask') {
    return noted(await runTool(context, task, agent, call, tool, stop, { approved: false, ...planOf(gate) }));
  }
  const wanted = approvalFor(context, task, agent, call, gate);
  // Read once: the answer may come at any moment, and everything below follows from this one look.
  const placed = await context.tasks.read(wanted.id);
  const answer = answerTo(placed, wanted);
  if (answer.kind === 'open') return { kind: 'approval', child: wanted, placed };
  if (answer.kind === 'no') return { kind: 'problem', code: 'not_allowed', message: answer.message };
  return runApproved(context, task, agent, call, tool, stop, answer.edited);
}

/** Runs an approved action as the human left it, and tells the model what the human changed. */
async function runApproved(
  context: EngineContext,
  task: Task,
  agent: Agent,
  call: ToolCall,
  tool: Tool,
  stop: AbortSignal,
  edited: Record<string, unknown> | undefined,
): Promise<CallReply> {
  const action = edited === undefined ? call : { ...call, arguments: { ...call.arguments, ...edited } };
  // Judge the edited action too: an edit cannot lift a denial.
  const gate = context.gate.judge(agent, call.name, action.arguments);
  if (gate.verdict === 'deny') {
    const message = gate.reasons.join('; ');
    const id = approvalId(context, task, call);
    if (await context.effects.begin(id, 'denied', message))
      await context.effects.finish(id, { ok: false, code: 'not_allowed', text: message });
    return { kind: 'problem', code: 'not_allowed', message, allowed: true };
  }
  const permission = { approved: true, ...(gate.action ? { action: gate.action } : {}) };
  const reply = noted(await runTool(context, task, agent, action, tool, stop, permission));
  if (edited === undefined || reply.kind === 'ask' || reply.kind === 'approval') return { ...reply, allowed: true };
  const changes = Object.entries(edited).map(([name, value]) => {
    return `${name}: you asked for ${JSON.stringify(call.arguments[name])}, the human changed it to ${JSON.stringify(value)}`;
  });
  const note = `The human changed this action before approving it. ${changes.join('; ')}.\n\n`;
  if (reply.kind === 'problem') return { ...reply, message: note + reply.message, allowed: true };
  return { ...reply, text: note + reply.text, allowed: true };
}

/** How the call runs without a shell, if the gate knows. */
function planOf(gate: GateVerdict): Pick<GateVerdict, 'plan' | 'action'> {
  return { ...(gate.plan ? { plan: gate.plan } : {}), ...(gate.action ? { action: gate.action } : {}) };
}

function noSuchTool(context: EngineContext, task: Task, agent: Agent, call: ToolCall): ToolReply {
  const granted =
    grantedNames(agent, task, context.config.channels)
      .filter((name) => context.tools.has(name))
      .join(', ') || 'none';
  return {
    kind: 'problem',
    code: 'unknown_tool',
    message: `${agent.name} has no tool ${call.name}; its tools are: ${granted}`,
  };
}

function noted(reply: ToolReply): CallReply {
  return reply.kind === 'ask' || reply.kind === 'spawn' ? reply : { ...reply, ran: true };
}

export function asReply({ code, message }: Problem): Extract<CallReply, { kind: 'problem' }> {
  return { kind: 'problem', code, message };
}
