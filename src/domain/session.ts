/**
 * One agent's conversation. The file is the truth; these are pure questions to its messages. Nothing else says where
 * a conversation stands: what must happen next is read off its last messages.
 */
import { sumUsage, type Usage } from './usage.js';

export interface ToolCall {
  id: string;
  name: string;
  arguments: Record<string, unknown>;
}

/** What one model call cost, kept with its answer so that a resumed session knows what was spent. */
export interface MessageUsage {
  model?: string;
  inputTokens: number;
  outputTokens: number;
  cachedTokens?: number;
  microUsd?: number;
  ms?: number;
}

export interface Message {
  role: 'system' | 'user' | 'assistant' | 'tool';
  content: string;
  toolCalls?: ToolCall[];
  /** For role `tool`: which call it answers, and that tool's name. */
  toolCallId?: string;
  name?: string;
  /** For role `tool`: the call did not succeed. */
  isError?: boolean;
  usage?: MessageUsage;
  /** Who said it, where that is not plain: `human`, another agent, a channel. */
  from?: string;
  timestamp?: string;
}

export interface SessionHeader {
  sessionId: string;
  agentId: string;
  agentType?: string;
  model?: string;
  /** sha256 of the agent file this conversation began with. */
  definition?: string;
  created: string;
  status: 'active' | 'sleeping' | 'completed' | 'error';
  task?: string;
}

export interface Session {
  header: SessionHeader;
  messages: Message[];
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

/** Whether the conversation waits for the model: the last word is not the model's. */
export function wantsAnswer(messages: readonly Message[]): boolean {
  const last = messages.at(-1);
  return last !== undefined && last.role !== 'assistant';
}

/** The last thing the assistant said when it called no tool: its answer. */
export function finalAnswer(messages: readonly Message[]): string | undefined {
  const last = messages.at(-1);
  return last?.role === 'assistant' && (last.toolCalls ?? []).length === 0 ? last.content : undefined;
}

export function sessionUsage(messages: readonly Message[]): Usage {
  return sumUsage(
    messages.map((message) => ({
      turns: message.role === 'assistant' ? 1 : 0,
      toolCalls: message.role === 'tool' ? 1 : 0,
      inputTokens: message.usage?.inputTokens ?? 0,
      outputTokens: message.usage?.outputTokens ?? 0,
      cachedTokens: message.usage?.cachedTokens ?? 0,
      microUsd: message.usage?.microUsd ?? 0,
      busyMs: message.usage?.ms ?? 0,
    })),
  );
}
