/**
 * Turns a call that needs the human into a task that holds the exact action and its digest, and
 * reads the answer. Silence is never consent, and no agent can answer.
 */
import { createHash } from 'node:crypto';
import type { Agent } from '../../domain/agent/agent.js';
import { sessionId } from '../../domain/session/session-id.js';
import type { ToolCall } from '../../domain/session/session.js';
import { defined } from '../../domain/defined.js';
import {
  APPROVAL_ROLE,
  approvalOf,
  type Approval,
  type ApprovalRequest,
  type Bound,
} from '../../domain/task/approval.js';
import { ASK_TOOL, QUESTION_ROLE, type Question } from '../../domain/task/question.js';
import { childId, shortId } from '../../domain/task/id.js';
import { taintIn } from '../../domain/task/taint.js';
import { HUMAN, isEnded, type Placed, type Task, type WantedChild } from '../../domain/task/task.js';
import type { Consent } from '../../ports/consent/index.js';
import type { GateVerdict } from '../../ports/gate.js';
import { errorText } from '../../rules/patterns/gather.js';
import type { EngineContext } from '../core/context.js';
import { hasSameWords, machineOf, whyAgain } from './why-again.js';

/** Differences from a plain call: its own id, title or confinement. */
interface Own {
  bound?: Bound;
  id?: string;
  title?: string;
  confinement?: string;
}

export function approvalFor(
  context: EngineContext,
  task: Task,
  agent: Agent,
  call: ToolCall,
  gate: GateVerdict,
  own: Own = {},
): WantedChild {
  const plugin = context.tools.get(call.name)?.plugin;
  const title = own.title ?? titleOf(call.name, plugin, call.arguments);
  const request = withDigest({
    title,
    tool: call.name,
    arguments: call.arguments,
    agent: agent.name,
    session: sessionId(task, agent),
    call: call.id,
    reasons: gate.reasons,
    taint: taintIn(task),
    confinement: own.confinement ?? confinementOf(context, call, gate),
    ...own.bound,
    ...defined({ risk: gate.risk, plugin, diff: gate.diff }),
  });
  return {
    id: own.id ?? approvalId(context, task, call),
    role: APPROVAL_ROLE,
    to: HUMAN,
    description: title,
    context: { request, ...machineOf(context) },
  };
}

/** Fields of a question that the agent itself did not ask. */
interface Asked {
  /** Differs for each question of one call. */
  part: string;
  asker: string;
  confinement: string;
  reasons: string[];
}

/**
 * A question to the human. It is answered like an approval, but with words. Look for the answer
 * with `consult`: a question that came with the folder is asked again.
 */
export function questionFor(
  task: Task,
  agent: Agent,
  call: ToolCall,
  question: Question,
  { part, asker, confinement, reasons }: Asked = {
    part: `call-${call.id}`,
    asker: agent.name,
    confinement: 'nothing runs: only your answer goes to the agent',
    reasons: [],
  },
): WantedChild {
  const title = `Question from ${asker}: ${question.text}`;
  const request = withDigest({
    title,
    tool: ASK_TOOL,
    arguments: { question: question.text },
    agent: agent.name,
    session: sessionId(task, agent),
    call: call.id,
    reasons,
    taint: taintIn(task),
    confinement,
    question,
  });
  return {
    id: childId(task.id, part),
    role: QUESTION_ROLE,
    to: HUMAN,
    description: title,
    context: { request },
  };
}

/** The content that an answer to this call would be bound to now. */
export async function boundNow(context: EngineContext, call: ToolCall, gate: GateVerdict): Promise<Bound> {
  const isCommand = call.name === 'execute_command' && gate.action === undefined;
  return defined<Bound>({
    walls: isCommand ? (context.shell.isSandboxed() ? 'sandbox' : 'none') : undefined,
    hosts: isCommand ? hostsIn(call) : undefined,
    content: gate.uses === undefined ? undefined : await context.content.bind(gate.uses),
    base: gate.base,
  });
}

function hostsIn({ arguments: { hosts } }: ToolCall): string[] | undefined {
  return Array.isArray(hosts) ? hosts.map(String) : undefined;
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
  return context.shell.confinement(hostsIn(call));
}

/** The human's answer to one exact action. */
type HumanAnswer =
  | { kind: 'open' }
  | { kind: 'no'; message: string }
  | { kind: 'yes'; request: ApprovalRequest; edited?: Record<string, unknown> };

interface Consulted {
  /** The request that counts now: the first one, or the one that asks again. */
  child: WantedChild;
  /** Its record as it was read; undefined if it was not asked yet. */
  placed: Placed | undefined;
  answer: HumanAnswer;
}

/** After this many requests without a valid answer, the action is refused. */
const MAX_ASKS = 20;

/**
 * Looks for the human's answer. An approval of any other action, or without a signature of this
 * user, does not count; the action is then asked again under another id. `read`: how to read a
 * record; default: from the store.
 */
export async function consult(
  context: EngineContext,
  wanted: WantedChild,
  read: (id: string) => Promise<Placed | undefined> = (id) => context.tasks.read(id),
): Promise<Consulted> {
  let changed: string | undefined;
  for (let n = 1; n <= MAX_ASKS; n++) {
    const child = n === 1 ? wanted : askedAgain(wanted, n, changed);
    const placed = await read(child.id);
    const answer = answerTo(context, placed, child);
    if (answer.kind !== 'again') return { child, placed, answer };
    const { task } = placed!;
    changed = whyAgain(context, { task, approval: approvalOf(task) }, requestIn(child));
  }
  const message = `it was asked ${MAX_ASKS} times and changed each time before it could run`;
  return { child: wanted, placed: undefined, answer: { kind: 'no', message } };
}

function askedAgain(wanted: WantedChild, n: number, changed: string | undefined): WantedChild {
  const request = { ...requestIn(wanted), ...defined({ asked: n, changed }) };
  return { ...wanted, id: askedAgainId(wanted.id, n), context: { ...wanted.context, request } };
}

/** The id of the request that asks for the n-th time about one action. */
export function askedAgainId(effect: string, n: number): string {
  return shortId(`${effect}-again-${n}`);
}

export function requestIn(child: WantedChild): ApprovalRequest {
  return child.context!['request'] as ApprovalRequest;
}

/** Whether the human was asked again about the same action after this request. */
export async function isAskedAgain(context: EngineContext, approval: Approval): Promise<boolean> {
  const next = askedAgainId(effectIdOf(approval), (approval.request.asked ?? 1) + 1);
  return (await context.tasks.read(next)) !== undefined;
}

/** The id under which the action itself is recorded, whichever request allowed it. */
export function effectIdOf({ id, request: { asked } }: Pick<Approval, 'id' | 'request'>): string {
  const end = `-again-${asked}`;
  return asked !== undefined && id.endsWith(end) ? id.slice(0, -end.length) : id;
}

function answerTo(
  { consent, desk }: Pick<EngineContext, 'consent' | 'desk'>,
  placed: Placed | undefined,
  wanted: WantedChild,
): HumanAnswer | { kind: 'again' } {
  if (placed === undefined || !isEnded(placed.state)) return { kind: 'open' };
  const requested = requestIn(wanted);
  if (placed.state === 'failed')
    return { kind: 'no', message: `the request was not approved: ${errorText(placed.task.error)}` };
  // A refusal allows nothing, so it counts whoever gave it.
  const refusal = approvalOf(placed.task)?.answer;
  if (refusal?.approved === false) {
    const { reason } = refusal;
    return {
      kind: 'no',
      message: `the human refused this action${reason ? `: ${reason}` : ''}; do not try it again unchanged`,
    };
  }
  const approval = soundApproval(placed.task);
  if (approval?.answer === undefined) return { kind: 'again' };
  // An answer in words is not bound to content: it allows nothing.
  if (requested.question === undefined && approval.request.digest !== requested.digest) return { kind: 'again' };
  if (!isAnswered(consent, approval) || !isOwn(consent, approval)) return { kind: 'again' };
  // In a shared store no seal is checked, so the words that the person saw must be those of now.
  if (desk !== undefined && !hasSameWords(approval.request, requested)) return { kind: 'again' };
  return defined({
    kind: 'yes',
    request: approval.request,
    edited: approval.answer.edited,
  });
}

/** Whether this machine made the request. No other request is shown, and no yes to it counts. */
export function isOwn(consent: Consent, { id, request }: Approval): boolean {
  return consent.isSealed(id, request);
}

/** Whether this user gave this approval. Any other answer leads to a new question. */
export function isAnswered(consent: Consent, { id, request: { digest }, answer }: Approval): boolean {
  return answer !== undefined && consent.isSigned({ task: id, digest, answer }, answer.signature);
}

/** An approval whose digest matches its request. No other approval was made by this program. */
export function soundApproval(task: Task): Approval | undefined {
  if (!known.has(task)) {
    const approval = approvalOf(task);
    known.set(task, approval && digestOf(approval.request) === approval.request.digest ? approval : undefined);
  }
  return known.get(task);
}

/** Caches only: a record is never changed in place, so its digest is computed once. */
const known = new WeakMap<Task, Approval | undefined>();

export function withDigest(request: Omit<ApprovalRequest, 'digest'>): ApprovalRequest {
  return { ...request, digest: digestOf(request) };
}

/** Fields that are not part of the allowed action: they explain it, or name its origin. */
const UNBOUND = new Set('digest session call title reasons risk diff asked changed seal'.split(' '));

/** Identifies what a person allows. The order of keys does not matter. */
function digestOf(request: Omit<ApprovalRequest, 'digest'>): string {
  const bound = Object.fromEntries(Object.entries(request).filter(([name]) => !UNBOUND.has(name)));
  return createHash('sha256')
    .update(JSON.stringify(sorted(bound)))
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

/** The arguments of our own tools that name an action, the most telling first. */
const SUBJECTS = ['path', 'recipient', 'session', 'name', 'description', 'task', 'need', 'context', 'to'];

/**
 * The title in the program's words. It names an argument only for the program's own tools, whose
 * arguments it understands.
 */
function titleOf(tool: string, plugin: string | undefined, args: ApprovalRequest['arguments']): string {
  if (plugin !== undefined) return `Approve ${tool} of the plugin ${plugin}`;
  if (tool === 'execute_command') return `Approve command: ${String(args['command'])}`;
  const to = args['agent'] === undefined ? '' : `${String(args['agent'])}: `;
  const what = SUBJECTS.map((name) => args[name]).find((value) => typeof value === 'string');
  return what === undefined ? `Approve ${tool}` : `Approve ${tool}: ${to}${what}`;
}
