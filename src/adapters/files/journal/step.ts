/**
 * The changes of one step of the work, as one value: files that get new content (`puts`) and text
 * that is appended to files (`adds`). A step is one line of the journal.
 */
import type { EndedState, TaskState } from '../../../domain/task/task.js';

export interface Step {
  /** Keys whose earlier changes do not count: another process or a person was faster. */
  dropped?: string[];
  puts?: Put[];
  adds?: Add[];
  /** Keys whose files are in place after this step. */
  placed?: string[];
}

export type Put = TaskPut | PagePut | EffectPut;

export interface TaskPut {
  task: string;
  state: TaskState;
  /** The agent in the name of the claim, while the task is active. */
  agent?: string;
  /** The record. Absent: as in an earlier line of the same segment. */
  text?: string;
  /** The claimed content. A replay that finds it on the disk knows that this change is missing. */
  base?: string;
}

export interface PagePut {
  page: string;
  /** Relative to the workspace. */
  file: string;
  text: string;
  /** Stamp of the page that it replaces. */
  was?: string;
}

export interface EffectPut {
  effect: string;
  /** The whole record: its start and, once known, its outcome. */
  text: string;
}

export type Add = SessionAdd | EventsAdd;

/** `at`: the current size of the file; 0 creates it. */
export interface SessionAdd {
  session: string;
  at: number;
  text: string;
}

/** Whole lines, each with the peer and a sequence number. */
interface EventsAdd {
  day: string;
  text: string;
}

export const taskKey = (id: string): string => `task ${id}`;
export const pageKey = (id: string): string => `page ${id}`;
export const effectKey = (id: string): string => `effect ${id}`;
export const sessionKey = (id: string): string => `session ${id}`;
export const eventsKey = (day: string): string => `events ${day}`;

export function keyOfPut(put: Put): string {
  if ('task' in put) return taskKey(put.task);
  return 'page' in put ? pageKey(put.page) : effectKey(put.effect);
}

export function keyOfAdd(add: Add): string {
  return 'session' in add ? sessionKey(add.session) : eventsKey(add.day);
}

export function isEndPut(put: TaskPut): put is TaskPut & { state: EndedState } {
  return put.state === 'completed' || put.state === 'failed';
}
