/**
 * A query on the text of a board. Changes are span edits, so nothing but the matched items changes; the result is parsed
 * again before it is handed out, and a change that would damage the board is refused whole.
 */
import { type Problem, problem } from '../../domain/problem.js';
import { addItem } from './add.js';
import { applyEdits } from './edit.js';
import type { Board, BoardProblem, Item, Value } from './item.js';
import { itemKey, parseBoard } from './parse.js';
import { assignmentEdits, assignmentFlaw, boxAfter, COLUMNS, itemRow, listOf } from './row.js';
import { unknownColumn } from '../query/columns.js';
import { type Delete, evaluate, type Insert, type Query, type Row, select, type Update } from '../query/query.js';
import { fieldsOf, fieldValue } from '../query/where.js';

interface BoardQueryOptions {
  /** Allows UPDATE and DELETE without WHERE. */
  all?: boolean;
  /** A fresh id for an INSERT that gives none; without it such an INSERT is refused. */
  ids?: () => string;
}

export type BoardReply =
  | {
      ok: true;
      /** What was selected, or what was changed, as it is afterwards; deleted rows as they were. */
      rows: Row[];
      /** The edited board; absent when nothing changed. */
      text?: string;
      message: string;
      /** Entries that were left out because they could not be read. */
      problems: BoardProblem[];
    }
  | { ok: false; problem: Problem };

export function queryBoard(text: string, file: string, query: Query, options: BoardQueryOptions = {}): BoardReply {
  const board = parseBoard(text, file);
  if (query.kind === 'select') {
    const all = boardRows(board);
    const unknown = unknownColumn(query, all, COLUMNS);
    if (unknown) return { ok: false, problem: unknown };
    const rows = select(query, all);
    return { ok: true, rows, message: `${rows.length} tasks in ${file}`, problems: board.problems };
  }
  const conflict = board.problems.find((p) => p.lint === 'TD090');
  if (conflict) return { ok: false, problem: conflict };
  if (query.kind === 'insert') return insert(text, board, query, options);
  if (!query.where && !options.all) {
    const verb = query.kind.toUpperCase();
    const hint = 'add WHERE, or pass --all to mean every task';
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

/** A misspelt field is missing everywhere, and `!=` holds for what is missing: that must not reach every task. */
function unknownField(board: Board, query: Update | Delete): string | undefined {
  const rows = boardRows(board);
  const known = (field: string): boolean =>
    (COLUMNS as readonly string[]).includes(field) || rows.some((row) => fieldValue(row, field) !== undefined);
  return fieldsOf(query.where).find((field) => !known(field));
}

function update(text: string, board: Board, query: Update, matched: Item[]): BoardReply {
  const flaw = assignmentFlaw(query.set);
  if (flaw) return refuse('bad_field', flaw);
  if (query.set.some(({ field }) => field === 'parent')) {
    return refuse('bad_field', 'parent is said by the indentation', 'move the lines in the file');
  }
  if (query.set.some(({ field }) => field === 'id') && matched.length > 1) {
    return refuse('duplicate', `${matched.length} tasks cannot share one id`, 'choose one task with WHERE');
  }
  const edited = applyEdits(
    text,
    matched.flatMap((item) => assignmentEdits(text, item, query.set)),
  );
  const order = new Map(board.items.map((item, index) => [item, index]));
  return checked(text, board, edited, 0, (after) => {
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
  const gone = board.items.filter((item) => chosen.has(item) || isUnder(item));
  const edited = applyEdits(
    text,
    top.map((item) => ({ ...item.span, text: '' })),
  );
  const message = `Deleted ${gone.length} tasks from ${board.file}`;
  return checked(text, board, edited, -gone.length, () => ({ rows: gone.map(itemRow), message }));
}

function insert(text: string, board: Board, query: Insert, options: BoardQueryOptions): BoardReply {
  const given = query.set.filter(({ value }) => value !== null);
  const flaw = assignmentFlaw(given);
  if (flaw) return refuse('bad_field', flaw);
  const value = new Map(given.map((one) => [one.field, one.value as Value]));
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
  for (const [key, said] of value) if (!isMark(key, said)) fields[key] = said;
  const edited = addItem(
    text,
    {
      title: String(title),
      box: boxAfter('open', given),
      priority: value.get('priority')?.toString(),
      stakeholders: listOf(value.get('stakeholders') ?? null),
      tags: listOf(value.get('tags') ?? null),
      fields,
      ...(under ? { under } : {}),
    },
    board,
  );
  return checked(text, board, edited, 1, (after) => ({
    rows: after.items.filter((item) => item.inTodo && item.id === id).map(itemRow),
    message: `Inserted task ${id} into ${board.file}`,
  }));
}

function isMark(key: string, value: Value): boolean {
  if (['id', 'title', 'parent', 'priority', 'stakeholders', 'tags', 'skipped', 'in_progress'].includes(key))
    return true;
  return key === 'completed' && typeof value === 'boolean';
}

/** The net under every change: as many items as meant, and no error that was not there before. */
function checked(
  text: string,
  board: Board,
  edited: string,
  more: number,
  reply: (after: Board) => { rows: Row[]; message: string },
): BoardReply {
  const after = parseBoard(edited, board.file);
  const had = board.problems.filter((p) => p.severity === 'error').length;
  const fresh = after.problems.filter((p) => p.severity === 'error');
  const expected = board.items.length + more;
  // Taking one of two entries with the same id away makes the other one good.
  const isWhole = more < 0 ? after.items.length >= expected : after.items.length === expected && fresh.length <= had;
  if (!isWhole) {
    const found = fresh.length > had ? `: ${fresh[0]!.message}` : '';
    return refuse('bad_field', `the change would damage ${board.file}, so nothing was changed${found}`);
  }
  const changed = edited === text ? {} : { text: edited };
  return { ok: true, ...reply(after), ...changed, problems: after.problems };
}

function refuse(code: Problem['code'], message: string, hint?: string): BoardReply {
  return { ok: false, problem: problem(code, message, hint ? { hint } : {}) };
}
