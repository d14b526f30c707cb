/**
 * One agent's conversation. Its file is the source of truth: the next step is derived from its last
 * messages, by the pure functions in this file.
 */
import { isTooDeep, MAX_VALUE_DEPTH } from '../depth.js';
import type { ProblemCode } from '../problem.js';
import type { FileRef } from '../file-ref.js';
import { sumUsage, type Usage } from '../budget/usage.js';

export interface ToolCall {
  id: string;
  name: string;
  arguments: Record<string, unknown>;
  /** Why its arguments are not kept and it cannot run; the model gets this text as the result. */
  fault?: string;
}

/** The call as it may be kept and executed: arguments that are nested too deep become a fault. */
export function boundedCall(call: ToolCall): ToolCall {
  if (!isTooDeep(call.arguments)) return call;
  const fault = `the arguments are nested deeper than ${MAX_VALUE_DEPTH} levels, so the call was not made`;
  return { ...call, arguments: {}, fault };
}

/**
 * The cost of one model call, kept with its answer so that a resumed session knows its spending.
 */
export interface MessageUsage {
  model?: string;
  inputTokens: number;
  outputTokens: number;
  cachedTokens?: number;
  microUsd?: number;
  ms?: number;
}

/**
 * Data that a provider wants back with its own answer, such as signed thoughts. Only the model that
 * made it gets it, and only while everything before the answer is sent unchanged.
 */
export interface ProviderData {
  /** The provider's name in `guild.yaml`. */
  name: string;
  model: string;
  /** sha256 of the message and the data; it no longer matches if the message was edited. */
  message: string;
  /** sha256 chain over the system text, the tools and every earlier message as they were sent. */
  chain: string;
  /** JSON that only the adapter of the provider reads; or the blob that has it. */
  parts?: string;
  blob?: string;
}

/**
 * The purpose of a message that the engine wrote. The next step depends on it, never on wording.
 */
export const MESSAGE_KINDS = [
  'plan_request', // the agent must show its plan
  'plan_approved',
  'last_turn', // the next turn must be the answer
  'loop_warning', // the agent repeats itself
  'error_warning', // three turns in a row had no successful call
  'report_reminder', // the agent answered in words where a call ends the task
  'call_as_text_reminder', // the agent wrote a tool call as text
  'format_reminder', // the answer is not JSON that fits the schema in the agent's file
  'retry', // a person asks for another attempt after a failure
  'compacted', // earlier messages are left out of the view of the model; this is their outline
  'new_day',
  'tool_removed', // the tool in `name` may no longer be called
  'tool_restored',
  'tools_changed', // the pins of this message apply from here on
  'required_call_reminder', // the role requires a call, and the agent answered in words
  'required_call_missing', // the task fails without the call
  'note', // something was said on a channel
  'task_result', // a background task, named in `from`, has ended
  'agent_response', // this result of a call is the answer of another agent, whose task is in `from`
] as const;
export type MessageKind = (typeof MESSAGE_KINDS)[number];

/** Messages that only inform: they neither ask nor explain anything. */
export const INFORMING: ReadonlySet<MessageKind | undefined> = new Set<MessageKind>([
  'compacted',
  'new_day',
  'tool_removed',
  'tool_restored',
  'tools_changed',
]);

/** The last message that matters for the next step. */
export function lastThatMatters(messages: readonly Message[]): Message | undefined {
  return messages.findLast((message) => !INFORMING.has(message.kind));
}

/** The sha256 of what is sent before the messages; the texts are blobs. */
export interface Pins {
  system: string;
  /** JSON: a list of tools with their schemas. */
  tools: string;
}

/** Which messages are left out, and which are shortened. Both count from the start of the file. */
export interface Compacted {
  /** The first message that is not left out. The very first message always stays. */
  upTo: number;
  /** Long results before this message are shortened. */
  shortTo: number;
}

export const MESSAGE_ROLES = ['system', 'user', 'assistant', 'tool'] as const;

export interface Message {
  role: (typeof MESSAGE_ROLES)[number];
  content: string;
  toolCalls?: ToolCall[];
  /** For role `tool`: which call it answers, and that tool's name. */
  toolCallId?: string;
  /** For `tool_removed` and `tool_restored`: the tool. */
  name?: string;
  /** For role `tool`: the call did not succeed. */
  isError?: boolean;
  /** For role `tool`: why the call did not succeed. */
  code?: ProblemCode;
  /**
   * For role `tool`: the call ended the task, and this is its answer. With the code `gave_up`, it
   * is the reason why the task could not be done.
   */
  final?: boolean;
  /** For roles `user` and `tool`: files for the model, if it accepts their types. */
  files?: FileRef[];
  /** For role `tool`: the sha256 of the real result, which is kept private (PrivateTexts). */
  private?: string;
  usage?: MessageUsage;
  /** For role `assistant`. */
  provider?: ProviderData;
  /** The sender, if the role does not show it: `human`, another agent, a channel. */
  from?: string;
  kind?: MessageKind;
  /** With kind `tools_changed`. */
  pins?: Pins;
  /** With kind `compacted`. */
  compacted?: Compacted;
  /** The note that this message brings. */
  cause?: string;
  /**
   * Outside sources that influenced it through its sender or an attachment. No tool result names
   * them.
   */
  taint?: string[];
  /** In a conversation that several tasks share: the task that begins with this message. */
  task?: string;
  /** sha256 of the agent file from here on, if it changed. */
  definition?: string;
  timestamp?: string;
}

export const SESSION_STATUSES = ['active', 'sleeping', 'completed', 'error'] as const;

export interface SessionHeader {
  sessionId: string;
  agentId: string;
  agentType?: string;
  model?: string;
  /** sha256 of the agent file this conversation began with. */
  definition?: string;
  pins?: Pins;
  created: string;
  status: (typeof SESSION_STATUSES)[number];
  task?: string;
  /** `session@n`: it began as a copy of the first n messages of that one. */
  forkedFrom?: string;
  /** A person removed the end on purpose, down to this many messages. */
  kept?: number;
}

export interface Session {
  header: SessionHeader;
  messages: Message[];
}

/** One task's messages in a conversation that tasks may share; undefined before its first one. */
export function messagesOf({ header, messages }: Session, task: string): readonly Message[] | undefined {
  const isShared = header.task !== undefined && header.task !== task;
  const from = isShared ? messages.findLastIndex((message) => message.task === task) : 0;
  if (from < 0) return undefined;
  const next = messages.findIndex((message, at) => at > from && message.task !== undefined && message.task !== task);
  return messages.slice(from, next < 0 ? undefined : next);
}

/** The tool calls of the last assistant message that have no result yet. */
export function openCalls(messages: readonly Message[]): ToolCall[] {
  const answered = new Set<string>();
  for (let i = messages.length - 1; i >= 0; i--) {
    const message = messages[i]!;
    if (message.role === 'tool' && message.toolCallId !== undefined) answered.add(message.toolCallId);
    if (message.role === 'assistant') return (message.toolCalls ?? []).filter((call) => !answered.has(call.id));
  }
  return [];
}

/** Whether it is the model's turn: the last message is not its own. */
export function wantsAnswer(messages: readonly Message[]): boolean {
  const last = messages.at(-1);
  return last !== undefined && last.role !== 'assistant';
}

/** The last message of the assistant, if it calls no tool: the answer. */
export function finalAnswer(messages: readonly Message[]): string | undefined {
  const last = messages.at(-1);
  return last?.role === 'assistant' && (last.toolCalls ?? []).length === 0 ? last.content : undefined;
}

interface Report {
  text: string;
  /** False: the agent says that it could not do the task. */
  success: boolean;
}

/** The report of a tool call of the last turn that ended the task. */
export function reported(messages: readonly Message[]): Report | undefined {
  for (let i = messages.length - 1; i >= 0 && messages[i]!.role === 'tool'; i--) {
    const { final, content, code } = messages[i]!;
    if (final) return { text: content, success: code !== 'gave_up' };
  }
  return undefined;
}

export function sessionUsage(messages: readonly Message[]): Usage {
  return sumUsage(
    messages.map((message) => ({
      turns: message.role === 'assistant' ? 1 : 0,
      toolCalls: message.role === 'tool' && message.code !== 'over_budget' ? 1 : 0,
      inputTokens: message.usage?.inputTokens ?? 0,
      outputTokens: message.usage?.outputTokens ?? 0,
      cachedTokens: message.usage?.cachedTokens ?? 0,
      microUsd: message.usage?.microUsd ?? 0,
      busyMs: message.usage?.ms ?? 0,
    })),
  );
}
