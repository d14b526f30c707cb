/**
 * The parsed form of a board, with the exact place of every value. Offsets count UTF-16 units of
 * the parsed text, so an edit can replace one value and leave every other byte unchanged.
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
  /** The value as written, with its quotes. Of a block: everything from the `|` on. */
  valueSpan: Span;
}

/** An `@name` or `#tag`. */
interface Mark {
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
  /** False for bullets of other sections, which are prose. */
  inTodo: boolean;
  /** It has an error and must be ignored. */
  bad: boolean;
  box: Box;
  /** Absent if no box is written. */
  boxSpan?: Span;
  priority?: string;
  prioritySpan?: Span;
  marks: Mark[];
  stakeholders: string[];
  tags: string[];
  title: string;
  /** With its quotes; absent if there is no title on the line. */
  titleSpan?: Span;
  id?: string;
  fields: Field[];
  /** How many items without an id before it have the same title under the same parent. */
  ordinal: number;
  /** Start of the first token after the dash, and of the title or the first inline field. */
  bodyStart: number;
  restStart: number;
  /** End of the bullet's line, without its line end. */
  lineEnd: number;
  /** End of the last line of the bullet and its fields, before text and children. */
  headEnd: number;
  /** Complete lines: the item, its fields, its text and its children. */
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
  heading: string;
  /** From the heading to the end of the section's last line that is not blank. */
  span: Span;
  headingEnd: number;
}

export interface Board {
  file: string;
  /** In file order, nested items after their parents; without items that have errors. */
  items: Item[];
  rejected: Item[];
  problems: BoardProblem[];
  sections: Section[];
  /** The line end of the file, `\n` if it has none. */
  eol: string;
  /** Start of the text after a byte order mark and front matter. */
  bodyStart: number;
  /**
   * A fence or comment outside all items is never closed, so it would include text added at the
   * end.
   */
  openEnd: boolean;
}

/**
 * A stable key of an item, unique in its board: its id, or a hash of its title and ancestry, with a
 * counter for equal hashes. Ticking it, editing its fields or moving other items does not change
 * the key.
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
