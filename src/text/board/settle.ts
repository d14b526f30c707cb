/** The end of reading a board: what can only be said when every line is known, and the parting of good from bad. */
import type { Board, Item } from './item.js';
import { closeAll, type Reading, report } from './reading.js';

export function settleBoard(r: Reading): Board {
  const { board } = r;
  closeAll(r);
  while (r.stack.length > 0) popItem(r);
  closeSection(r);
  const titles = new Map<Item | undefined, Map<string, number>>();
  for (const item of r.all) settleItem(r, item, titles);
  rejectDoubles(r);
  const held = board.problems.some((p) => p.lint === 'TD090');
  for (const item of r.all) (item.bad || held ? board.rejected : board.items).push(item);
  board.problems.sort((a, b) => (a.where?.line ?? 0) - (b.where?.line ?? 0));
  return board;
}

/** The innermost open item ends with the last line that was not blank. */
export function popItem(r: Reading): void {
  r.stack.pop()!.span.end = r.lastEnd;
}

/** A section, too, ends with the last line that was not blank. */
export function closeSection(r: Reading): void {
  if (r.section) r.section.span.end = Math.max(r.lastEnd, r.section.headingEnd);
  r.section = undefined;
}

function settleItem(r: Reading, item: Item, titles: Map<Item | undefined, Map<string, number>>): void {
  let stakeholders: string | undefined;
  let tags: string | undefined;
  for (const { key, value } of item.fields) {
    const said = String(value);
    if (said === '') continue;
    if (key === 'id') item.id = said;
    else if (key === 'title') item.title = said;
    else if (key === 'priority') item.priority ??= said;
    else if (key === 'stakeholders') stakeholders = said;
    else if (key === 'tags') tags = said;
  }
  item.stakeholders = joined(item.stakeholders, stakeholders);
  item.tags = joined(item.tags, tags);
  rejectTwice(r, item);
  if (item.title === '') {
    report(r, item, item.restStart, 'TD031', 'a bullet without a title', 'write what is to be done');
  }
  if (item.id !== undefined) return;
  let siblings = titles.get(item.parent);
  if (!siblings) titles.set(item.parent, (siblings = new Map()));
  item.ordinal = siblings.get(item.title) ?? 0;
  siblings.set(item.title, item.ordinal + 1);
}

function rejectTwice(r: Reading, item: Item): void {
  if (item.fields.length < 2) return;
  const seen = new Set<string>();
  for (const { key, span } of item.fields) {
    if (seen.has(key)) report(r, item, span.start, 'TD051', `${key} is said twice`, 'keep one of the two');
    seen.add(key);
  }
}

/** With what a key lists besides, each name once. */
function joined(marked: string[], listed: string | undefined): string[] {
  if (marked.length < 2 && listed === undefined) return marked;
  const more = (listed?.split(',') ?? []).map((part) => part.trim().replace(/^[@#]/, ''));
  return [...new Set([...marked, ...more.filter((name) => name !== '')])];
}

/** Two entries with one id are no entry: which of them is meant cannot be known. */
function rejectDoubles(r: Reading): void {
  const first = new Map<string, Item>();
  const told = new Set<Item>();
  const tell = (item: Item, other: Item): void => {
    if (told.has(item)) return;
    told.add(item);
    const at = item.fields.find((field) => field.key === 'id')!.span.start;
    const message = `the id ${item.id} also stands in the entry of line ${other.line}`;
    report(r, item, at, 'TD050', message, 'give one of them another id');
  };
  for (const item of r.all) {
    if (item.id === undefined || !item.inTodo) continue;
    const other = first.get(item.id);
    if (!other) {
      first.set(item.id, item);
      continue;
    }
    tell(other, item);
    tell(item, other);
  }
}
