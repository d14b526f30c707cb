/**
 * Approvals: a call that needs a human becomes a task for the human that holds the exact action and its digest. The answer,
 * from the ballot or the command line, ends that task. No silence is ever taken for a verdict, and no agent can answer.
 */
import { createHash } from 'node:crypto';
import { compareText } from '../../domain/order.js';
import type { Agent } from '../../domain/agent/agent.js';
import {
  APPROVAL_ROLE,
  approvalOf,
  mainArgument,
  type Answer,
  type Approval,
  type ApprovalRequest,
  type Fate,
} from '../../domain/task/approval.js';
import { childId, hash53 } from '../../domain/task/id.js';
import type { ToolCall } from '../../domain/session/session.js';
import { taintIn } from '../../domain/task/taint.js';
import { HUMAN, isEnded, makeTask, type Placed, type Task, type WantedChild } from '../../domain/task/task.js';
import type { GateVerdict } from '../../ports/gate.js';
import { errorText } from '../../rules/patterns/gather.js';
import { sessionId } from '../../domain/session/session-id.js';
import { underWay } from '../core/ready-queue.js';
import { admit } from './admit-mail.js';
import { record, type EngineContext, type Ports } from '../core/context.js';

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
    id: childId(task.id, `call-${call.id}`),
    role: APPROVAL_ROLE,
    to: HUMAN,
    description: titleOf(request),
    context: { request },
  };
}

function confinementOf(context: EngineContext, call: ToolCall, gate: GateVerdict): string {
  if (gate.action) return 'outside the sandbox, with the keys of the plugin: an action is code that you installed';
  if (call.name !== 'execute_command') return 'by the program itself; no command runs';
  return context.shell.confinement(call.arguments['network'] === true) ?? 'without restrictions';
}

type Said = { kind: 'open' } | { kind: 'no'; message: string } | { kind: 'yes'; edited?: Record<string, unknown> };

/** What the human said to this very action. An answer to another action, whatever its name, is none. */
export function verdictOn(placed: Placed | undefined, wanted: WantedChild): Said {
  if (placed === undefined || !isEnded(placed.state)) return { kind: 'open' };
  const approval = approvalOf(placed.task);
  const asked = wanted.context!['request'] as ApprovalRequest;
  if (approval?.answer === undefined || approval.request.digest !== asked.digest) {
    return { kind: 'no', message: `it was not allowed: ${errorText(placed.task.error)}` };
  }
  const { answer } = approval;
  if (!answer.approved)
    return {
      kind: 'no',
      message: `the human refused it${answer.reason ? `: ${answer.reason}` : ''}; do not try it again as it is`,
    };
  return { kind: 'yes', ...(answer.edited ? { edited: answer.edited } : {}) };
}

/** False if no open approval has this id. */
export async function answer(context: Ports, id: string, given: Omit<Answer, 'at'>, cause: string): Promise<boolean> {
  const claim = await context.tasks.claim(id, HUMAN);
  if (claim === undefined) return false;
  const said: Answer = { ...given, at: context.clock.now().toISOString() };
  const { waits: _, ...task } = claim.task;
  const ended: Task = { ...task, result: JSON.stringify(said), ended_at: said.at };
  await admit(context, ended); // before the end is written: whoever answers again makes nothing twice
  await context.tasks.settle(claim, ended, 'completed');
  record(context, 'approval.answered', { task: id, cause, agent: HUMAN, ...said });
  if (said.approved) await learn(context, claim.task, said);
  return true;
}

/** How often the same command must be allowed before a rule for it is proposed. */
const HABIT = 3;

/** What is allowed again and again may become a rule, and that too is the human's to allow. */
async function learn(context: Ports, task: Task, said: Answer): Promise<void> {
  const request = approvalOf(task)?.request;
  if (request === undefined) return;
  const line = String({ ...request.arguments, ...said.edited }['command'] ?? '');
  if (request.tool === 'allow_command') return context.gate.allowAlways(line);
  const isPlain =
    request.tool === 'execute_command' && said.edited === undefined && request.arguments['network'] !== true;
  if (!isPlain || (await context.gate.noteAllowed(line)) !== HABIT) return;
  const proposal: ApprovalRequest = {
    ...request,
    tool: 'allow_command',
    arguments: { command: line },
    digest: digestOf('allow_command', { command: line }, request.agent),
    reasons: [`you allowed this line ${HABIT} times; if you agree, exactly this line runs by itself from now on`],
    confinement:
      'by the program itself: it adds a rule to storage/terminal-cmd-allowlist.yaml, which you can remove there',
  };
  const wanted = makeTask({
    id: `allow-${hash53(line)}`,
    role: APPROVAL_ROLE,
    to: HUMAN,
    description: `Always allow: ${line}`,
    context: { request: proposal },
    created_at: said.at,
    created_by: 'guildhall',
  });
  if (await context.tasks.create(wanted))
    record(context, 'task.created', { task: wanted.id, agent: HUMAN, cause: task.id });
}

function openApprovals(context: EngineContext): Approval[] {
  const found: Approval[] = [];
  for (const { task } of underWay(context)) {
    const approval = approvalOf(task);
    if (approval) found.push(approval);
  }
  return found.sort((a, b) => compareText(a.created, b.created) || compareText(a.id, b.id));
}

/** Takes answers from the ballot, then makes it show what is asked now. True if anybody answered. */
export async function tendBallot(context: EngineContext): Promise<boolean> {
  const { ballot } = context;
  const { answers, withdrawn, problems } = ballot.read(openApprovals(context));
  for (const one of problems) context.watchers.problem(one);
  for (const one of problems) record(context, 'ballot.refused', { problem: one });
  let moved = false;
  for (const { id, answer: given } of answers) moved = (await answer(context, id, given, 'ballot')) || moved;
  for (const id of withdrawn) {
    const given = { approved: false, by: HUMAN, reason: 'the human withdrew the request' };
    moved = (await answer(context, id, given, 'ballot')) || moved;
  }
  return moved;
}

/** Shows what waits for the human, and what became of what was answered. `looked`: this pass looked at files; else nothing on the ballot is compared. */
export async function showBallot(context: EngineContext, looked: boolean): Promise<void> {
  const { ballot } = context;
  const open = openApprovals(context);
  if (!looked && open.length === 0 && ballot.unsettled().length === 0) return;
  const ended: Approval[] = [];
  const fates = new Map<string, Fate>();
  for (const id of ballot.unsettled()) {
    const placed = context.tasks.isOpen(id) ? undefined : await context.tasks.read(id);
    const approval = placed && isEnded(placed.state) ? approvalOf(placed.task) : undefined;
    if (approval === undefined) continue;
    ended.push(approval);
    const fate = await fateOf(context, approval, placed!.task.parent);
    if (fate !== undefined) fates.set(id, fate);
  }
  await ballot.show(open, ended, fates);
}

/** Undefined while the action is under way. */
async function fateOf(
  context: EngineContext,
  { id, answer: said, request }: Approval,
  asker = '',
): Promise<Fate | undefined> {
  if (said === undefined || !said.approved) return 'refused';
  // Looked up first: once the asker is not held any more, the effect read after that is final.
  const isRunning = context.tasks.getOpen(asker)?.held === true;
  const effect = await context.effects.get(id);
  if (effect.state === 'done') {
    const { outcome } = effect;
    return !outcome.ok && outcome.code === 'not_allowed' ? 'refused' : 'done';
  }
  if (effect.state === 'none') return context.tools.get(request.tool)?.kind === 'effect' ? undefined : 'done';
  return isRunning ? undefined : 'unknown';
}

function digestOf(tool: string, args: Record<string, unknown>, agent: string): string {
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
      .map(([key, one]) => [key, sorted(one)]),
  );
}

function titleOf({ tool, arguments: args }: ApprovalRequest): string {
  if (tool === 'execute_command') return `Approve command: ${String(args['command'])}`;
  const main = mainArgument(tool);
  const what = args['path'] ?? args['recipient'] ?? args['name'] ?? (main === undefined ? undefined : args[main]);
  return what === undefined ? `Approve ${tool}` : `Approve ${tool}: ${String(what)}`;
}
