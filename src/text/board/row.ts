/**
 * An item as a row of a query, and a row's columns as edits of the item. The box is the one truth of what is done: a
 * `completed:` time in the file shows as `completed_at` and never overrides it.
 */
import type { Box, Item, Value } from './item.js';
import { itemKey } from './item.js';
import { boxEdits, type Edit, fieldEdits, markEdits, priorityEdits, removeFieldEdits, titleEdits } from './edit.js';
import { isKey } from './value.js';
import type { Assignment, Literal, Row } from '../query/form.js';

/** Columns that every row has, whatever keys it has besides. */
export const COLUMNS = [
  'id',
  'title',
  'completed',
  'skipped',
  'in_progress',
  'priority',
  'stakeholders',
  'tags',
  'parent',
  'line',
] as const;

const FLAG_BOX = new Map<string, Box>([
  ['completed', 'done'],
  ['skipped', 'skipped'],
  ['in_progress', 'doing'],
]);

export function itemRow(item: Item): Row {
  const row: Row = {
    id: itemKey(item),
    title: item.title,
    completed: item.box === 'done',
    skipped: item.box === 'skipped',
    in_progress: item.box === 'doing',
    priority: item.priority,
    stakeholders: item.stakeholders,
    tags: item.tags,
    parent: item.parent && itemKey(item.parent),
    line: item.line,
  };
  for (const { key, value } of item.fields) {
    if (key === 'completed' && typeof value !== 'boolean') row['completed_at'] = value;
    else if (key === 'parent') row['parent'] ??= String(value);
    else if (!Object.hasOwn(row, key)) define(row, key, value);
  }
  return row;
}

/** Keys come from a file: `__proto__` must become a field like any other. */
function define(row: Row, key: string, value: Value): void {
  Object.defineProperty(row, key, { value, enumerable: true, writable: true, configurable: true });
}

/** Why these columns cannot be set so; undefined if they can. */
export function assignmentFlaw(set: readonly Assignment[]): string | undefined {
  for (const { field, value } of set) {
    if (!isKey(field)) return `${field} cannot be a key: letters, digits, _ and - only`;
    if (field === 'line' || field === 'completed_at') return `${field} is read off the file and cannot be set`;
    if (FLAG_BOX.has(field) && value !== null && typeof value !== 'boolean' && field !== 'completed') {
      return `${field} is true or false`;
    }
    if (field === 'priority' && value !== null && !/^[A-D]$/.test(String(value))) return 'priority is A, B, C or D';
    if (field === 'title' && (typeof value !== 'string' || value.trim() === '')) return 'a title is text';
    if (field === 'id' && (value === null || !/^[^\s"'`|]+$/.test(String(value)))) return 'an id is one word';
    const bad = field === 'tags' || field === 'stakeholders' ? listOf(value).find((name) => !isName(name)) : undefined;
    if (bad !== undefined) return `${field} cannot hold ${bad}: letters, digits and _ . - only, separated by commas`;
  }
  return undefined;
}

/** The edits of one item for all columns at once; they do not overlap. */
export function assignmentEdits(text: string, item: Item, set: readonly Assignment[]): Edit[] {
  const edits: Edit[] = [];
  const box = boxAfter(item.box, set);
  if (box !== item.box) edits.push(...boxEdits(text, item, box));
  for (const { field, value } of set) {
    if (field === 'title') edits.push(...titleEdits(text, item, String(value)));
    else if (field === 'priority') edits.push(...priorityEdits(text, item, value === null ? undefined : String(value)));
    else if (field === 'stakeholders') edits.push(...markEdits(text, item, '@', listOf(value)));
    else if (field === 'tags') edits.push(...markEdits(text, item, '#', listOf(value)));
    else if (FLAG_BOX.has(field) && (value === null || typeof value === 'boolean')) continue;
    else if (value === null) edits.push(...removeFieldEdits(text, item, field));
    else edits.push(...fieldEdits(text, item, field, value));
  }
  return edits;
}

/** A flag set to true ticks its box; set to false it opens the box if that flag was what it said. */
export function boxAfter(box: Box, set: readonly Assignment[]): Box {
  let after = box;
  for (const { field, value } of set) {
    const own = FLAG_BOX.get(field);
    if (own === undefined || (typeof value !== 'boolean' && value !== null)) continue;
    if (value === true) after = own;
    else if (after === own) after = 'open';
  }
  return after;
}

export function listOf(value: Literal): string[] {
  if (value === null) return [];
  const names = String(value).split(',');
  return names.map((name) => name.trim()).filter((name) => name !== '');
}

/** Narrower than what the parser reads, so that a written name is safe everywhere. */
function isName(name: string): boolean {
  return /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/.test(name);
}
