/**
 * Turns a call that needs the human into a task that holds the exact action and its digest, and
 * reads the answer. Silence is never consent, and no agent can answer.
 */
import { createHash } from 'node:crypto';
import type { Agent } from '../../domain/agent/agent.js';
import { sessionId } from '../../domain/session/session-id.js';
import type { ToolCall } from '../../domain/session/session.js';
import { APPROVAL_ROLE, approvalOf, mainArgument, type ApprovalRequest } from '../../domain/task/approval.js';
import { childId } from '../../domain/task/id.js';
import { taintIn } from '../../domain/task/taint.js';
import { HUMAN, isEnded, type Placed, type Task, type WantedChild } from '../../domain/task/task.js';
import type { GateVerdict } from '../../ports/gate.js';
import { errorText } from '../../rules/patterns/gather.js';
import type { EngineContext } from '../core/context.js';

export function approvalFor(
  context: EngineContext,
  task: Task,
  agent: Agent,
  call: ToolCall,
  gate: GateVerdict,
): WantedChild {
  const request: ApprovalRequest = {
    tool: call.name,
    arguments: call.arguments,
    digest: digestOf(call.name, call.arguments, agent.name),
    agent: agent.name,
    session: sessionId(task, agent),
    call: call.id,
    reasons: gate.reasons,
    risk: gate.risk,
    taint: taintIn(task),
    confinement: confinementOf(context, call, gate),
    ...(gate.diff === undefined ? {} : { diff: gate.diff }),
  };
  return {
    id: approvalId(context, task, call),
    role: APPROVAL_ROLE,
    to: HUMAN,
    description: titleOf(request),
    context: { request },
  };
}

/**
 * The id of the effect's record. A call that asks another peer has a child with that id, so its
 * approval needs another one.
 */
export function approvalId(context: Pick<EngineContext, 'tools'>, task: Task, call: ToolCall): string {
  const isAsk = context.tools.get(call.name)?.kind === 'ask';
  return childId(task.id, `${isAsk ? 'approve' : 'call'}-${call.id}`);
}

function confinementOf(context: EngineContext, call: ToolCall, gate: GateVerdict): string {
  if (gate.action) return 'outside the sandbox, with the keys of the plugin: an action is code that you installed';
  if (call.name !== 'execute_command') return 'by the program itself; no command runs';
  return context.shell.confinement(call.arguments['network'] === true) ?? 'without restrictions';
}

/** The human's answer to one exact action. */
type HumanAnswer =
  | { kind: 'open' }
  | { kind: 'no'; message: string }
  | { kind: 'yes'; edited?: Record<string, unknown> };

/** An answer counts only for the action with the same digest. */
export function answerTo(placed: Placed | undefined, wanted: WantedChild): HumanAnswer {
  if (placed === undefined || !isEnded(placed.state)) return { kind: 'open' };
  const approval = approvalOf(placed.task);
  const requested = wanted.context!['request'] as ApprovalRequest;
  if (approval?.answer === undefined || approval.request.digest !== requested.digest) {
    return { kind: 'no', message: `the request was not approved: ${errorText(placed.task.error)}` };
  }
  const { answer } = approval;
  if (!answer.approved)
    return {
      kind: 'no',
      message: `the human refused this action${answer.reason ? `: ${answer.reason}` : ''}; do not try it again unchanged`,
    };
  return { kind: 'yes', ...(answer.edited ? { edited: answer.edited } : {}) };
}

/** Identifies an action: same tool, same arguments in any order, same agent. */
export function digestOf(tool: string, args: Record<string, unknown>, agent: string): string {
  return createHash('sha256')
    .update(JSON.stringify([tool, sorted(args), agent]))
    .digest('hex');
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, item]) => [key, sorted(item)]),
  );
}

function titleOf({ tool, arguments: args }: ApprovalRequest): string {
  if (tool === 'execute_command') return `Approve command: ${String(args['command'])}`;
  const main = mainArgument(tool);
  const what = args['path'] ?? args['recipient'] ?? args['name'] ?? (main === undefined ? undefined : args[main]);
  return what === undefined ? `Approve ${tool}` : `Approve ${tool}: ${String(what)}`;
}
