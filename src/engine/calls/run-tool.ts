/**
 * Runs one tool. An effect is recorded before it starts, and its outcome after it. After a crash,
 * an effect without an outcome is never repeated: the model learns that its outcome is unknown.
 */
import type { Agent } from '../../domain/agent/agent.js';
import { isStoreFault, StoreFailed } from '../../domain/fence.js';
import { defined } from '../../domain/defined.js';
import { shownLine } from '../../domain/progress.js';
import { childId, hash53 } from '../../domain/task/id.js';
import { taintIn } from '../../domain/task/taint.js';
import type { BoundBase, Walls } from '../../domain/task/approval.js';
import type { Outcome } from '../../domain/task/outcome.js';
import type { PlainPipeline } from '../../domain/policy.js';
import type { ToolCall } from '../../domain/session/session.js';
import type { Task } from '../../domain/task/task.js';
import type { PluginAction } from '../../ports/shell.js';
import type { Tool, ToolContext, ToolReply } from '../../tools/core/tool.js';
import { breakDown } from './break-down.js';
import { openSessions, openWork } from './open-work.js';
import { runWithAnswers, type RanReply } from './call-questions.js';
import { duringEffect } from '../core/effects.js';
import { record, type EngineContext } from '../core/context.js';
import { approvalId, questionFor } from '../approvals/request.js';
import { checkDraft } from './check-draft.js';

export interface Permission {
  approved: boolean;
  /** The content that the approval is bound to. */
  base?: BoundBase;
  walls?: Walls;
  plan?: PlainPipeline[];
  action?: PluginAction;
  /** Files that it shows are kept private. */
  isSecret?: boolean;
}

export async function runTool(
  context: EngineContext,
  task: Task,
  agent: Agent,
  call: ToolCall,
  tool: Tool,
  stop: AbortSignal,
  permission: Permission,
): Promise<RanReply> {
  const from = context.clock.monotonicMs();
  const run = async (answers: ToolContext['answers']): Promise<ToolReply> => {
    const endExposure = isUnconfined(context, call, permission) ? context.ballot.expose() : undefined;
    try {
      const toolContext = { ...contextOf(context, task, agent, call, stop, permission), answers };
      const reply = await guarded(tool, call, toolContext);
      return await kept(permission.isSecret ? context.privateTexts : context.blobs, reply);
    } finally {
      endExposure?.();
    }
  };
  noteTaint(context, task, agent, call);
  const reply = await runWithAnswers(context, { task, agent, call, tool }, (answers, part) =>
    tool.kind === 'effect'
      ? runOnce(context, task, agent, call, childId(task.id, part), () => run(answers), permission)
      : run(answers),
  );
  // An ask is recorded by the task it creates, and runs again each time that task may have ended.
  if (reply.kind === 'ask' || reply.kind === 'spawn' || reply.kind === 'approval') return reply;
  record(context, 'tool.ran', {
    task: task.id,
    agent: agent.name,
    role: task.role,
    tool: call.name,
    cause: call.id,
    ok: reply.kind !== 'problem',
    effect: tool.kind === 'effect' ? true : undefined,
    command: call.name === 'execute_command' ? call.arguments['command'] : undefined,
    approved: permission.approved ? approvalId(context, task, call) : undefined,
    ms: Math.round(context.clock.monotonicMs() - from),
  });
  return reply;
}

/** A file that a tainted task writes carries its taint to whoever reads it. */
function noteTaint(context: EngineContext, task: Task, agent: Agent, call: ToolCall): void {
  const taint = taintIn(task);
  const { path, content } = call.arguments;
  if (call.name === 'write_file' && typeof path === 'string' && typeof content === 'string')
    context.fileTaint.writes(path, content, taint);
  if (call.name === 'execute_command' && taint.length > 0) context.fileTaint.runs(agent.name, taint);
}

/** True for a command that could write the ballot file. */
function isUnconfined(context: EngineContext, call: ToolCall, permission: Permission): boolean {
  return call.name === 'execute_command' && permission.action === undefined && !context.shell.isSandboxed();
}

function contextOf(
  context: EngineContext,
  task: Task,
  agent: Agent,
  call: ToolCall,
  stop: AbortSignal,
  permission: Permission,
): Omit<ToolContext, 'answers'> {
  return {
    agent,
    task,
    callId: call.id,
    folder: context.workspaceFiles,
    agents: context.agents.all(),
    sessions: () => openSessions(context),
    openWork: () => openWork(context),
    replaceSession: (id, text) => context.sessions.replace(id, text),
    askHuman: (question) => questionFor(task, agent, call, question),
    breakDown: (wanted) => breakDown(context, task, wanted),
    checkDraft: (name, source) => checkDraft(context, task, name, source),
    createAgent: (name, source) => context.agents.create(name, source, approvalId(context, task, call)),
    approved: permission.approved,
    plan: permission.plan,
    action: permission.action,
    base: permission.base,
    walls: permission.walls,
    shell: context.shell,
    web: context.web,
    machine: context.machine,
    project: context.project,
    boardTools: context.boardTools,
    signal: stop,
    progress: (text) =>
      context.watchers.progress({
        task: task.id,
        root: task.root,
        agent: agent.name,
        kind: 'report',
        tool: call.name,
        line: shownLine(text),
      }),
  };
}

/** Runs an effect at most once: if it was started before, it does not run. */
async function runOnce(
  context: EngineContext,
  task: Task,
  agent: Agent,
  call: ToolCall,
  id: string,
  run: () => Promise<ToolReply>,
  { approved }: Permission,
): Promise<ToolReply> {
  const digest = hash53(JSON.stringify([call.name, call.arguments]));
  const before = await context.effects.get(id);
  if (before.state === 'done') return asReply(before.outcome);
  const isNew =
    before.state === 'none' &&
    (await context.effects.begin(id, digest, `${call.name} by ${agent.name}`)) &&
    // A workspace restored from a backup has no record of the effect.
    (!approved || (await context.consent.begin(id)));
  if (!isNew) {
    return {
      kind: 'problem',
      code: 'unknown_outcome',
      message: `${call.name} was started before an interruption and may or may not have taken effect; check before you try again`,
    };
  }
  return duringEffect(context, task.root, async () => {
    const reply = await run();
    await context.effects.finish(id, outcomeOf(reply));
    return reply;
  });
}

/** Files are stored before anything refers to them. */
async function kept(store: { put(data: Uint8Array): Promise<string> }, reply: ToolReply): Promise<ToolReply> {
  if (reply.kind !== 'text' || reply.files === undefined) return reply;
  const refs = reply.files.map(async ({ name, mediaType, data }) => ({
    name,
    mediaType,
    blob: await store.put(data),
    bytes: data.length,
  }));
  return defined({ kind: 'text', text: reply.text, shown: reply.shown, kept: await Promise.all(refs) });
}

function outcomeOf(reply: ToolReply): Outcome {
  if (reply.kind === 'question') return { ok: true, text: '', asks: reply.question };
  if (reply.kind === 'text') return defined({ ok: true, text: reply.text, files: reply.kept });
  return reply.kind === 'problem'
    ? { ok: false, code: reply.code, text: reply.message }
    : { ok: false, code: 'tool_failed', text: '' };
}

function asReply(outcome: Outcome): ToolReply {
  if (outcome.ok && outcome.asks) return { kind: 'question', question: outcome.asks };
  return outcome.ok
    ? defined({ kind: 'text', text: outcome.text, kept: outcome.files })
    : { kind: 'problem', code: outcome.code, message: outcome.text };
}

async function guarded(tool: Tool, call: ToolCall, context: ToolContext): Promise<ToolReply> {
  try {
    return await tool.run(call.arguments, context);
  } catch (error) {
    // A failed store is not for the model: the task stops, and resumes when the store works again.
    if (isFailureOfStore(error)) throw error;
    const { message } = error as Error;
    if (error instanceof RangeError)
      return { kind: 'problem', code: 'over_limit', message: `its result is too deep or too large (${message})` };
    return { kind: 'problem', code: 'tool_failed', message: message ?? String(error) };
  }
}

/** Other errors of the disk may concern only the file that the tool was asked for. */
function isFailureOfStore(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return isStoreFault(error) && (error instanceof StoreFailed || code === undefined || DISK_FAILURES.has(code));
}

const DISK_FAILURES = new Set(['ENOSPC', 'EIO', 'EROFS', 'EMFILE', 'ENFILE', 'EDQUOT']);
