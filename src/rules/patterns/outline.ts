/** A conversation in fewer words, without asking a model: a line for each message, results shortened, children as references. */
import type { Message } from '../../domain/session/session.js';

const LINE = 160;
const PIECE = 400;

/** One line on what a message was. */
export function outlineLine(message: Message): string {
  const child = reference(message);
  if (child !== undefined) return child;
  const calls = (message.toolCalls ?? []).map((call) => `${call.name}(${line(JSON.stringify(call.arguments), 60)})`);
  const who = message.role === 'tool' ? `result of ${message.name ?? 'a tool'}` : message.role;
  const said = [line(message.content, LINE), calls.length > 0 ? `called ${calls.join(', ')}` : ''];
  return `${who}: ${said.filter((one) => one !== '').join('; ')}`;
}

/** The answer of another agent as a reference: its task record has the rest. Undefined for any other message. */
export function reference({ kind, from, content }: Message): string | undefined {
  if (kind === 'task_result') return `task ${from}: ${line(content.replace(/^[^\n]*\n+<[^>]*>/, ''), LINE)}`;
  if (kind !== 'agent_response') return undefined;
  // The JSON may be cut, so it is not parsed.
  const result = /"result":"((?:[^"\\]|\\.)*)/.exec(content)?.[1] ?? '';
  return `task ${from}: ${line(result.replaceAll('\\n', ' '), LINE)}`;
}

/** A result with its middle left out. */
export function shortened(message: Message): Message {
  if (message.role !== 'tool' || message.content.length <= 2 * PIECE) return message;
  const { content } = message;
  const short =
    reference(message) ??
    `${content.slice(0, PIECE)}\n[… ${content.length - 2 * PIECE} characters left out here …]\n${content.slice(-PIECE)}`;
  return { ...message, content: short };
}

/** The outline of a whole conversation, its end where it grows too long. */
export function outline(messages: readonly Message[], mostLines = 80): string {
  const lines = messages.slice(-mostLines).map((message) => `- ${outlineLine(message)}`);
  const cut = messages.length - lines.length;
  return [...(cut > 0 ? [`- (${cut} messages before)`] : []), ...lines].join('\n');
}

/** Every word of a conversation, as text for another agent. */
export function sessionText(messages: readonly Message[]): string {
  return messages
    .map((message) => {
      const who = message.role === 'tool' ? `tool ${message.name ?? ''}`.trim() : (message.from ?? message.role);
      const calls = (message.toolCalls ?? []).map((call) => `[calls ${call.name} ${JSON.stringify(call.arguments)}]`);
      return `## ${who}\n\n${[message.content, ...calls].filter((one) => one !== '').join('\n')}`;
    })
    .join('\n\n');
}

function line(text: string, most: number): string {
  const flat = text.replace(/\s+/g, ' ').trim();
  return flat.length <= most ? flat : `${flat.slice(0, most - 1)}…`;
}
