/** The text of the ballot after an update: new entries, answers, fates, and entries asked again. */
import type { Approval, Fate } from '../../domain/task/approval.js';
import { addEntries, answerEdits, askAgainEdits, showAgainEdits } from '../../text/board/ballot-entry.js';
import { splitEnd, withEnd } from '../../text/board/ballot-end.js';
import { readMarks, type Marks } from '../../text/board/ballot-marks.js';
import { applyEdits } from '../../text/board/edit.js';
import { parseBoard } from '../../text/board/parse.js';
import { MAX_WRITTEN_BYTES } from './problems.js';
import type { versions } from './versions.js';

interface Update {
  open: readonly Approval[];
  ended: readonly Approval[];
  fates: ReadonlyMap<string, Fate>;
  again: ReadonlyMap<string, string>;
  isKnown(id: string, hasFate: boolean): boolean;
}

/** Undefined if the file stays as it is. */
export function updated(
  before: string,
  file: string,
  { open, ended, fates, again, isKnown }: Update,
  shownIn: ReturnType<typeof versions>,
): { text: string; marks: Marks; left: number } | undefined {
  const { body, version, isComplete } = splitEnd(before);
  const shown = isComplete ? shownIn.shown(version) : undefined;
  const board = parseBoard(body, file);
  const items = new Map(board.items.map((item) => [item.id, item]));
  const byId = new Map(open.map((approval) => [approval.id, approval]));
  const edits = [...again].flatMap(([id, why]) => {
    const [item, approval] = [items.get(id), byId.get(id)];
    if (item === undefined) return [];
    return approval ? showAgainEdits(body, item, approval, why) : askAgainEdits(body, item, why);
  });
  for (const approval of ended) {
    const item = again.has(approval.id) ? undefined : items.get(approval.id);
    if (item) edits.push(...answerEdits(body, item, approval, fates.get(approval.id)));
  }
  const edited = applyEdits(body, edits);
  const { present } = readMarks({ text: body, board, isCut: false, shown }, open, isKnown);
  const added = fitting(
    edited,
    open.filter(({ id }) => !present.has(id)),
  );
  const after = addEntries(edited, added);
  if (after === body && (isComplete || open.length === 0)) return undefined;
  const ids = [...present, ...added.map(({ id }) => id)].filter((id) => byId.has(id));
  const text = withEnd(after, shownIn.take(version, ids));
  const marks = readMarks({ text, board: parseBoard(text, file), isCut: false, shown: new Set(ids) }, open, isKnown);
  return { text, marks, left: open.length - ids.length };
}

/** The first entries that the file has room for; the rest follow when some have been answered. */
function fitting(text: string, wanted: readonly Approval[]): readonly Approval[] {
  let room = MAX_WRITTEN_BYTES - Buffer.byteLength(text);
  const end = wanted.findIndex((approval) => (room -= Buffer.byteLength(addEntries('\n', [approval]))) < 0);
  return end < 0 ? wanted : wanted.slice(0, end);
}
