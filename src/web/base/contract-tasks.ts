/** Tasks in lists: rows, views that keep their order, and the board. */
import type { TaskState } from '../../domain/task/task.js';

/** One task in a list. */
export interface Row {
  id: string;
  short: string;
  title: string;
  /** `human` for a request to the person; absent: nobody yet. */
  agent?: string;
  role: string;
  state: TaskState;
  /** The code of a failure. */
  code?: string;
  parent?: string;
  createdAt: string;
  endedAt?: string;
  tokens: number;
  microUsd: number;
  /** How deep it is in the tree; only if the list is in tree order. */
  depth?: number;
  /** How many tasks are below it, if any; only if the list is in tree order. */
  fold?: { below: number; isClosed: boolean };
  taint?: string[];
}

/** The first tasks that match. */
export interface TaskPage {
  total: number;
  rows: Row[];
}

/** A query that ran. Its order is kept for as long as a page reads it. */
export interface ViewOpened {
  view: string;
  total: number;
  /** How long the query took. */
  ms: number;
  /** Position of the row that the page asked to keep; -1: it is not in the list. */
  index: number;
}

/** Rows of a view as they are now, in the order of the time when it was opened. */
export interface ViewRows {
  view: string;
  total: number;
  /** All tasks, whatever the query. */
  all: number;
  from: number;
  rows: (Row | GoneRow)[];
  /** How deep the tree is, including folded rows; 0 in a list. */
  deepest: number;
  /** The view that the query would give now, if it differs, and how many tasks that view adds. */
  next?: string;
  added: number;
}

/** A task that was removed after the view was opened. */
interface GoneRow {
  id: string;
  isGone: true;
}

/** Tasks by state. Each column has its newest rows. */
export interface TaskBoard {
  columns: { state: TaskState | 'you'; total: number; rows: Row[] }[];
}
