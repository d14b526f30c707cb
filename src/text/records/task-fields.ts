/**
 * The reader of task records. It is written by hand because a workspace may have ten thousand
 * tasks, and the commands that read them must start fast. `test/schemas/task.test.ts` checks that
 * it accepts the same records as the schema. `null` counts as absent.
 */
import { isMapping } from '../../domain/mapping.js';
import { BUDGET_NAMES } from '../../domain/budget/budget.js';
import { defined } from '../../domain/defined.js';
import { isSafeId } from '../../domain/task/id.js';
import type { Certificate } from '../../domain/task/certificate.js';
import { isProblemCode, problem, type Problem, type ProblemCode, type Where } from '../../domain/problem.js';
import { readPriority } from '../../domain/task/priority.js';
import { cronFault, zoneFault, type Schedule } from '../../domain/schedule.js';
import type { LostTaker, Task, Waits, Written } from '../../domain/task/task.js';
import type { Usage } from '../../domain/budget/usage.js';
import { readBudget } from '../../schemas/amounts.js';

export interface FieldFault {
  path: (string | number)[];
  code: ProblemCode;
  message: string;
  hint?: string;
}

type Fields = Partial<Task> & Pick<Task, 'description'>;
type FieldsRead = { ok: true; fields: Fields } | { ok: false; fault: FieldFault };

/** In the order in which they are printed; the schema has the same. */
export const KNOWN = [
  'id',
  'parent',
  'root',
  'depth',
  'role',
  'type',
  'description',
  'to',
  'from',
  'requirements',
  'dependencies',
  'attachments',
  'context',
  'priority',
  'schedule',
  'budget',
  'created_by',
  'created_at',
  'claimed_by',
  'claimed_at',
  'retries',
  'attempts',
  'lost',
  'session',
  'written',
  'waits',
  'bids',
  'result',
  'error',
  'ended_at',
  'certificate',
  'usage',
  'own_usage',
  'version',
] as const;

/** The known fields of a record, or the first fault in it. */
export function readFields(record: Record<string, unknown>): FieldsRead {
  try {
    const fields: Record<string, unknown> = {};
    let extra: Record<string, unknown> | undefined;
    for (const key of Object.keys(record)) {
      const value = record[key];
      if (key === 'parent_id') {
        const parent = value === null ? undefined : readId(value, [key]);
        if (parent !== undefined && (record['parent'] ?? null) === null) fields['parent'] = parent;
        continue;
      }
      const read = Object.hasOwn(READERS, key) ? READERS[key as keyof typeof READERS] : undefined;
      if (read !== undefined) {
        if (value !== null) fields[key] = read(value, [key]);
      } else {
        extra ??= {};
        // a plain assignment to `__proto__` would set the prototype instead
        Object.defineProperty(extra, key, { value, enumerable: true, configurable: true, writable: true });
      }
    }
    if (extra !== undefined) fields['extra'] = extra;
    if (typeof fields['description'] !== 'string') {
      const hint = 'add a "description": one sentence that says what to do';
      throw new Wrong({ path: [], code: 'bad_field', message: 'the task has no description', hint });
    }
    return { ok: true, fields: fields as unknown as Fields };
  } catch (thrown) {
    if (thrown instanceof Wrong) return { ok: false, fault: thrown.fault };
    throw thrown;
  }
}

type Path = (string | number)[];

class Wrong extends Error {
  constructor(readonly fault: FieldFault) {
    super(fault.message);
  }
}

function wrong(path: Path, want: string, code: ProblemCode = 'bad_field', hint?: string): never {
  throw new Wrong({ path, code, message: `"${path.join('.')}" must be ${want}`, hint });
}

const READERS = {
  id: readText,
  parent: readId,
  root: readId,
  depth: readCount,
  role: readText,
  type: readText,
  description: readDescription,
  to: readPeer,
  from: readText,
  requirements: readTexts,
  attachments: readTexts,
  dependencies: readIds,
  context: readContext,
  priority: readUrgency,
  schedule: readSchedule,
  budget: readLimits,
  created_by: readText,
  created_at: readText,
  claimed_by: readText,
  claimed_at: readText,
  retries: readCount,
  attempts: readCount,
  lost: readLost,
  session: readId,
  written: readWritten,
  waits: readWaits,
  bids: readIds,
  result: readText,
  error: readError,
  ended_at: readText,
  certificate: readCertificate,
  usage: readUsage,
  own_usage: readUsage,
  version: readCount,
} satisfies Record<(typeof KNOWN)[number], (value: unknown, path: Path) => unknown>;

function readText(value: unknown, path: Path): string {
  return typeof value === 'string' ? value : wrong(path, 'text');
}

function readDescription(value: unknown, path: Path): string {
  const text = readText(value, path);
  return text.trim() === '' ? wrong(path, 'text that says what to do') : text;
}

function readId(value: unknown, path: Path): string {
  const id = readText(value, path);
  return isSafeId(id) ? id : wrong(path, 'an id: letters, digits, "_", "-" and ".", at most 100', 'bad_name');
}

/**
 * A name that could leave its folder is refused here. If the agent does not exist, the task fails
 * later.
 */
function readPeer(value: unknown, path: Path): string {
  const name = readText(value, path).replace(/^@/, '');
  // oxlint-disable-next-line no-control-regex
  const unsafe = name === '' || name.length > 100 || /[/\\\u0000-\u001f\u007f]/.test(name) || name.startsWith('.');
  return unsafe ? wrong(path, "an agent's name, or human", 'bad_name') : name;
}

function readCount(value: unknown, path: Path): number {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : wrong(path, 'a whole number');
}

function readObject(value: unknown, path: Path): Record<string, unknown> {
  if (isMapping(value)) return value;
  return wrong(path, 'an object');
}

function readTexts(value: unknown, path: Path): string[] {
  if (typeof value === 'string') return [value];
  if (!Array.isArray(value)) return wrong(path, 'a list of texts');
  return value.map((item, i) => readText(item, [...path, i]));
}

function readIds(value: unknown, path: Path): string[] {
  if (typeof value === 'string') return [readId(value, path)];
  if (!Array.isArray(value)) return wrong(path, 'a list of task ids');
  return value.map((item, i) => readId(item, [...path, i]));
}

function readContext(value: unknown, path: Path): Record<string, unknown> {
  const context = readObject(value, path);
  const goal = Object.hasOwn(context, 'original_goal') ? context['original_goal'] : undefined;
  if (goal === null) {
    const { original_goal: _, ...rest } = context;
    return rest;
  }
  if (goal !== undefined) readText(goal, [...path, 'original_goal']);
  return context;
}

function readUrgency(value: unknown, path: Path): Task['priority'] {
  return readPriority(value) ?? wrong(path, 'A, B, C or D (critical, high, normal, low)');
}

function readSchedule(value: unknown, path: Path): Schedule {
  if (typeof value === 'string') return { cron: readChecked(value, path, cronFault) };
  const { cron, timezone, missed, ...written } = readObject(value, path);
  const schedule: Schedule = { cron: readChecked(cron, [...path, 'cron'], cronFault) };
  if (timezone !== undefined && timezone !== null)
    schedule.timezone = readChecked(timezone, [...path, 'timezone'], zoneFault);
  if (missed === 'once') schedule.missed = missed;
  else if (missed !== undefined && missed !== null && missed !== 'report') wrong([...path, 'missed'], 'report or once');
  for (const key of ['last', 'run', 'planned', 'note'] as const)
    if (typeof written[key] === 'string') schedule[key] = written[key];
  return schedule;
}

function readChecked(value: unknown, path: Path, faultOf: (text: string) => string | undefined): string {
  const text = readText(value, path);
  const message = faultOf(text);
  if (message !== undefined) throw new Wrong({ path, code: 'bad_field', message });
  return text;
}

function readLimits(value: unknown, path: Path): Task['budget'] {
  const read = readBudget(readObject(value, path));
  if (read.ok) return read.budget;
  return read.known
    ? wrong([...path, read.key], read.want)
    : wrong([...path, read.key], `one of: ${read.want}`, 'unknown_key');
}

function readLost(value: unknown, path: Path): LostTaker[] {
  if (!Array.isArray(value)) return wrong(path, 'a list');
  return value.map((taker: unknown, i) => {
    const { at, agent, messages, beside } = readObject(taker, [...path, i]);
    return defined({
      at: readText(at, [...path, i, 'at']),
      agent: readText(agent, [...path, i, 'agent']),
      messages: readCount(messages, [...path, i, 'messages']),
      beside: beside === undefined || beside === null ? undefined : readCount(beside, [...path, i, 'beside']),
    });
  });
}

function readWritten(value: unknown, path: Path): Written {
  const { messages, last, prints, secrets_on: host } = readObject(value, path);
  return defined({
    messages: readCount(messages, [...path, 'messages']),
    last: readText(last, [...path, 'last']),
    prints: typeof prints === 'string' ? prints : undefined,
    secrets_on: typeof host === 'string' ? host : undefined,
  });
}

function readWaits(value: unknown, path: Path): Waits {
  const { tasks, until, file, budget } = readObject(value, path);
  const waits: Waits = {};
  if (tasks !== undefined && tasks !== null) waits.tasks = readIds(tasks, [...path, 'tasks']);
  if (until !== undefined && until !== null) waits.until = readText(until, [...path, 'until']);
  if (file !== undefined && file !== null) waits.file = readText(file, [...path, 'file']);
  const short = BUDGET_NAMES.find((name) => name === budget);
  if (short !== undefined) waits.budget = short;
  return waits;
}

const COUNTS = {
  turns: 'turns',
  tool_calls: 'toolCalls',
  input_tokens: 'inputTokens',
  output_tokens: 'outputTokens',
} as const;
const MORE_COUNTS = {
  cached_tokens: 'cachedTokens',
  micro_usd: 'microUsd',
  busy_ms: 'busyMs',
  children: 'children',
} as const;

function readUsage(value: unknown, path: Path): Usage {
  const record = readObject(value, path);
  const usage = {} as Usage;
  for (const [key, name] of Object.entries({ ...COUNTS, ...MORE_COUNTS })) {
    const amount = record[key] ?? 0;
    if (typeof amount !== 'number' || amount < 0) wrong([...path, key], 'a number');
    usage[name] = amount;
  }
  return usage;
}

function readCertificate(value: unknown, path: Path): Certificate {
  const record = readObject(value, path);
  const read = (name: keyof Certificate): number => readCount(record[name] ?? 0, [...path, name]);
  return {
    open: read('open'),
    unread: read('unread'),
    effects: read('effects'),
    agreed: read('agreed'),
    of: read('of'),
  };
}

/** Our own Problem, or the plain text that other programs leave in `error`. */
function readError(value: unknown, path: Path): Problem {
  if (typeof value === 'string') return problem('tool_failed', value);
  const { code, message, where, hint } = readObject(value, path);
  const known = isProblemCode(code) ? code : 'bug';
  const read: Problem = { code: known, message: readText(message, [...path, 'message']) };
  if (where !== undefined && where !== null) read.where = readWhere(where, [...path, 'where']);
  if (hint !== undefined && hint !== null) read.hint = readText(hint, [...path, 'hint']);
  return read;
}

function readWhere(value: unknown, path: Path): Where {
  const { file, line, column, source } = readObject(value, path);
  const where: Where = { file: readText(file, [...path, 'file']) };
  if (line !== undefined && line !== null) where.line = readCount(line, [...path, 'line']);
  if (column !== undefined && column !== null) where.column = readCount(column, [...path, 'column']);
  if (source !== undefined && source !== null) where.source = readText(source, [...path, 'source']);
  return where;
}
