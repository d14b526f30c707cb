/**
 * All problems of a board, in line order. An entry with an error is ignored; warnings change
 * nothing. This file adds warnings about valid text that is probably a mistake.
 */
import type { BoardProblem, Item } from './item.js';
import { fieldOf, parseBoard } from './parse.js';
import { placesIn } from '../lines/where.js';

export function lintBoard(text: string, file: string): BoardProblem[] {
  const board = parseBoard(text, file);
  const problems = [...board.problems];
  const whereAt = placesIn(file, text);
  const warn = (lint: string, at: number, message: string, hint: string): void => {
    const where = whereAt(at);
    problems.push({ code: 'bad_field', message: `${lint} ${message}`, where, lint, severity: 'warning', hint });
  };
  const stray = [...board.items, ...board.rejected]
    .filter((item) => !item.inTodo)
    .sort((a, b) => a.bodyStart - b.bodyStart)[0];
  if (stray && !board.sections.some(({ heading }) => heading.toUpperCase() === 'TODO')) {
    warn(
      'TD034',
      stray.bodyStart,
      'without a ## TODO heading these bullets are prose',
      'write ## TODO above the tasks',
    );
  }
  for (const item of board.items) if (item.inTodo) lintItem(item, warn);
  return problems.sort((a, b) => (a.where?.line ?? 0) - (b.where?.line ?? 0));
}

function lintItem(item: Item, warn: (lint: string, at: number, message: string, hint: string) => void): void {
  for (const key of ['completed', 'skipped'] as const) {
    const field = fieldOf(item, key);
    if (!field || typeof field.value !== 'boolean') continue;
    if (field.value === (item.box === (key === 'completed' ? 'done' : 'skipped'))) continue;
    warn('TD060', field.span.start, `the box contradicts ${key}:, and the box counts`, 'change the box');
  }
  const parent = fieldOf(item, 'parent');
  if (parent && item.parent && item.parent.id !== undefined && String(parent.value) !== item.parent.id) {
    const hint = 'move the lines, or change parent:';
    warn('TD061', parent.span.start, `it is nested under ${item.parent.id}, and the nesting counts`, hint);
  }
}
