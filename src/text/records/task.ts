/**
 * One task, one JSON file. A person may drop a file with nothing but a `description`; the program
 * writes the whole record. A file that cannot be read is either *held* (a save may be in progress,
 * so it is read again later) or *quarantined* (waiting will not make it valid). Unknown keys are
 * kept.
 */
import { isMapping } from '../../domain/mapping.js';
import { attempt } from '../../domain/attempt.js';
import { isSafeId } from '../../domain/task/id.js';
import { problem, type Problem } from '../../domain/problem.js';
import { roleFacts } from '../../domain/task/role.js';
import { TASK_VERSION, makeTask, rootRole, type Task } from '../../domain/task/task.js';
import { usageFields } from '../../domain/budget/usage.js';
import { printBudget } from '../../schemas/amounts.js';
import { printExact } from '../lines/exact-number.js';
import { jsonOffset, parseJson } from '../lines/json.js';
import { readFields, KNOWN, type FieldFault } from './task-fields.js';
import { decodeUtf8 } from '../lines/utf8.js';
import { whereAt } from '../lines/where.js';

export type TaskParsed =
  | { kind: 'task'; task: Task }
  | { kind: 'hold'; problem: Problem }
  | { kind: 'quarantine'; problem: Problem };

interface TaskFile {
  /** Path to name in messages. */
  file: string;
  /** The file's name without `.json`: the id if the content has none. */
  name: string;
  /** When the file was found: `created_at` if the content has none. */
  now: string;
  maxBytes?: number;
}

export function parseTask(bytes: Uint8Array, taskFile: TaskFile): TaskParsed {
  const { file } = taskFile;
  if (taskFile.maxBytes !== undefined && bytes.length > taskFile.maxBytes) {
    return quarantine(
      problem('over_limit', `this task has ${bytes.length} bytes; the limit is ${taskFile.maxBytes}`, {
        where: { file },
        hint: 'keep the bulk in a file under context/ and name it in the description',
      }),
    );
  }
  const text = decode(bytes);
  if (text === undefined) return quarantine(notText(bytes, file));
  const json = parseJson(text, file, { exact: true });
  if (!json.ok) return json.torn ? hold(tornProblem(text, file, json.problem)) : quarantine(hinted(json.problem));
  const { value } = json;
  if (!isMapping(value)) {
    return quarantine(
      problem('bad_field', 'a task is a JSON object', {
        where: whereAt(file, text, 0),
        hint: 'write at least {"description": "what to do"}',
      }),
    );
  }
  return fromRecord(value, text, taskFile);
}

/**
 * The record as the program writes it: indented, keys in a fixed order, unknown keys at the end.
 */
export function printTask(task: Task): string {
  const { budget, usage, own_usage: own, extra, context } = task;
  const record: Record<string, unknown> = {};
  for (const key of KNOWN) {
    if (task[key] !== undefined) record[key] = task[key];
  }
  record['context'] = shallow(context, DEEPEST);
  if (budget !== undefined) record['budget'] = printBudget(budget);
  if (usage !== undefined) record['usage'] = usageFields(usage);
  if (own !== undefined) record['own_usage'] = usageFields(own);
  // a known key wins over an unknown one of the same name; spread, because `__proto__` may be a key
  const whole = extra === undefined ? record : { ...record, ...(shallow(extra, DEEPEST) as object), ...record };
  return `${printExact(whole)}\n`;
}

const FINISH_SAVING = 'finish saving it, or remove it: it is ignored until it can be read';
const FIX_AND_RETURN = 'fix the file, then put it back into tasks/pending';

/** Deeper values become JSON text: the record must stay within the depth that is read back. */
const DEEPEST = 40;

function hold(p: Problem): TaskParsed {
  return { kind: 'hold', problem: p };
}

function quarantine(p: Problem): TaskParsed {
  return { kind: 'quarantine', problem: p };
}

function hinted(p: Problem): Problem {
  return { ...p, hint: p.hint ?? FIX_AND_RETURN };
}

function decode(bytes: Uint8Array): string | undefined {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  if (text.includes('\0')) return undefined;
  if (!text.includes('\uFFFD')) return text;
  return attempt(() => new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
}

function notText(bytes: Uint8Array, file: string): Problem {
  const wide = (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff);
  const nul = bytes.indexOf(0);
  const at = wide ? 0 : nul < 0 ? undefined : nul;
  const bad = at === undefined ? decodeUtf8(bytes) : undefined;
  const what = wide ? 'this file is UTF-16' : nul >= 0 ? 'this file has NUL bytes' : 'this file is not UTF-8';
  const where =
    typeof bad === 'object' ? { file, ...bad } : whereAt(file, Buffer.from(bytes).toString('latin1'), at ?? 0);
  return problem('bad_file', what, {
    where,
    hint: `save it as UTF-8 text, then put it back into tasks/pending`,
  });
}

function tornProblem(text: string, file: string, syntax: Problem): Problem {
  if (/^\uFEFF?\s*$/.test(text))
    return problem('bad_file', 'the file is empty', { where: { file }, hint: FINISH_SAVING });
  const mark = /^(?:<{7}|={7}|>{7})(?: |\r?$)/m.exec(text);
  if (mark === null) return { ...syntax, hint: syntax.hint ?? FINISH_SAVING };
  return problem('bad_file', 'the file has an unresolved merge conflict', {
    where: whereAt(file, text, mark.index),
    hint: 'resolve the conflict: the file is ignored until it can be read',
  });
}

function fromRecord(record: Record<string, unknown>, text: string, taskFile: TaskFile): TaskParsed {
  const { file } = taskFile;
  const placed = (fault: FieldFault): Problem => {
    const offset = fault.path.length === 0 ? undefined : jsonOffset(text, fault.path);
    return problem(fault.code, fault.message, {
      where: offset === undefined ? { file } : whereAt(file, text, offset),
      hint: fault.hint ?? FIX_AND_RETURN,
    });
  };
  const { version } = record;
  if (typeof version === 'number' && version > TASK_VERSION) {
    return hold(
      placed({
        path: ['version'],
        code: 'bad_file',
        message: `this record has version ${version}, which a newer Guildhall wrote; this one reads up to ${TASK_VERSION}`,
        hint: 'update Guildhall: the task is left alone until then',
      }),
    );
  }
  const read = readFields(record);
  if (!read.ok) return quarantine(placed(read.fault));
  const { fields } = read;
  const id = fields.id ?? taskFile.name;
  if (!isSafeId(id)) {
    const path = fields.id === undefined ? [] : ['id'];
    return quarantine(
      placed({ path, code: 'bad_name', message: `${JSON.stringify(id)} cannot be an id`, hint: ID_HINT }),
    );
  }
  const created = { id, description: fields.description, created_at: fields.created_at ?? taskFile.now };
  // assigned, not spread: spreading thirty keys takes most of the time of reading
  const task = Object.assign(makeTask(created), defaultsUnder(fields.parent), fields);
  if (fields.schedule !== undefined && fields.parent !== undefined)
    return quarantine(
      placed({ path: ['schedule'], code: 'bad_field', message: 'a task with a parent cannot have a schedule' }),
    );
  if (fields.schedule !== undefined || roleFacts(task.role).isSchedule) task.role = rootRole(fields.schedule);
  task.context = { original_goal: fields.description, ...fields.context };
  return { kind: 'task', task };
}

const ID_HINT = 'use letters, digits, "_", "-" and ".", no dot or dash first, at most 100 in all';

/** By default, a task that names a parent is a subtask directly under it. */
function defaultsUnder(parent: string | undefined): Partial<Task> {
  return parent === undefined ? {} : { root: parent, depth: 1, role: 'subtask' };
}

function shallow(value: unknown, levels: number): unknown {
  if (typeof value !== 'object' || value === null || fits(value, levels)) return value;
  if (levels === 0) return JSON.stringify(value);
  if (Array.isArray(value)) return value.map((item) => shallow(item, levels - 1));
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, shallow(field, levels - 1)]));
}

function fits(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (levels === 0) return false;
  for (const field of Array.isArray(value) ? value : Object.values(value)) if (!fits(field, levels - 1)) return false;
  return true;
}
