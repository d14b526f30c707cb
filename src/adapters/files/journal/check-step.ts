/**
 * Whether a step is one that this program writes. A folder that came from elsewhere may have a
 * journal in it, and a replay follows its names: they must not lead out of their folders.
 */
import { TASK_STATES, type TaskState } from '../../../domain/task/task.js';
import type { Add, Put, Step } from './step.js';

/** What is wrong with it; undefined: nothing. */
export function faultOf({ dropped = [], puts = [], adds = [], placed = [] }: Step): string | undefined {
  for (const put of puts) if (!isPut(put)) return `it would write ${shown(put)}`;
  for (const add of adds) if (!isAdd(add)) return `it would write ${shown(add)}`;
  return [...dropped, ...placed].every(isText) ? undefined : 'a name in it is not text';
}

function isPut(put: Put): boolean {
  if ('task' in put) {
    const { task, state, agent, text, base } = put;
    const isState = (TASK_STATES as readonly TaskState[]).includes(state);
    return isPart(task) && isState && (agent === undefined || isPart(agent)) && areTexts(text, base);
  }
  if (!isText(put.text)) return false;
  if ('effect' in put) return isPart(put.effect);
  // A page is named `.result` if a person's own file has the plain name.
  const names = [`results/${put.page}.md`, `results/${put.page}.result.md`];
  return isPart(put.page) && names.includes(put.file) && areTexts(put.was);
}

function isAdd(add: Add): boolean {
  if (!isText(add.text)) return false;
  if ('session' in add) return isPart(add.session) && Number.isSafeInteger(add.at) && add.at >= 0;
  return isText(add.day) && /^\d{4}-\d\d-\d\d$/.test(add.day);
}

/** One part of a path, and not a hidden one. */
function isPart(name: unknown): boolean {
  return isText(name) && /^[^./\\\0][^/\\\0]{0,250}$/.test(name);
}

function areTexts(...values: unknown[]): boolean {
  return values.every((value) => value === undefined || isText(value));
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function shown(change: object): string {
  const named = Object.entries(change).filter(([key]) => key !== 'text');
  return JSON.stringify(Object.fromEntries(named)).slice(0, 200);
}
