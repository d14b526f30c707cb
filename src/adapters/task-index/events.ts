/** The events that a look found: columns from the index, and lines where these lack a value. */
import fs from 'node:fs';
import { defined } from '../../domain/defined.js';
import type { Event } from '../../domain/event.js';
import type { CallSeen, EventIndex, EventRow, EventsSeen } from '../../ports/aggregates/event-index.js';
import { eventDays, openFile, readRange, type Day, type DayPart } from './event-days.js';
import { AMOUNTS, CALL, ODD, parseEvent, type NumberColumn } from './event-part.js';

type Options = Parameters<typeof eventDays>[0];

export function eventIndex(options: Options): EventIndex {
  const days = eventDays(options);
  return { look: () => eventsSeen(days()) };
}

/** Keys that the index has for every event. */
const INDEXED = ['at', 'name', 'task', 'agent'] as const;
type Indexed = (typeof INDEXED)[number];

function eventsSeen(days: readonly Day[]): EventsSeen {
  const all = days.flatMap(({ file, parts }) => parts.map((part) => ({ file, part })));
  return {
    size: all.reduce((sum, { part }) => sum + part.part.lines, 0),
    columns() {
      const keys = new Set<string>();
      for (const { part } of all) for (const key of columnsOf(part)) keys.add(key);
      return [...keys];
    },
    *calls(since = '') {
      for (const { part, file } of all) yield* callsIn(part, file, since);
    },
    *lineage() {
      for (const { part } of all) {
        const [tasks, parents, roots] = [
          numbers(part, 'kin task'),
          numbers(part, 'kin parent'),
          numbers(part, 'kin root'),
        ];
        const text = textsOf(part);
        for (const [i, task] of tasks.entries())
          yield defined({
            task: text(task)!,
            root: text(roots[i]!)!,
            parent: parents[i] ? text(parents[i])! : undefined,
          });
      }
    },
    events(isWanted, { limit = Infinity, since = '' } = {}) {
      const newestFirst: Event[] = [];
      for (const { part, file } of all.toReversed()) {
        if (newestFirst.length >= limit) break;
        const read = lineReader(part, file);
        for (const line of wantedIn(part, isWanted, since)) {
          if (newestFirst.length >= limit) break;
          const event = read.line(line);
          if (event !== undefined && (since === '' || event.at >= since)) newestFirst.push(event);
        }
        read.close();
      }
      return newestFirst.reverse();
    },
    *rows(keys) {
      for (const { part, file } of all) yield* rowsIn(part, file, keys);
    },
    ends: () => new Map(days.map(({ file, parts }) => [file, parts.at(-1)?.to ?? 0])),
  };
}

/** In the order in which lines first have them. */
function columnsOf(part: DayPart): string[] {
  const seen = new Set<number>();
  for (const shape of numbers(part, 'shape')) {
    seen.add(shape);
    if (seen.size === part.part.shapes.length) break;
  }
  return [...seen].flatMap((shape) => part.part.shapes[shape - 1]!);
}

function* callsIn(part: DayPart, file: string, since: string): Iterable<CallSeen> {
  const times = sound(part, () => part.part.times());
  const isOld = olderThan(since, times);
  if (times.every((_, line) => isOld(line))) return;
  const [lines, kinds] = [numbers(part, 'call line'), numbers(part, 'call kind')];
  const [models, roles] = [numbers(part, 'call model'), numbers(part, 'call role')];
  const [tasks, agents] = [numbers(part, 'task'), numbers(part, 'agent')];
  const amounts = sound(part, () => part.part.amounts());
  const text = textsOf(part);
  const read = lineReader(part, file);
  const timeText = (line: number): string =>
    Number.isNaN(times[line]) ? String(read.line(line)?.at) : new Date(times[line]!).toISOString();
  try {
    for (let i = 0; i < lines.length; i++) {
      const line = lines[i]!;
      if (isOld(line) || (Number.isNaN(times[line]) && timeText(line) < since)) continue;
      const call = new Call(kinds[i] === CALL.tool ? 'tool' : 'model', line, timeText);
      call.task = text(tasks[line]!);
      call.agent = text(agents[line]!);
      call.model = text(models[i]!);
      call.role = text(roles[i]!);
      call.isUnpriced = kinds[i] === CALL.unpriced;
      for (let amount = 0; amount < AMOUNTS.length; amount++)
        call[AMOUNTS[amount]!] = amounts[i * AMOUNTS.length + amount]!;
      yield call;
    }
  } finally {
    read.close();
  }
}

/** As far as the index knows; a line whose time is not in the index has to be read. */
function olderThan(since: string, times: Float64Array): (line: number) => boolean {
  const ms = since === '' ? -Infinity : Date.parse(since);
  return (line) => times[line]! < ms;
}

/** A class, because getters of object literals are far slower. */
class Call implements CallSeen {
  task: string | undefined;
  agent: string | undefined;
  model: string | undefined;
  role: string | undefined;
  inputTokens = 0;
  outputTokens = 0;
  cachedTokens = 0;
  microUsd = 0;
  isUnpriced = false;
  ms = 0;

  constructor(
    readonly kind: 'model' | 'tool',
    private readonly line: number,
    private readonly timeText: (line: number) => string,
  ) {}

  get at(): string {
    return this.timeText(this.line);
  }
}

/** The numbers of the lines, the last one first. */
function* wantedIn(
  part: DayPart,
  isWanted: (name: string, task: string | undefined) => boolean,
  since: string,
): Iterable<number> {
  const times = sound(part, () => part.part.times());
  const isOld = olderThan(since, times);
  if (times.every((_, line) => isOld(line))) return;
  const [names, tasks] = [numbers(part, 'name'), numbers(part, 'task')];
  const text = textsOf(part);
  for (let line = part.part.lines - 1; line >= 0; line--)
    if (!isOld(line) && isWanted(text(names[line]!) ?? '', text(tasks[line]!))) yield line;
}

function* rowsIn(part: DayPart, file: string, keys: readonly string[]): Iterable<EventRow> {
  const shapes = numbers(part, 'shape');
  const indexed = INDEXED.filter((key) => keys.includes(key));
  const others = keys.filter((key) => !(INDEXED as readonly string[]).includes(key));
  const parsed = part.part.shapes.map((shape) => others.some((key) => shape.includes(key)));
  const value = indexedValues(part, indexed);
  const read = lineReader(part, file, parsed.some(Boolean));
  try {
    for (const [line, shape] of shapes.entries()) {
      const whole = (): Record<string, unknown> => read.line(line) ?? {};
      const row: Record<string, unknown> = {};
      let isWhole = parsed[shape - 1]!;
      for (const key of indexed) {
        const cell = value(key, line);
        if (cell === ODD) isWhole = true;
        else if (cell !== undefined) row[key] = cell;
      }
      const all = isWhole ? whole() : undefined;
      yield { row: all ?? row, read: () => all ?? whole() };
    }
  } finally {
    read.close();
  }
}

type IndexedValues = (key: Indexed, line: number) => string | typeof ODD | undefined;

function indexedValues(part: DayPart, keys: readonly Indexed[]): IndexedValues {
  const text = textsOf(part);
  const times = keys.includes('at') ? sound(part, () => part.part.times()) : new Float64Array();
  const columns = new Map(keys.filter((key) => key !== 'at').map((key) => [key, numbers(part, key)]));
  return (key, line) => {
    if (key === 'at') return Number.isNaN(times[line]) ? ODD : new Date(times[line]!).toISOString();
    const number = columns.get(key)![line]!;
    return number === ODD ? ODD : text(number);
  };
}

function numbers(part: DayPart, column: NumberColumn): Uint32Array {
  return sound(part, () => part.part.numbers(column));
}

/** Repairs a part that turns out to be damaged. */
function sound<T>(part: DayPart, read: () => T | undefined): T {
  const value = read();
  if (value !== undefined) return value;
  part.repair();
  return read()!;
}

/** Each text is decoded once; undefined for number 0. */
function textsOf(part: DayPart): (number: number) => string | undefined {
  const column = sound(part, () => part.part.texts());
  const decoded: string[] = [];
  return (number) =>
    number === 0 || number === ODD ? undefined : (decoded[number] ??= column.get(number - 1) as string);
}

interface LineReader {
  /** Undefined if the log was changed meanwhile. After `close` it opens the file for each line. */
  line(number: number): Event | undefined;
  close(): void;
}

/** `isMost`: most lines will be read, so the whole range is read at once. */
function lineReader(part: DayPart, file: string, isMost = false): LineReader {
  let fd: number | undefined;
  let range: Buffer | undefined;
  let isClosed = false;
  let places: { starts: Uint32Array; ends: Uint32Array } | undefined;
  return {
    line(number) {
      fd ??= openFile(file);
      if (fd === undefined) return undefined;
      places ??= { starts: numbers(part, 'start'), ends: numbers(part, 'end') };
      const [start, end] = [places.starts[number]!, places.ends[number]!];
      try {
        if (isMost && !isClosed) return parseEvent((range ??= readRange(fd, part.from, part.to)), start, end);
        return parseEvent(readRange(fd, part.from + start, part.from + end), 0, end - start);
      } finally {
        if (isClosed) this.close();
      }
    },
    close() {
      if (fd !== undefined) fs.closeSync(fd);
      fd = undefined;
      isClosed = true;
    },
  };
}
