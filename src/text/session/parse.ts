/**
 * The reader of conversations. People edit these files and other programs write them differently,
 * so it is tolerant: timestamps may be missing, a wrong optional key is ignored, arguments may be
 * JSON text. It is written by hand for that reason; `test/schemas/session.test.ts` compares it with
 * the schema.
 */
import { isMapping, parseMapping } from '../../domain/mapping.js';
import { defined } from '../../domain/defined.js';
import { isProblemCode, problem, type Problem } from '../../domain/problem.js';
import {
  boundedCall,
  MESSAGE_KINDS,
  SESSION_STATUSES,
  type Compacted,
  type Message,
  type MessageUsage,
  type Pins,
  type ProviderData,
  type Session,
  type SessionHeader,
  type ToolCall,
} from '../../domain/session/session.js';
import { readFileRefs } from '../../domain/file-ref.js';
import { withLegacyFields } from './legacy.js';
import { loadOwnFormat } from './own-format.js';
import { YamlPlaces, loadYaml, wholeFile } from '../yaml/parse.js';

export { printHeader, printMessages, printStatus } from './print.js';
export { appendPlace, hasFurtherKey, headLength, isBeheaded, makeAppendable, statusSpan } from './tail.js';

type SessionParsed = { ok: true; session: Session } | { ok: false; problem: Problem };

export function parseSession(text: string, file: string): SessionParsed {
  const source = wholeFile(file, text);
  const own = loadOwnFormat(text);
  const yaml = own === undefined ? loadYaml(source) : { ok: true as const, value: own };
  if (!yaml.ok) return { ok: false, problem: yaml.problem };
  try {
    return { ok: true, session: readSession(yaml.value, file) };
  } catch (thrown) {
    if (!(thrown instanceof Wrong)) throw thrown;
    const where = new YamlPlaces(source).value(thrown.path);
    return {
      ok: false,
      problem: problem('bad_field', thrown.message, { where, hint: thrown.hint }),
    };
  }
}

type Path = (string | number)[];
type Fields = Record<string, unknown>;

class Wrong extends Error {
  constructor(
    readonly path: Path,
    message: string,
    readonly hint?: string,
  ) {
    super(message);
  }
}

function readSession(value: unknown, file: string): Session {
  const given = fields(value, [], 'a session is a mapping that ends with the list "messages"');
  const messages = given['messages'] ?? [];
  if (!Array.isArray(messages)) throw new Wrong(['messages'], '"messages" must be a list');
  return {
    header: readHeader(given, file),
    messages: messages.map((message, i) => withLegacyFields(readMessage(message, ['messages', i]), i === 0)),
  };
}

function readHeader(given: Fields, file: string): SessionHeader {
  const agentId = words(given['agent_id']);
  if (agentId === undefined)
    throw new Wrong([], 'the session does not name an agent', 'add a line such as "agent_id: planner"');
  const header: SessionHeader = {
    sessionId: words(given['session_id']) ?? file.replace(/^.*\//, '').replace(/\.session\.ya?ml$/, ''),
    agentId,
    created: words(given['created']) ?? '',
    status: SESSION_STATUSES.find((status) => status === given['status']) ?? 'active',
  };
  const agentType = words(given['agent_type']);
  const model = words(given['model']);
  const definition = words(given['definition']);
  const task = words(given['task']);
  if (agentType !== undefined) header.agentType = agentType;
  if (model !== undefined) header.model = model;
  if (definition !== undefined) header.definition = definition;
  if (task !== undefined) header.task = task;
  const pins = readPins(given['pins']);
  if (pins !== undefined) header.pins = pins;
  const forkedFrom = words(given['forked_from']);
  if (forkedFrom !== undefined) header.forkedFrom = forkedFrom;
  const kept = number(given['kept']);
  if (kept !== undefined) header.kept = kept;
  return header;
}

const ROLES: Record<string, Message['role']> = {
  user: 'user',
  human: 'user',
  assistant: 'assistant',
  tool: 'tool',
  tool_result: 'tool',
  function: 'tool',
  system: 'system',
  developer: 'system',
};

function readMessage(value: unknown, path: Path): Message {
  const given = fields(value, path, 'a message is a mapping with "role" and "content"');
  const role = given['role'];
  if (typeof role !== 'string' || !Object.hasOwn(ROLES, role)) {
    const message = role === undefined ? 'this message has no role' : `unknown role ${JSON.stringify(role)}`;
    throw new Wrong([...path, 'role'], message, 'a role is user, assistant, tool or system');
  }
  const message: Message = { role: ROLES[role]!, content: asText(given['content']) };
  const name = words(given['name']);
  const from = words(given['from']);
  const callId = words(given['tool_call_id']);
  const timestamp = words(given['timestamp'] ?? given['ts']);
  if (name !== undefined) message.name = name;
  if (from !== undefined) message.from = from;
  const kind = MESSAGE_KINDS.find((one) => one === given['kind']);
  if (kind !== undefined) message.kind = kind;
  const cause = words(given['cause']);
  if (cause !== undefined) message.cause = cause;
  if (Array.isArray(given['taint'])) message.taint = given['taint'].map(asText);
  const task = words(given['task']);
  if (task !== undefined) message.task = task;
  const definition = words(given['definition']);
  if (definition !== undefined) message.definition = definition;
  const pins = readPins(given['pins']);
  if (pins !== undefined) message.pins = pins;
  const compacted = readCompacted(given['compacted']);
  if (compacted !== undefined) message.compacted = compacted;
  if (callId !== undefined) message.toolCallId = callId;
  if (typeof given['is_error'] === 'boolean') message.isError = given['is_error'];
  if (isProblemCode(given['code'])) message.code = given['code'];
  if (given['final'] === true) message.final = true;
  if (typeof given['private'] === 'string') message.private = given['private'];
  if (isFilled(given['tool_calls'])) message.toolCalls = readCalls(given['tool_calls'], [...path, 'tool_calls']);
  if (isFilled(given['usage']))
    message.usage = readUsage(fields(given['usage'], [...path, 'usage'], 'usage is a mapping'));
  const files = readFileRefs(given['files']);
  if (files.length > 0) message.files = files;
  const provider = readProvider(given['provider']);
  if (provider !== undefined) message.provider = provider;
  if (timestamp !== undefined && timestamp !== '') message.timestamp = timestamp;
  return message;
}

function readPins(value: unknown): Pins | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { system, tools } = value as Fields;
  return typeof system === 'string' && typeof tools === 'string' ? { system, tools } : undefined;
}

function readCompacted(value: unknown): Compacted | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const upTo = number((value as Fields)['up_to']);
  const shortTo = number((value as Fields)['short_to']) ?? upTo;
  return upTo === undefined ? undefined : { upTo, shortTo: shortTo! };
}

function readCalls(value: unknown, path: Path): ToolCall[] {
  if (!Array.isArray(value)) throw new Wrong(path, '"tool_calls" must be a list');
  return value.map((item: unknown, i) => {
    const call = fields(item, [...path, i], 'a tool call is a mapping with "id" and "function"');
    const inner = isFilled(call['function'])
      ? fields(call['function'], [...path, i, 'function'], '"function" is a mapping with "name" and "arguments"')
      : call;
    const name = words(inner['name']);
    if (name === undefined) throw new Wrong([...path, i], 'this tool call does not name a tool');
    const fault = words(call['fault']);
    return boundedCall(
      defined({
        id: words(call['id']) ?? `call-${i + 1}`,
        name,
        arguments: readArguments(inner['arguments'], [...path, i]),
        fault,
      }),
    );
  });
}

function readArguments(value: unknown, path: Path): Record<string, unknown> {
  if (!isFilled(value) || value === '') return {};
  if (typeof value !== 'string') return fields(value, path, '"arguments" must be a mapping or JSON text');
  const parsed = parseMapping(value);
  if (parsed !== undefined) return parsed;
  throw new Wrong(path, '"arguments" is text that is not a JSON object', 'write the arguments as a mapping');
}

function readUsage(given: Fields): MessageUsage {
  const usage: MessageUsage = {
    inputTokens: number(given['input_tokens']) ?? 0,
    outputTokens: number(given['output_tokens']) ?? 0,
  };
  const model = words(given['model']);
  const cached = number(given['cached_tokens']);
  const microUsd = number(given['micro_usd']);
  const ms = number(given['ms']);
  if (model !== undefined) usage.model = model;
  if (cached !== undefined) usage.cachedTokens = cached;
  if (microUsd !== undefined) usage.microUsd = microUsd;
  if (ms !== undefined) usage.ms = ms;
  return usage;
}

/** Only its provider reads it. Damaged data is left out, as if it had never been kept. */
function readProvider(value: unknown): ProviderData | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { name, model, message, chain, parts, blob } = value as Record<keyof ProviderData, unknown>;
  const said = [name, model, message, chain].map(words);
  if (said.includes(undefined)) return undefined;
  return defined({
    name: said[0]!,
    model: said[1]!,
    message: said[2]!,
    chain: said[3]!,
    parts: typeof parts === 'string' ? parts : undefined,
    blob: typeof blob === 'string' ? blob : undefined,
  });
}

function fields(value: unknown, path: Path, want: string): Fields {
  if (isMapping(value)) return value;
  throw new Wrong(path, want);
}

function isFilled(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** Names that look like numbers are still names. */
function words(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}

function number(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

function asText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (!isFilled(value)) return '';
  if (typeof value !== 'object') return String(value);
  try {
    return JSON.stringify(value);
  } catch {
    return '[a value that contains itself]';
  }
}
