/**
 * A conversation as text that only grows at its end. The last line of the header is `messages:`, so
 * a turn is written by appending list items. `timestamp` is the last key of an item: an item of the
 * program without one was cut off by a crash.
 */
import { defined } from '../../domain/defined.js';
import type { FileRef } from '../../domain/file-ref.js';
import type {
  Message,
  MessageUsage,
  Pins,
  ProviderData,
  SessionHeader,
  ToolCall,
} from '../../domain/session/session.js';
import { fitsYaml, yamlLine, yamlText, yamlValue } from '../yaml/scalar.js';

/** Wide enough for every status, so that one can be written over another in place. */
const STATUS_WIDTH = 9;

export function printStatus(status: SessionHeader['status']): string {
  return status.padEnd(STATUS_WIDTH);
}

export function printHeader(header: SessionHeader): string {
  const lines = [`session_id: ${yamlLine(header.sessionId)}`, `agent_id: ${yamlLine(header.agentId)}`];
  if (header.agentType !== undefined) lines.push(`agent_type: ${yamlLine(header.agentType)}`);
  if (header.model !== undefined) lines.push(`model: ${yamlLine(header.model)}`);
  if (header.definition !== undefined) lines.push(`definition: ${yamlLine(header.definition)}`);
  if (header.pins !== undefined) lines.push(`pins: ${printPins(header.pins)}`);
  lines.push(`created: ${closed(header.created)}`, `status: ${printStatus(header.status)}`);
  if (header.task !== undefined) lines.push(`task: ${yamlLine(header.task)}`);
  if (header.forkedFrom !== undefined) lines.push(`forked_from: ${yamlLine(header.forkedFrom)}`);
  return `${lines.join('\n')}\nmessages:\n`;
}

/**
 * List items for the end of the file. `indent` is the column of the dashes; a person may change it.
 */
export function printMessages(messages: readonly Message[], indent = 2): string {
  let text = '';
  for (const message of messages) text += printMessage(message, ' '.repeat(indent + 2), indent);
  return text;
}

function printMessage(message: Message, pad: string, dash: number): string {
  const inner = dash + 4;
  let text = `${' '.repeat(dash)}- role: ${message.role}\n`;
  if (message.from !== undefined) text += `${pad}from: ${yamlLine(message.from)}\n`;
  if (message.kind !== undefined) text += `${pad}kind: ${message.kind}\n`;
  if (message.cause !== undefined) text += `${pad}cause: ${yamlLine(message.cause)}\n`;
  if (message.taint !== undefined) text += `${pad}taint: [${message.taint.map(closed).join(', ')}]\n`;
  if (message.task !== undefined) text += `${pad}task: ${yamlLine(message.task)}\n`;
  if (message.definition !== undefined) text += `${pad}definition: ${yamlLine(message.definition)}\n`;
  if (message.pins !== undefined) text += `${pad}pins: ${printPins(message.pins)}\n`;
  if (message.compacted !== undefined)
    text += `${pad}compacted: {up_to: ${message.compacted.upTo}, short_to: ${message.compacted.shortTo}}\n`;
  if (message.name !== undefined) text += `${pad}name: ${yamlLine(message.name)}\n`;
  if (message.toolCallId !== undefined) text += `${pad}tool_call_id: ${yamlLine(message.toolCallId)}\n`;
  if (message.isError !== undefined) text += `${pad}is_error: ${message.isError}\n`;
  if (message.code !== undefined) text += `${pad}code: ${message.code}\n`;
  if (message.final) text += `${pad}final: true\n`;
  if (message.files !== undefined) text += `${pad}files: [${message.files.map(printFile).join(', ')}]\n`;
  if (message.private) text += `${pad}private: ${message.private}\n`;
  // For these roles a missing timestamp proves nothing, because people leave it out: see
  // `repairTail`.
  const marked = message.role === 'user' || message.role === 'system';
  text += `${pad}content: ${yamlText(message.content, inner, marked)}\n`;
  if (message.toolCalls !== undefined) text += `${pad}tool_calls:${printCalls(message.toolCalls, inner)}\n`;
  if (message.usage !== undefined) text += `${pad}usage: ${printUsage(message.usage)}\n`;
  if (message.provider !== undefined) text += `${pad}provider: ${printProvider(message.provider)}\n`;
  return `${text}${pad}timestamp: ${closed(message.timestamp ?? '')}\n`;
}

function printPins({ system, tools }: Pins): string {
  return `{system: ${closed(system)}, tools: ${closed(tools)}}`;
}

/** A quoted scalar on one line. If it is cut off anywhere, it does not parse. */
function closed(text: string): string {
  return /^[A-Za-z0-9:.+ -]*$/.test(text) ? `'${text}'` : JSON.stringify(text).replace(/[\u007f-\uffff]/g, escape);
}

function escape(char: string): string {
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

function printCalls(calls: readonly ToolCall[], indent: number): string {
  const list = calls.map((call) =>
    defined({
      id: call.id,
      type: 'function',
      function: {
        name: call.name,
        arguments: fitsYaml(call.arguments) ? call.arguments : JSON.stringify(call.arguments),
      },
      fault: call.fault,
    }),
  );
  return yamlValue(list, indent);
}

function printUsage(usage: MessageUsage): string {
  const fields: [string, string | number | undefined][] = [
    ['model', usage.model === undefined ? undefined : closed(usage.model)],
    ['input_tokens', usage.inputTokens],
    ['output_tokens', usage.outputTokens],
    ['cached_tokens', usage.cachedTokens],
    ['micro_usd', usage.microUsd],
    ['ms', usage.ms],
  ];
  return flow(fields);
}

function printFile({ name, mediaType, blob, bytes }: FileRef): string {
  return flow([
    ['name', closed(name)],
    ['media_type', closed(mediaType)],
    ['blob', closed(blob)],
    ['bytes', bytes],
  ]);
}

function printProvider({ name, model, message, chain, parts, blob }: ProviderData): string {
  return flow(
    Object.entries({ name, model, message, chain, parts, blob }).map(([key, value]) => [
      key,
      value === undefined ? undefined : closed(value),
    ]),
  );
}

function flow(fields: [string, string | number | undefined][]): string {
  const said = fields.filter(([, value]) => value !== undefined);
  return `{${said.map(([key, value]) => `${key}: ${value}`).join(', ')}}`;
}
