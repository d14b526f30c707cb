/**
 * Converts an item to a query row, and assigned columns to edits of the item. Only the box decides
 * whether an item is done; a `completed:` time in the file is the column `completed_at`.
 */
import type { Box, Item, Value } from './item.js';
import { itemKey } from './item.js';
import { boxEdits, type Edit, fieldEdits, markEdits, priorityEdits, removeFieldEdits, titleEdits } from './edit.js';
import { isKey } from './value.js';
import type { Assignment, Literal, Row } from '../query/ast.js';

/** Columns that every row has, besides the keys of its item. */
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

/** Keys with a meaning on boards. A query may name them although no item has one. */
export const OPTIONAL_COLUMNS = [
  'description',
  'prompt',
  'depends_on',
  'requirements',
  'completed_at',
  'failed_at',
  'error',
  'failure',
  'reason',
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

/** Why these columns cannot be set; undefined if they can. */
export function assignmentFlaw(set: readonly Assignment[]): string | undefined {
  for (const { field, value } of set) {
    if (!isKey(field)) return `${field} is not a valid key: use letters, digits, _ and -`;
    if (field === 'line' || field === 'completed_at') return `${field} follows from the file and cannot be set`;
    if (FLAG_BOX.has(field) && value !== null && typeof value !== 'boolean' && field !== 'completed') {
      return `${field} must be true or false`;
    }
    if (field === 'priority' && value !== null && !/^[A-D]$/.test(String(value)))
      return 'priority must be A, B, C or D';
    if (field === 'title' && (typeof value !== 'string' || value.trim() === '')) return 'title must be text';
    if (field === 'id' && (value === null || !/^[^\s"'`|]+$/.test(String(value)))) return 'id must be one word';
    const bad = field === 'tags' || field === 'stakeholders' ? listOf(value).find((name) => !isName(name)) : undefined;
    if (bad !== undefined) return `${bad} is not valid in ${field}: use letters, digits and _ . -, separated by commas`;
  }
  return undefined;
}

/** The edits of one item for all columns. They do not overlap. */
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

/** A flag set to true ticks its box. Set to false, it opens the box if the box showed that flag. */
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

/** Stricter than the parser, so that a written name is valid everywhere. */
function isName(name: string): boolean {
  return /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/.test(name);
}
