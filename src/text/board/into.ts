/**
 * Writes rows as a new board, for `INTO <file>.md`. A row is nested under its parent if that is
 * included.
 */
import { type NewItem, itemLines } from './add.js';
import type { Box, Value } from './item.js';
import { COLUMNS } from './row.js';
import { isKey } from './value.js';
import type { Row } from '../query/ast.js';

export function rowsToBoard(rows: readonly Row[]): string {
  const ids = new Set(rows.map((row) => row['id']));
  const children = new Map<unknown, Row[]>();
  for (const row of rows) {
    const up = row['parent'] !== row['id'] && ids.has(row['parent']) ? row['parent'] : undefined;
    const siblings = children.get(up);
    if (siblings) siblings.push(row);
    else children.set(up, [row]);
  }
  const lines = ['## TODO', ''];
  const seen = new Set<Row>();
  const write = (row: Row, indent: string): void => {
    if (seen.has(row)) return;
    seen.add(row);
    lines.push(...itemLines('', newItem(row), indent));
    if (row['id'] === undefined || row['id'] === null) return;
    for (const child of children.get(row['id']) ?? []) write(child, `${indent}  `);
  };
  for (const row of children.get(undefined) ?? []) write(row, '');
  for (const row of rows) write(row, ''); // rows whose parents form a cycle
  return `${lines.join('\n')}\n`;
}

function newItem(row: Row): NewItem {
  const fields: Record<string, Value> = Object.create(null);
  for (const [key, value] of Object.entries(row)) {
    const name = key === 'completed_at' ? 'completed' : key;
    if (value === undefined || value === null || !isKey(name)) continue;
    if (key !== 'id' && (COLUMNS as readonly string[]).includes(key)) continue;
    fields[name] = asValue(value);
  }
  const title = row['title'] ?? row['description'] ?? row['name'] ?? row['id'] ?? 'untitled';
  return {
    title: String(title),
    box: boxOf(row),
    priority: /^[A-D]$/.test(String(row['priority'])) ? String(row['priority']) : undefined,
    stakeholders: namesOf(row['stakeholders']),
    tags: namesOf(row['tags']),
    fields,
  };
}

function boxOf(row: Row): Box {
  if (row['completed'] === true) return 'done';
  if (row['skipped'] === true) return 'skipped';
  return row['in_progress'] === true ? 'doing' : 'open';
}

function namesOf(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String).filter((name) => /^[\w.-]+$/.test(name)) : [];
}

function asValue(value: unknown): Value {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value;
  return JSON.stringify(value);
}
