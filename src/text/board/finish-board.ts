/**
 * Finishes parsing a board: checks that need every line, then separates valid from rejected items.
 */
import type { Board, Item } from './item.js';
import { closeAll, type Reading, report } from './reading.js';

export function finishBoard(reading: Reading): Board {
  const { board } = reading;
  closeAll(reading);
  while (reading.stack.length > 0) popItem(reading);
  closeSection(reading);
  const titles = new Map<Item | undefined, Map<string, number>>();
  for (const item of reading.all) finishItem(reading, item, titles);
  rejectDuplicateIds(reading);
  const hasConflict = board.problems.some(({ lint }) => lint === 'TD090');
  for (const item of reading.all) (item.bad || hasConflict ? board.rejected : board.items).push(item);
  board.problems.sort((a, b) => (a.where?.line ?? 0) - (b.where?.line ?? 0));
  return board;
}

/** The innermost open item ends with the last line that was not blank. */
export function popItem(reading: Reading): void {
  reading.stack.pop()!.span.end = reading.lastEnd;
}

/** A section also ends with the last line that was not blank. */
export function closeSection(reading: Reading): void {
  if (reading.section) reading.section.span.end = Math.max(reading.lastEnd, reading.section.headingEnd);
  reading.section = undefined;
}

function finishItem(reading: Reading, item: Item, titles: Map<Item | undefined, Map<string, number>>): void {
  let stakeholders: string | undefined;
  let tags: string | undefined;
  for (const { key, value } of item.fields) {
    const text = String(value);
    if (text === '') continue;
    if (key === 'id') item.id = text;
    else if (key === 'title') item.title = text;
    else if (key === 'priority') item.priority ??= text;
    else if (key === 'stakeholders') stakeholders = text;
    else if (key === 'tags') tags = text;
  }
  item.stakeholders = mergeNames(item.stakeholders, stakeholders);
  item.tags = mergeNames(item.tags, tags);
  rejectRepeatedKeys(reading, item);
  if (item.title === '') {
    report(reading, item, item.restStart, 'TD031', 'a bullet without a title', 'describe the task');
  }
  if (item.id !== undefined) return;
  let siblings = titles.get(item.parent);
  if (!siblings) titles.set(item.parent, (siblings = new Map()));
  item.ordinal = siblings.get(item.title) ?? 0;
  siblings.set(item.title, item.ordinal + 1);
}

function rejectRepeatedKeys(reading: Reading, item: Item): void {
  if (item.fields.length < 2) return;
  const seen = new Set<string>();
  for (const { key, span } of item.fields) {
    if (seen.has(key)) report(reading, item, span.start, 'TD051', `${key} appears twice`, 'keep one of them');
    seen.add(key);
  }
}

/** The names from marks and from the value of a key, each once. */
function mergeNames(marked: string[], listed: string | undefined): string[] {
  if (marked.length < 2 && listed === undefined) return marked;
  const more = (listed?.split(',') ?? []).map((part) => part.trim().replace(/^[@#]/, ''));
  return [...new Set([...marked, ...more.filter((name) => name !== '')])];
}

/** Rejects both entries if two share an id, because it is unknown which one is meant. */
function rejectDuplicateIds(reading: Reading): void {
  const first = new Map<string, Item>();
  const reported = new Set<Item>();
  const reject = (item: Item, other: Item): void => {
    if (reported.has(item)) return;
    reported.add(item);
    const at = item.fields.find((field) => field.key === 'id')!.span.start;
    const message = `the id ${item.id} is also used in line ${other.line}`;
    report(reading, item, at, 'TD050', message, 'give one of them another id');
  };
  for (const item of reading.all) {
    if (item.id === undefined || !item.inTodo) continue;
    const other = first.get(item.id);
    if (!other) {
      first.set(item.id, item);
      continue;
    }
    reject(other, item);
    reject(item, other);
  }
}
