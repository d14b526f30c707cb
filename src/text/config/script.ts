/**
 * A script of a model's behaviour, in YAML: a list of lines. The first line that fits the question and is not used up answers.
 *
 *   - agent: planner          # name, glob, or a list; absent: any agent
 *     task: "*.advisor-*"     # glob on the task id, or a list
 *     turn: 1                 # number of the model call in this conversation; also [1, 3] or {from: 2, to: 5}
 *     when: redis             # text or /regex/i in what came since the model last spoke; a list: one of them is enough
 *     times: 1                # how often this line may answer in one process; absent: without end
 *     say: I'll look it up.
 *     call:                   # tool calls, in order
 *       - read_file: {path: memory/system-config.md}
 *     usage: {input: 120, output: 30, cached: 0}      # else characters / 4
 *     wait: 50ms              # before the answer      pace: 5ms   before each streamed piece
 *     fail: rate              # a failure instead of an answer: auth, quota, rate, context …
 *     retry_after: 2s         # only with fail         message: …  only with fail
 *     finish: length          # length or filtered, where the answer shall look cut
 *
 * `when` may also be a map, of which all parts must fit: `last` (as above), `any` (the whole conversation), `system` (the system
 * prompt), `tool: {read_file: text}` (a result of that tool since the model last spoke; `tool: read_file`: whatever it says).
 * Keys are strict: a misspelt one must not silently widen what a line fits.
 */
import { isMap, isScalar, isSeq, parseDocument, type Document, type Node, type YAMLMap } from 'yaml';
import { nearest } from '../../domain/nearest.js';
import { problem, type Problem, type Where } from '../../domain/problem.js';
import { durationMs } from '../../schemas/amounts.js';
import { placesIn } from '../lines/where.js';

export type Pattern = string | RegExp;

interface ScriptWhen {
  last?: Pattern[];
  any?: Pattern[];
  system?: Pattern[];
  tool?: { name: string; says?: Pattern[] }[];
}

interface ScriptCall {
  name: string;
  arguments: Record<string, unknown>;
}

export interface ScriptLine {
  /** Where it begins in the file, from 1. */
  line: number;
  agent?: string[];
  task?: string[];
  turn?: { from: number; to: number }[];
  when?: ScriptWhen;
  times?: number;
  say: string;
  call: ScriptCall[];
  usage?: { input?: number; output?: number; cached?: number };
  waitMs: number;
  paceMs: number;
  fail?: string;
  message?: string;
  retryAfterMs?: number;
  finish?: 'length' | 'filtered';
}

type ScriptRead = { ok: true; lines: ScriptLine[] } | { ok: false; problems: Problem[] };

const KEYS = [
  'agent',
  'task',
  'turn',
  'when',
  'times',
  'say',
  'call',
  'usage',
  'wait',
  'pace',
  'fail',
  'retry_after',
  'message',
  'finish',
];

/** Reads a script. `failures` are the names that `fail` may take. */
export function readScript(text: string, file: string, failures: readonly string[]): ScriptRead {
  const doc = parseDocument(text, {
    version: '1.2',
    schema: 'core',
    uniqueKeys: true,
    merge: false,
    prettyErrors: false,
  });
  const page = new Page(text, file, doc);
  for (const error of doc.errors)
    page.complain('bad_file', error.message.split('\n')[0]!.replace(/[.:]$/, ''), error.pos[0]);
  if (page.problems.length > 0) return { ok: false, problems: page.problems };
  const lines: ScriptLine[] = [];
  if (isSeq(doc.contents)) {
    for (const item of doc.contents.items) {
      if (isMap(item)) lines.push(readLine(item, page, failures));
      else page.complain('bad_field', 'a line of a script is a map such as {agent: planner, say: hello}', offset(item));
    }
  } else if (doc.contents !== null && !(isScalar(doc.contents) && doc.contents.value === null)) {
    page.complain('bad_field', 'a script is a list of lines, each beginning with "- "', 0);
  }
  return page.problems.length > 0 ? { ok: false, problems: page.problems } : { ok: true, lines };
}

function readLine(map: YAMLMap, page: Page, failures: readonly string[]): ScriptLine {
  const line: ScriptLine = { line: page.line(offset(map)), say: '', call: [], waitMs: 0, paceMs: 0 };
  const seen = page.entries(map, KEYS);
  const read = <T>(key: string, reader: (value: unknown, at: number) => T | undefined): T | undefined => {
    const found = seen.get(key);
    return found === undefined ? undefined : reader(found.value, found.at);
  };
  line.agent = read('agent', page.texts);
  line.task = read('task', page.texts);
  line.turn = read('turn', page.turns);
  line.when = read('when', (value, at) => readWhen(value, at, page));
  line.times = read('times', (value, at) => page.count(value, at, 1));
  line.say = read('say', page.text) ?? '';
  line.call = read('call', (value, at) => readCalls(value, at, page)) ?? [];
  line.usage = read('usage', (value, at) => readUsage(value, at, page));
  line.waitMs = read('wait', page.duration) ?? 0;
  line.paceMs = read('pace', page.duration) ?? 0;
  line.fail = read('fail', (value, at) => page.oneOf(value, at, failures));
  line.message = read('message', page.text);
  line.retryAfterMs = read('retry_after', page.duration);
  line.finish = read('finish', (value, at) => page.oneOf(value, at, ['length', 'filtered'])) as ScriptLine['finish'];
  for (const key of line.fail === undefined && !seen.has('fail')
    ? ['retry_after', 'message']
    : ['call', 'finish', 'usage']) {
    const found = seen.get(key);
    if (found)
      page.complain(
        'bad_field',
        line.fail === undefined ? `"${key}" is only for a line with "fail"` : `a line with "fail" cannot have "${key}"`,
        found.at,
      );
  }
  if (!seen.has('say') && !seen.has('call') && !seen.has('fail')) {
    page.complain('bad_field', 'this line does nothing: give it "say", "call" or "fail"', offset(map));
  }
  return line;
}

function readWhen(value: unknown, at: number, page: Page): ScriptWhen | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return { last: page.patterns(value, at) };
  const when: ScriptWhen = {};
  for (const [key, inner] of Object.entries(value)) {
    if (key === 'last' || key === 'any' || key === 'system') when[key] = page.patterns(inner, at);
    else if (key === 'tool') when.tool = readWhenTool(inner, at, page);
    else page.complain('unknown_key', `"when" has no part "${key}"; it knows last, any, system and tool`, at);
  }
  return when;
}

function readWhenTool(value: unknown, at: number, page: Page): ScriptWhen['tool'] {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return Object.entries(value).map(([name, says]) => ({
      name,
      ...(says === null ? {} : { says: page.patterns(says, at) ?? [] }),
    }));
  }
  return (page.texts(value, at) ?? []).map((name) => ({ name }));
}

function readCalls(value: unknown, at: number, page: Page): ScriptCall[] {
  const calls: ScriptCall[] = [];
  for (const item of Array.isArray(value) ? value : [value]) {
    if (typeof item === 'string' && item !== '') calls.push({ name: item, arguments: {} });
    else if (typeof item !== 'object' || item === null || Array.isArray(item) || Object.keys(item).length === 0) {
      page.complain(
        'bad_field',
        'a call is the name of a tool with its arguments, such as read_file: {path: a.md}',
        at,
      );
    } else {
      for (const [name, given] of Object.entries(item)) {
        if (given === null) calls.push({ name, arguments: {} });
        else if (typeof given === 'object' && !Array.isArray(given))
          calls.push({ name, arguments: given as Record<string, unknown> });
        else page.complain('bad_field', `the arguments of ${name} must be a map`, at);
      }
    }
  }
  return calls;
}

function readUsage(value: unknown, at: number, page: Page): ScriptLine['usage'] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    page.complain('bad_field', '"usage" is a map such as {input: 120, output: 30}', at);
    return undefined;
  }
  const usage: NonNullable<ScriptLine['usage']> = {};
  for (const [key, inner] of Object.entries(value)) {
    if (key === 'input' || key === 'output' || key === 'cached') usage[key] = page.count(inner, at, 0);
    else page.complain('unknown_key', `"usage" has no part "${key}"; it knows input, output and cached`, at);
  }
  return usage;
}

/** The file while it is being read: turns values into what a line needs, and collects complaints with their places. */
class Page {
  readonly problems: Problem[] = [];
  private readonly whereAt: (offset: number) => Where;
  constructor(
    source: string,
    file: string,
    private readonly doc: Document,
  ) {
    this.whereAt = placesIn(file, source);
  }

  line(at: number): number {
    return this.whereAt(at).line!;
  }

  complain(code: Problem['code'], message: string, at: number): void {
    this.problems.push(problem(code, message, { where: this.whereAt(at) }));
  }

  /** The known keys of a map with their plain values and the places of these. */
  entries(map: YAMLMap, keys: readonly string[]): Map<string, { value: unknown; at: number }> {
    const seen = new Map<string, { value: unknown; at: number }>();
    for (const pair of map.items) {
      const key = isScalar(pair.key) ? String(pair.key.value) : '';
      const at = offset(pair.key);
      if (!keys.includes(key)) {
        const near = nearest(key, keys);
        this.complain(
          'unknown_key',
          `a line of a script has no key "${key}"${near ? `; did you mean "${near}"?` : `; it knows ${keys.join(', ')}`}`,
          at,
        );
        continue;
      }
      const node = pair.value as Node | null;
      const place = node?.range ? node.range[0] : at;
      try {
        seen.set(key, { value: node === null ? null : node.toJS(this.doc), at: place });
      } catch (error) {
        // An alias to nowhere, or so many that they would fill the memory.
        this.complain('bad_file', (error as Error).message, place);
      }
    }
    return seen;
  }

  text = (value: unknown, at: number): string | undefined => {
    if (typeof value === 'string') return value;
    if (typeof value === 'number' || typeof value === 'boolean') return String(value);
    this.complain('bad_field', 'this must be a text', at);
    return undefined;
  };

  texts = (value: unknown, at: number): string[] | undefined => {
    const all = (Array.isArray(value) ? value : [value]).map((one) => this.text(one, at));
    return all.includes(undefined) ? undefined : (all as string[]);
  };

  patterns = (value: unknown, at: number): Pattern[] | undefined =>
    this.texts(value, at)?.map((text) => {
      const regex = /^\/(.+)\/([a-z]*)$/s.exec(text);
      if (!regex) return text;
      try {
        return new RegExp(regex[1]!, regex[2]!.replace(/[gy]/g, ''));
      } catch (error) {
        this.complain('bad_field', (error as Error).message, at);
        return text;
      }
    });

  turns = (value: unknown, at: number): { from: number; to: number }[] | undefined => {
    const spans: { from: number; to: number }[] = [];
    for (const one of Array.isArray(value) ? value : [value]) {
      const map = typeof one === 'object' && one !== null ? (one as Record<string, unknown>) : undefined;
      const span = map ? { from: map['from'] ?? 1, to: map['to'] ?? Infinity } : { from: one, to: one };
      const strange = map && Object.keys(map).find((key) => key !== 'from' && key !== 'to');
      if (strange === undefined && isTurn(span.from) && (span.to === Infinity || isTurn(span.to))) spans.push(span);
      else this.complain('bad_field', '"turn" is a number from 1, a list of them, or {from: 2, to: 5}', at);
    }
    return spans;
  };

  count(value: unknown, at: number, least: number): number | undefined {
    if (Number.isSafeInteger(value) && (value as number) >= least) return value as number;
    this.complain('bad_field', `this must be a whole number from ${least}`, at);
    return undefined;
  }

  duration = (value: unknown, at: number): number | undefined => {
    // A bare number would mean seconds elsewhere and milliseconds to many who write scripts: the unit must be there.
    const ms = typeof value === 'string' ? durationMs(value) : value === 0 ? 0 : undefined;
    if (ms === undefined) this.complain('bad_field', 'a time needs a unit: 50ms, 2s or 1m', at);
    return ms;
  };

  oneOf(value: unknown, at: number, known: readonly string[]): string | undefined {
    if (typeof value === 'string' && known.includes(value)) return value;
    this.complain('bad_field', `this must be one of ${known.join(', ')}`, at);
    return undefined;
  }
}

function isTurn(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 1;
}

function offset(node: unknown): number {
  return (node as Node | null)?.range?.[0] ?? 0;
}
