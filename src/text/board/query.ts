/**
 * Runs a query on the text of a board. Changes are span edits, so only the matched items change.
 * The result is parsed again, and a change that would damage the board is refused.
 */
import { type Problem, problem } from '../../domain/problem.js';
import { addItem } from './add.js';
import { applyEdits } from './edit.js';
import type { Board, BoardProblem, Item, Value } from './item.js';
import { itemKey, parseBoard } from './parse.js';
import { assignmentEdits, assignmentFlaw, boxAfter, COLUMNS, itemRow, listOf, OPTIONAL_COLUMNS } from './row.js';
import { unknownColumn } from '../query/columns.js';
import {
  type Delete,
  evaluate,
  type Insert,
  type Query,
  type Row,
  select,
  tableOf,
  type Update,
} from '../query/query.js';
import { fieldsOf, fieldValue } from '../query/where.js';

interface BoardQueryOptions {
  /** Allows UPDATE and DELETE without WHERE. */
  all?: boolean;
  /** Creates an id for an INSERT without one; if absent, such an INSERT is refused. */
  ids?: () => string;
}

type BoardReply =
  | {
      ok: true;
      /** The selected rows, the changed rows as they are afterwards, or the deleted rows. */
      rows: Row[];
      /** The edited board; absent if nothing changed. */
      text?: string;
      message: string;
      /** Entries that could not be read and were left out. */
      problems: BoardProblem[];
    }
  | { ok: false; problem: Problem };

export function queryBoard(text: string, file: string, query: Query, options: BoardQueryOptions = {}): BoardReply {
  const board = parseBoard(text, file);
  if (query.kind === 'select') {
    const all = boardRows(board);
    const unknown = unknownColumn(query, tableOf(all), [...COLUMNS, ...OPTIONAL_COLUMNS]);
    if (unknown) return { ok: false, problem: unknown };
    const rows = select(query, tableOf(all));
    return { ok: true, rows, message: `${rows.length} tasks in ${file}`, problems: board.problems };
  }
  const conflict = board.problems.find(({ lint }) => lint === 'TD090');
  if (conflict) return { ok: false, problem: conflict };
  if (query.kind === 'insert') return insert(text, board, query, options);
  if (!query.where && !options.all) {
    const verb = query.kind.toUpperCase();
    const hint = 'add WHERE, or pass --all to change every task';
    return refuse('bad_usage', `${verb} without WHERE would change every task`, hint);
  }
  const matched = todoItems(board).filter((item) => !query.where || evaluate(query.where, itemRow(item)));
  const unknown = matched.length > 0 ? unknownField(board, query) : undefined;
  if (unknown !== undefined) {
    return refuse(
      'bad_field',
      `no task in ${file} has a field ${unknown}, so nothing was changed`,
      'check its spelling',
    );
  }
  return query.kind === 'update' ? update(text, board, query, matched) : remove(text, board, matched);
}

/** The rows of the TODO section; bullets elsewhere are prose. */
function boardRows(board: Board): Row[] {
  return todoItems(board).map(itemRow);
}

function todoItems(board: Board): Item[] {
  return board.items.filter((item) => item.inTodo);
}

/** `!=` is true for a missing field, so a misspelt field would match every task. */
function unknownField(board: Board, query: Update | Delete): string | undefined {
  const rows = boardRows(board);
  const isKnown = (field: string): boolean =>
    (COLUMNS as readonly string[]).includes(field) || rows.some((row) => fieldValue(row, field) !== undefined);
  return fieldsOf(query.where).find((field) => !isKnown(field));
}

function update(text: string, board: Board, query: Update, matched: Item[]): BoardReply {
  const flaw = assignmentFlaw(query.set);
  if (flaw) return refuse('bad_field', flaw);
  if (query.set.some(({ field }) => field === 'parent')) {
    return refuse('bad_field', 'parent follows from the indentation', 'move the lines in the file');
  }
  if (query.set.some(({ field }) => field === 'id') && matched.length > 1) {
    return refuse('duplicate', `${matched.length} tasks cannot share one id`, 'choose one task with WHERE');
  }
  const edited = applyEdits(
    text,
    matched.flatMap((item) => assignmentEdits(text, item, query.set)),
  );
  const order = new Map(board.items.map((item, index) => [item, index]));
  return checkEdit(text, board, edited, 0, (after) => {
    const rows = matched.map((item) => itemRow(after.items[order.get(item)!]!));
    return { rows, message: `Updated ${matched.length} tasks in ${board.file}` };
  });
}

function remove(text: string, board: Board, matched: Item[]): BoardReply {
  const chosen = new Set(matched);
  const isUnder = (item: Item): boolean => {
    for (let up = item.parent; up; up = up.parent) if (chosen.has(up)) return true;
    return false;
  };
  const top = matched.filter((item) => !isUnder(item));
  const removed = board.items.filter((item) => chosen.has(item) || isUnder(item));
  const edited = applyEdits(
    text,
    top.map((item) => ({ ...item.span, text: '' })),
  );
  const message = `Deleted ${removed.length} tasks from ${board.file}`;
  return checkEdit(text, board, edited, -removed.length, () => ({ rows: removed.map(itemRow), message }));
}

function insert(text: string, board: Board, query: Insert, options: BoardQueryOptions): BoardReply {
  const assignments = query.set.filter(({ value }) => value !== null);
  const flaw = assignmentFlaw(assignments);
  if (flaw) return refuse('bad_field', flaw);
  const value = new Map(assignments.map((assignment) => [assignment.field, assignment.value as Value]));
  const title = value.get('title');
  if (title === undefined) return refuse('bad_field', 'a task needs a title', "add title = '…'");
  const parent = value.get('parent');
  const under = parent === undefined ? undefined : todoItems(board).find((item) => itemKey(item) === String(parent));
  if (parent !== undefined && !under) return refuse('not_found', `there is no task ${parent} in ${board.file}`);
  const id = value.get('id')?.toString() ?? options.ids?.();
  if (id === undefined) return refuse('bad_field', 'a task needs an id', "add id = '…'");
  const taken = [...board.items, ...board.rejected].some((item) => item.inTodo && item.id === id);
  if (taken) return refuse('duplicate', `the id ${id} is taken in ${board.file}`, 'choose another id');
  const fields: Record<string, Value> = Object.assign(Object.create(null), { id });
  for (const [key, entry] of value) if (!isMark(key, entry)) fields[key] = entry;
  const edited = addItem(
    text,
    {
      title: String(title),
      box: boxAfter('open', assignments),
      priority: value.get('priority')?.toString(),
      stakeholders: listOf(value.get('stakeholders') ?? null),
      tags: listOf(value.get('tags') ?? null),
      fields,
      under,
    },
    board,
  );
  return checkEdit(text, board, edited, 1, (after) => ({
    rows: after.items.filter((item) => item.inTodo && item.id === id).map(itemRow),
    message: `Inserted task ${id} into ${board.file}`,
  }));
}

function isMark(key: string, value: Value): boolean {
  if (['id', 'title', 'parent', 'priority', 'stakeholders', 'tags', 'skipped', 'in_progress'].includes(key))
    return true;
  return key === 'completed' && typeof value === 'boolean';
}

/** Refuses an edit that yields an unexpected number of items or a new error. */
function checkEdit(
  text: string,
  board: Board,
  edited: string,
  more: number,
  reply: (after: Board) => { rows: Row[]; message: string },
): BoardReply {
  const after = parseBoard(edited, board.file);
  const errorsBefore = board.problems.filter(({ severity }) => severity === 'error').length;
  const errors = after.problems.filter(({ severity }) => severity === 'error');
  const expected = board.items.length + more;
  // Removing one of two entries with the same id makes the other one valid.
  const isIntact =
    more < 0 ? after.items.length >= expected : after.items.length === expected && errors.length <= errorsBefore;
  if (!isIntact) {
    const detail = errors.length > errorsBefore ? `: ${errors[0]!.message}` : '';
    return refuse('bad_field', `the change would damage ${board.file}, so nothing was changed${detail}`);
  }
  const changed = edited === text ? {} : { text: edited };
  return { ok: true, ...reply(after), ...changed, problems: after.problems };
}

function refuse(code: Problem['code'], message: string, hint?: string): BoardReply {
  return { ok: false, problem: problem(code, message, { hint }) };
}
