/**
 * The parts of a conversation file that are handled as text, not as YAML: the status near the top,
 * which is overwritten in place, and the last item, which a crash may have cut off. Only text that
 * a reader could not use is ever removed.
 */
import type { Message } from '../../domain/session/session.js';
import { printMessages } from './print.js';
import { loadYaml, wholeFile } from '../yaml/parse.js';

/** Byte offset and length of the padded status value; undefined if a person shortened it. */
export function statusSpan(text: string): { offset: number; length: number } | undefined {
  const header = text.slice(0, messagesLine(text)?.start ?? text.length);
  const match = /^status: ([a-z]+ *)\r?$/m.exec(header);
  if (match === null || match[1]!.length < 9) return undefined;
  return { offset: Buffer.byteLength(text.slice(0, match.index)) + 'status: '.length, length: match[1]!.length };
}

/**
 * For a file whose writer died: `kept` has whole messages and ends where the next can be appended,
 * and `torn` is the rest. `kept` is the beginning of `text`, plus a newline if only that was
 * missing.
 */
export function repairTail(text: string): { kept: string; torn: string } {
  const nul = text.indexOf('\0');
  const solid = nul < 0 ? text : text.slice(0, nul);
  const messages = messagesLine(solid);
  if (messages === undefined) return split(text, text.length);
  // If another key follows the messages, the program did not append the end of the text.
  const start = KEY_FOLLOWS.test(solid.slice(messages.end)) ? undefined : lastItem(solid, messages.end);
  const end = start !== undefined && isCut(solid.slice(start)) ? start : solid.length;
  return split(text, end);
}

/**
 * True if a power cut left the file without its first message, so that no answer can have come from
 * it.
 */
export function isBeheaded(text: string): boolean {
  return messagesLine(text.split('\0', 1)[0]!) === undefined;
}

/**
 * How to append items: `before`, then the items with their dashes at column `indent`. Undefined if
 * the list is not the end of the file (a key follows, or it is a flow list), because appending
 * would break it.
 */
export function appendPlace(text: string): { indent: number; before: string } | undefined {
  const messages = messagesLine(text);
  if (messages === undefined || /^messages:[ \t]*[^ \t\r\n#]/.test(text.slice(messages.start))) return undefined;
  const list = text.slice(messages.end);
  if (KEY_FOLLOWS.test(list)) return undefined;
  const before = text === '' || text.endsWith('\n') ? '' : '\n';
  return { indent: /^( *)-(?= |\r?$)/m.exec(list)?.[1]!.length ?? 2, before };
}

const KEY_FOLLOWS = /^[^\s#-]/m;

/** Whether something other than items follows in this part of the list of messages. */
export function hasFurtherKey(list: string): boolean {
  return KEY_FOLLOWS.test(list);
}

/** Where the list of messages begins. */
export function headLength(text: string): number | undefined {
  return messagesLine(text)?.end;
}

/**
 * The same session in a form that can grow: a list that is not the last key moves to the end, and a
 * flow list becomes items. All other lines stay. For texts that parse and have no `appendPlace`.
 */
export function makeAppendable(text: string, messages: readonly Message[]): string {
  const whole = text === '' || text.endsWith('\n') ? text : `${text}\n`;
  const line = messagesLine(whole);
  if (line === undefined) return `${whole}messages:\n${printMessages(messages)}`;
  const after = KEY_FOLLOWS.exec(whole.slice(line.end));
  const end = after === null ? whole.length : line.end + after.index;
  const isBlock = /^messages:[ \t]*(?:#.*)?\r?\n$/.test(whole.slice(line.start, line.end));
  const list = isBlock ? whole.slice(line.start, end) : `messages:\n${printMessages(messages)}`;
  return whole.slice(0, line.start) + whole.slice(end) + list;
}

function messagesLine(text: string): { start: number; end: number } | undefined {
  const match = /^messages:.*(?:\n|$)/m.exec(text);
  return match === null ? undefined : { start: match.index, end: match.index + match[0].length };
}

/** Where the last list item begins. The first item shows how far the dashes are indented. */
function lastItem(text: string, from: number): number | undefined {
  const first = /^( *)-(?= |\r?$)/m.exec(text.slice(from));
  if (first === null) return undefined;
  const dash = `\n${first[1]}-`;
  for (let at = text.lastIndexOf(dash); at >= from - 1; at = text.lastIndexOf(dash, at - 1)) {
    const next = text[at + dash.length];
    if (next === undefined || /[ \r\n]/.test(next)) return at + 1;
    if (at === 0) break;
  }
  return undefined;
}

function isCut(item: string): boolean {
  const yaml = loadYaml(wholeFile('', item));
  if (!yaml.ok || !Array.isArray(yaml.value) || yaml.value.length !== 1) return true;
  const message = yaml.value[0] as Record<string, unknown> | null;
  if (typeof message !== 'object' || message === null) return true;
  if (typeof message['timestamp'] === 'string') return false;
  if (!/^(?:user|human|system|developer)$/.test(String(message['role']))) return true;
  // A message of a person needs no timestamp. Text that the program has quoted is whole if it
  // parses. A block that states its indentation may have lost its end.
  return message['content'] === undefined || message['content'] === null || OUR_BLOCK.test(item);
}

const OUR_BLOCK = /^ *- role: .*\n(?: +[a-z_]+: .*\n)*? +content: \|(?:2|\s*$)/;

/** Drops the blanks of an unfinished line too: they would indent the next dash. */
function split(text: string, end: number): { kept: string; torn: string } {
  const kept = text.slice(0, end).replace(/\n[ \t]+$/, '\n');
  const torn = text.slice(kept.length);
  return { kept: kept === '' || kept.endsWith('\n') ? kept : `${kept}\n`, torn };
}
