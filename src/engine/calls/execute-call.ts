/**
 * Executes one tool call: the gate judges it, then it runs, waits for the human, or is refused with
 * a reason that the model can read. Children and messages that follow from it are left to the
 * caller.
 */
import type { Agent } from '../../domain/agent/agent.js';
import { defined } from '../../domain/defined.js';
import { problem, type Problem } from '../../domain/problem.js';
import type { ToolCall } from '../../domain/session/session.js';
import type { ApprovalRequest } from '../../domain/task/approval.js';
import { taintIn } from '../../domain/task/taint.js';
import type { Task } from '../../domain/task/task.js';
import type { GateVerdict } from '../../ports/gate.js';
import { checkArgs } from '../../tools/core/args.js';
import type { Tool } from '../../tools/core/tool.js';
import { openApprovals } from '../approvals/ballot-view.js';
import { approvalFor, approvalId, boundNow, consult, requestIn } from '../approvals/request.js';
import { record, type EngineContext } from '../core/context.js';
import { grantedNames } from '../core/grants.js';
import type { RanReply } from './call-questions.js';
import { runTool, type Permission } from './run-tool.js';

/** An effect that waits behind an earlier call of the same turn. It has no result yet. */
interface DeferredReply {
  kind: 'deferred';
}

/** `allowed`: a human approved it; `ran`: its event is recorded; `secret`: keep it private. */
export type CallReply = (RanReply | DeferredReply) & {
  allowed?: boolean;
  ran?: boolean;
  secret?: boolean;
};

/** Earlier calls of the same turn. */
interface Before {
  /** Requests that are not on record yet. */
  asking: number;
  /** An earlier call waits for the human, so no effect may run now. */
  isWaiting: boolean;
}

export async function executeCall(
  context: EngineContext,
  task: Task,
  agent: Agent,
  call: ToolCall,
  stop: AbortSignal,
  before: Before,
): Promise<CallReply> {
  const tool = context.tools.get(call.name);
  if (tool === undefined || !grantedNames(agent, task, context.config.channels).includes(call.name))
    return noSuchTool(context, task, agent, call);
  if (call.fault !== undefined) return { kind: 'problem', code: 'over_limit', message: call.fault };
  const large = tooLarge(call, context.config.limits.argumentBytes);
  if (large !== undefined) return { kind: 'problem', code: 'over_limit', message: large };
  const wrong = checkArgs(tool.checked ?? tool.parameters, call.arguments);
  if (wrong !== undefined) return { kind: 'problem', code: 'bad_field', message: wrong };
  const gate = outwardGate(context, task, tool, context.gate.judge(agent, call.name, call.arguments));
  if (gate.verdict === 'deny') return { kind: 'problem', code: 'not_allowed', message: gate.reasons.join('; ') };
  const refused = refusalOf(context, call, gate);
  if (refused !== undefined) return refuseCommand(context, task, call, refused);
  if (gate.verdict !== 'ask' && before.isWaiting && tool.kind === 'effect') return { kind: 'deferred' };
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
    // “Always” adds the rule before the action runs; the action still runs as it was approved.
    const approved = gate.uses === undefined ? undefined : await approvedBefore(context, task, agent, call, gate);
    if (approved !== undefined) return runApproved(context, task, agent, call, tool, stop, approved);
    return noted(await runTool(context, task, agent, call, tool, stop, { approved: false, ...planOf(gate) }));
  }
  const bound = await boundNow(context, call, gate);
  const wanted = approvalFor(context, task, agent, call, gate, { bound });
  // Read once: the answer may come at any moment, and everything below follows from this one look.
  const { child, placed, answer } = await consult(context, wanted);
  const hasBegun = async (): Promise<boolean> => (await context.effects.get(wanted.id)).state !== 'none';
  if (answer.kind === 'open') {
    // The call may itself have changed a file that its answer is bound to, so the human is not
    // asked again.
    if (placed === undefined && (await hasBegun()))
      return runApproved(context, task, agent, call, tool, stop, { request: requestIn(wanted) });
    const full = placed === undefined ? tooManyOpen(context, agent, before.asking) : undefined;
    return full ?? { kind: 'approval', child, placed };
  }
  if (answer.kind === 'no') return { kind: 'problem', code: 'not_allowed', message: answer.message };
  if (before.isWaiting && tool.kind === 'effect' && !(await hasBegun())) return { kind: 'deferred' };
  return runApproved(context, task, agent, call, tool, stop, answer);
}

/** The human's yes to exactly this call, from before a rule allowed it. */
async function approvedBefore(
  context: EngineContext,
  task: Task,
  agent: Agent,
  call: ToolCall,
  gate: GateVerdict,
): Promise<{ edited?: Record<string, unknown>; request: ApprovalRequest } | undefined> {
  if ((await context.tasks.read(approvalId(context, task, call))) === undefined) return undefined;
  const wanted = approvalFor(context, task, agent, call, gate, { bound: await boundNow(context, call, gate) });
  const { answer } = await consult(context, wanted);
  return answer.kind === 'yes' ? answer : undefined;
}

/** Text from outside must not carry private data out: a person first sees what would leave. */
function outwardGate(context: EngineContext, task: Task, tool: Tool, gate: GateVerdict): GateVerdict {
  const taint = taintIn(task);
  const isFree = tool.outward !== true || taint.length === 0 || context.config.allowOutward.includes(tool.name);
  if (isFree || gate.verdict === 'ask' || gate.verdict === 'deny') return gate;
  const reason = `it sends data out, and ${taint.join(', ')} has influenced this task`;
  return { ...gate, verdict: 'ask', reasons: [reason, ...gate.reasons] };
}

/** Why no command runs at present; undefined for any other call. */
function refusalOf(context: EngineContext, call: ToolCall, gate: GateVerdict): string | undefined {
  return call.name === 'execute_command' && gate.action === undefined ? context.shell.refusal() : undefined;
}

/** Reported to people too: a sandbox that has disappeared is a fault, not a setting. */
async function refuseCommand(context: EngineContext, task: Task, call: ToolCall, message: string): Promise<CallReply> {
  const hint = 'guild doctor says why; `sandbox: preferred` in guild.yaml lets commands ask instead';
  if (!context.faults.has(message)) {
    context.faults.add(message);
    context.watchers.problem(problem('not_allowed', message, { hint }));
  }
  await endUnrun(context, approvalId(context, task, call), message);
  return { kind: 'problem', code: 'not_allowed', message };
}

/** Records the outcome of an action that was approved and is refused after all. */
async function endUnrun(context: EngineContext, effect: string, message: string): Promise<void> {
  if (await context.effects.begin(effect, 'denied', message))
    await context.effects.finish(effect, { ok: false, code: 'not_allowed', text: message });
}

function tooLarge(call: ToolCall, limit: number): string | undefined {
  const bytes = Buffer.byteLength(JSON.stringify(call.arguments));
  if (bytes <= limit) return undefined;
  return `the arguments of this call have ${bytes} bytes; the limit is ${limit} (limits.argument_bytes); do it in smaller parts`;
}

/** A person cannot judge a flood of requests, and must not overlook one among hundreds. */
function tooManyOpen(context: EngineContext, agent: Agent, asking: number): CallReply | undefined {
  const { requests } = context.config.limits;
  const open = openApprovals(context).filter(({ request }) => request.agent === agent.name);
  const all = open.length + asking;
  if (all < requests) return undefined;
  const message = `${all} requests of ${agent.name} already wait for the human (limits.requests); ask again when they are answered`;
  return { kind: 'problem', code: 'over_limit', message };
}

/** Runs an approved action with the human's edits, and tells the model about them. */
async function runApproved(
  context: EngineContext,
  task: Task,
  agent: Agent,
  call: ToolCall,
  tool: Tool,
  stop: AbortSignal,
  { edited, request }: { edited?: Record<string, unknown>; request: ApprovalRequest },
): Promise<CallReply> {
  const action = edited === undefined ? call : { ...call, arguments: { ...call.arguments, ...edited } };
  // Judge the edited action too: an edit cannot lift a denial.
  const gate = context.gate.judge(agent, call.name, action.arguments);
  if (gate.verdict === 'deny') {
    const message = gate.reasons.join('; ');
    await endUnrun(context, approvalId(context, task, call), message);
    return { kind: 'problem', code: 'not_allowed', message, allowed: true };
  }
  const { base, walls } = request;
  const permission = defined<Permission>({ approved: true, action: gate.action, base, walls, isSecret: gate.secret });
  const secret = gate.secret ? { secret: true } : {};
  const reply = { ...noted(await runTool(context, task, agent, action, tool, stop, permission)), ...secret };
  if (edited === undefined || !('text' in reply || reply.kind === 'problem')) return { ...reply, allowed: true };
  const changes = Object.entries(edited).map(([name, value]) => {
    return `${name}: you asked for ${JSON.stringify(call.arguments[name])}, the human changed it to ${JSON.stringify(value)}`;
  });
  const note = `The human changed this action before approving it. ${changes.join('; ')}.\n\n`;
  if (reply.kind === 'problem') return { ...reply, message: note + reply.message, allowed: true };
  return { ...reply, text: note + reply.text, allowed: true };
}

/** How the call runs without a shell, if the gate knows. */
function planOf(gate: GateVerdict): Pick<GateVerdict, 'plan' | 'action'> {
  return defined({ plan: gate.plan, action: gate.action });
}

function noSuchTool(context: EngineContext, task: Task, agent: Agent, call: ToolCall): CallReply {
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

function noted(reply: RanReply): CallReply {
  const isOpen = reply.kind === 'ask' || reply.kind === 'spawn' || reply.kind === 'approval';
  return isOpen ? reply : { ...reply, ran: true };
}

export function asReply({ code, message }: Problem): Extract<CallReply, { kind: 'problem' }> {
  return { kind: 'problem', code, message };
}
