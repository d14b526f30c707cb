/**
 * A part of the event index: the lines of a range of bytes of one day's file, in columns. Texts are
 * numbered; number 0 means undefined.
 */
import { parseMapping } from '../../domain/mapping.js';
import { callCost, type Event } from '../../domain/event.js';
import { columnBuilder, readColumn, type Column } from './cells.js';
import type { Sections } from './sections.js';

/**
 * One row for each event; lines that are not events are left out. Byte offsets start at the range.
 */
const LINE_COLUMNS = ['start', 'end', 'name', 'task', 'agent', 'shape'] as const;
const CALL_COLUMNS = ['call line', 'call kind', 'call model', 'call role'] as const;
const LINEAGE_COLUMNS = ['kin task', 'kin parent', 'kin root'] as const;
const NUMBER_COLUMNS = [...LINE_COLUMNS, ...CALL_COLUMNS, ...LINEAGE_COLUMNS] as const;
export const AMOUNTS = ['inputTokens', 'outputTokens', 'cachedTokens', 'microUsd', 'ms'] as const;
export type NumberColumn = (typeof NUMBER_COLUMNS)[number];

export const CALL = { model: 0, unpriced: 1, tool: 2 } as const;
/** A value that is not a text; the line has it. */
export const ODD = 0xffffffff;

export interface EventPart {
  readonly lines: number;
  numbers(column: NumberColumn): Uint32Array | undefined;
  /** The time of each line in milliseconds; NaN if it is not printed in the program's format. */
  times(): Float64Array | undefined;
  /** Five amounts for each call. */
  amounts(): Float64Array | undefined;
  texts(): Column | undefined;
  readonly shapes: readonly (readonly string[])[];
}

export interface Meta {
  lines: number;
  texts: number;
  shapes: string[][];
}

export function readPart(sections: Sections): EventPart {
  const { lines, texts, shapes } = sections.meta as Meta;
  return {
    lines,
    shapes,
    numbers: (column) => asNumbers(sections.read(column), Uint32Array),
    times: () => asNumbers(sections.read('times'), Float64Array),
    amounts: () => asNumbers(sections.read('amounts'), Float64Array),
    texts: () => readColumn(sections.read('texts'), texts),
  };
}

function asNumbers<T>(
  bytes: Buffer | undefined,
  Numbers: { new (buffer: ArrayBuffer, offset: number, length: number): T; BYTES_PER_ELEMENT: number },
): T | undefined {
  return bytes && new Numbers(bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.length / Numbers.BYTES_PER_ELEMENT);
}

/** The bytes end with a newline. */
export function buildPart(bytes: Buffer): { meta: Meta; sections: Map<string, Buffer> } {
  const numbers = Object.fromEntries(NUMBER_COLUMNS.map((name) => [name, [] as number[]])) as Record<
    NumberColumn,
    number[]
  >;
  const times: number[] = [];
  const amounts: number[] = [];
  const texts = numbered();
  const shapes = numbered();
  for (let start = 0; start < bytes.length;) {
    const end = bytes.indexOf(10, start);
    const event = parseEvent(bytes, start, end);
    if (event !== undefined) addLine(event, start, end);
    start = end + 1;
  }
  const sections = new Map<string, Buffer>();
  for (const [name, list] of Object.entries(numbers)) sections.set(name, Buffer.from(Uint32Array.from(list).buffer));
  sections.set('times', Buffer.from(Float64Array.from(times).buffer));
  sections.set('amounts', Buffer.from(Float64Array.from(amounts).buffer));
  const column = columnBuilder(Infinity);
  for (const text of texts.all()) column.add(text);
  sections.set('texts', column.finish());
  const shapeLists = shapes.all().map((text) => JSON.parse(text) as string[]);
  return { meta: { lines: times.length, texts: texts.all().length, shapes: shapeLists }, sections };

  function addLine(event: Event, start: number, end: number): void {
    const { at, name, task, agent, root, parent } = event;
    numbers['start'].push(start);
    numbers['end'].push(end);
    numbers['name'].push(texts.numberOf(name));
    numbers['task'].push(texts.numberOf(task));
    numbers['agent'].push(texts.numberOf(agent));
    numbers['shape'].push(shapes.numberOf(JSON.stringify(Object.keys(event))));
    times.push(timeOf(at));
    if (typeof task === 'string' && typeof root === 'string') {
      numbers['kin task'].push(texts.numberOf(task));
      numbers['kin parent'].push(typeof parent === 'string' ? texts.numberOf(parent) : 0);
      numbers['kin root'].push(texts.numberOf(root));
    }
    const isTool = name === 'tool.ran' && event['made'] !== false;
    if ((!isTool && name !== 'model.answered') || typeof at !== 'string') return;
    const cost = callCost(event);
    numbers['call line'].push(times.length - 1);
    numbers['call kind'].push(isTool ? CALL.tool : cost.isUnpriced ? CALL.unpriced : CALL.model);
    numbers['call model'].push(texts.numberOf(event['model']));
    numbers['call role'].push(texts.numberOf(event['role']));
    amounts.push(...AMOUNTS.map((amount) => cost[amount]));
  }
}

/**
 * Undefined for a line that is not an event: torn by a power cut, or written by another program.
 */
export function parseEvent(bytes: Buffer, start: number, end: number): Event | undefined {
  return parseMapping(bytes.toString('utf8', start, end)) as Event | undefined;
}

/** NaN unless printing it again gives the same text. */
function timeOf(at: unknown): number {
  const ms = typeof at === 'string' && at.length === 24 ? Date.parse(at) : NaN;
  return Number.isNaN(ms) || new Date(ms).toISOString() !== at ? NaN : ms;
}

interface Numbered {
  /** 0 for undefined, ODD for a value that is not a text. */
  numberOf(text: unknown): number;
  all(): string[];
}

function numbered(): Numbered {
  const numbers = new Map<string, number>();
  return {
    numberOf(text) {
      if (text === undefined) return 0;
      if (typeof text !== 'string') return ODD;
      let number = numbers.get(text);
      if (number === undefined) numbers.set(text, (number = numbers.size + 1));
      return number;
    },
    all: () => [...numbers.keys()],
  };
}
