/**
 * What a board says, with the exact place of everything it says. Offsets count UTF-16 units in the text that was parsed,
 * so an edit can replace one value and leave every other byte alone.
 */
import { hash53 } from '../../domain/task/id.js';
import type { Problem } from '../../domain/problem.js';

/** `end` is exclusive. */
export interface Span {
  start: number;
  end: number;
}

export type Box = 'open' | 'doing' | 'done' | 'skipped';
export type Value = string | number | boolean;

export interface Field {
  key: string;
  value: Value;
  /** inline: on the bullet's line · line: on its own line · block: `key: |` and the lines below. */
  form: 'inline' | 'line' | 'block';
  /** From the key to the end of the value. */
  span: Span;
  /** Only the value as it is written, quotes included; for a block from the `|` on. */
  valueSpan: Span;
}

/** One `@who` or `#tag`. */
export interface Mark {
  kind: '@' | '#';
  name: string;
  span: Span;
}

export interface Item {
  /** 1-based. */
  line: number;
  /** Columns before the dash; a tab counts two. */
  indent: number;
  parent?: Item;
  /** False for bullets of other sections: they are prose and only collected for who asks. */
  inTodo: boolean;
  /** It has an error and must not be acted on. */
  bad: boolean;
  box: Box;
  /** Absent when no box is written. */
  boxSpan?: Span;
  priority?: string;
  prioritySpan?: Span;
  marks: Mark[];
  stakeholders: string[];
  tags: string[];
  title: string;
  /** With its quotes; absent when there is no title on the line. */
  titleSpan?: Span;
  id?: string;
  fields: Field[];
  /** How many items without an id before it have the same title under the same parent. */
  ordinal: number;
  /** Where the first token after the dash stands, and where the title or the first inline field stands. */
  bodyStart: number;
  restStart: number;
  /** End of the bullet's line, without its line end. */
  lineEnd: number;
  /** End of the item's last own line, bullet or field, before text and children. */
  headEnd: number;
  /** Whole lines: the item, its fields, its text and its children. */
  span: Span;
  /** A code fence inside it is never closed, so nothing can be added at its end. */
  openEnd: boolean;
}

export interface BoardProblem extends Problem {
  /** TD001 … TD100. */
  lint: string;
  severity: 'error' | 'warning';
}

export interface Section {
  /** The heading's words. */
  heading: string;
  /** From the heading to the end of the section's last line that is not blank. */
  span: Span;
  /** End of the heading's line. */
  headingEnd: number;
}

export interface Board {
  file: string;
  /** In order of the file, nested ones after their parents; without those that have errors. */
  items: Item[];
  /** What was isolated because of an error. */
  rejected: Item[];
  problems: BoardProblem[];
  sections: Section[];
  /** The line end of the file, `\n` if it has none. */
  eol: string;
  /** Where text may be put in front: after a byte order mark and front matter. */
  bodyStart: number;
  /** A fence or comment outside all items is never closed: what is added at the end would be swallowed. */
  openEnd: boolean;
}

/**
 * A name for an item that survives ticking, reordering of others and edits of its fields: its id, or a hash of title and
 * ancestry with a count for equal ones. Two items of one board never share a key.
 */
export function itemKey(item: Item): string {
  if (item.id !== undefined) return item.id;
  const within = item.parent ? itemKey(item.parent) : '';
  const key = hash53(`${within}\n${item.title}`);
  return item.ordinal === 0 ? key : `${key}-${item.ordinal + 1}`;
}

export function fieldOf(item: Item, key: string): Field | undefined {
  return item.fields.find((field) => field.key === key);
}
