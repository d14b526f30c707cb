/**
 * Shortens a conversation without a model: one line per message, cut results, children as
 * references.
 */
import type { Message } from '../../domain/session/session.js';

const LINE_CHARS = 160;
const EDGE_CHARS = 400;

export function outlineLine(message: Message): string {
  const child = reference(message);
  if (child !== undefined) return child;
  const calls = (message.toolCalls ?? []).map((call) => `${call.name}(${line(JSON.stringify(call.arguments), 60)})`);
  const who = message.role === 'tool' ? `result of ${message.name ?? 'a tool'}` : message.role;
  const texts = [line(message.content, LINE_CHARS), calls.length > 0 ? `called ${calls.join(', ')}` : ''];
  return `${who}: ${texts.filter((text) => text !== '').join('; ')}`;
}

/** Another agent's answer as a reference to its task. Undefined for any other message. */
export function reference({ kind, from, content }: Message): string | undefined {
  if (kind === 'task_result') return `task ${from}: ${line(content.replace(/^[^\n]*\n+<[^>]*>/, ''), LINE_CHARS)}`;
  if (kind !== 'agent_response') return undefined;
  // The JSON may be cut, so it is not parsed.
  const result = /"result":"((?:[^"\\]|\\.)*)/.exec(content)?.[1] ?? '';
  return `task ${from}: ${line(result.replaceAll('\\n', ' '), LINE_CHARS)}`;
}

/** A long tool result without its middle. */
export function shortened(message: Message): Message {
  if (message.role !== 'tool' || message.content.length <= 2 * EDGE_CHARS) return message;
  const { content } = message;
  const short =
    reference(message) ??
    `${content.slice(0, EDGE_CHARS)}\n[… ${content.length - 2 * EDGE_CHARS} characters left out here …]\n${content.slice(-EDGE_CHARS)}`;
  return { ...message, content: short };
}

export function outline(messages: readonly Message[], maxLines = 80): string {
  const lines = messages.slice(-maxLines).map((message) => `- ${outlineLine(message)}`);
  const cut = messages.length - lines.length;
  return [...(cut > 0 ? [`- (${cut} earlier messages)`] : []), ...lines].join('\n');
}

/** A whole conversation as text for another agent. */
export function sessionText(messages: readonly Message[]): string {
  return messages
    .map((message) => {
      const who = message.role === 'tool' ? `tool ${message.name ?? ''}`.trim() : (message.from ?? message.role);
      const calls = (message.toolCalls ?? []).map((call) => `[calls ${call.name} ${JSON.stringify(call.arguments)}]`);
      return `## ${who}\n\n${[message.content, ...calls].filter((text) => text !== '').join('\n')}`;
    })
    .join('\n\n');
}

function line(text: string, maxChars: number): string {
  const flat = text.replace(/\s+/g, ' ').trim();
  return flat.length <= maxChars ? flat : `${flat.slice(0, maxChars - 1)}…`;
}
