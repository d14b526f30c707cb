/**
 * Reads a person's marks on the ballot. Only an unambiguous mark is an answer. A damaged, duplicate
 * or contradictory entry is reported: it neither answers nor withdraws its request.
 */
import type { Answer, Approval } from '../../domain/task/approval.js';
import { problem, type Problem } from '../../domain/problem.js';
import { placesIn } from '../lines/where.js';
import { answerOf, isEntryComplete } from './ballot-answer.js';
import { shownDigest } from './ballot-entry.js';
import { fieldOf, type Board, type Item } from './parse.js';

export interface Marks {
  answers: { id: string; answer: Omit<Answer, 'at'> }[];
  problems: Problem[];
  /** Ids that have an entry, even a damaged one. */
  present: ReadonlySet<string>;
  /** An entry cannot be identified, so it may belong to a request whose entry is missing. */
  isUnclear: boolean;
  /** Ids of known requests whose entry shows no fate yet. */
  unsettled: string[];
  /** Ids to ask again, and why: their entry does not show the action as it is now. */
  again: Map<string, string>;
}

interface BallotFile {
  text: string;
  board: Board;
  /** The end line is missing, so the last entry may be incomplete. */
  isCut: boolean;
  /** The ids that this version of the ballot was written with, if that is known. */
  shown: ReadonlySet<string> | undefined;
}

/** `isKnown`: whether an approval with this id was ever asked for. */
export function readMarks(
  file: BallotFile,
  open: readonly Approval[],
  isKnown: (id: string, hasFate: boolean) => boolean,
): Marks {
  const { board } = file;
  const items = [...board.items, ...board.rejected];
  const count = new Map<string, number>();
  for (const item of items) for (const id of idsOf(item)) count.set(id, (count.get(id) ?? 0) + 1);
  const byId = new Map(open.map((approval) => [approval.id, approval]));
  const hasFate = (item: Item): boolean => fieldOf(item, 'fate') !== undefined;
  const isStrange = (item: Item): boolean =>
    item.tags.includes('approval') &&
    (item.id === undefined || !(byId.has(item.id) || isKnown(item.id, hasFate(item))));
  const strange = items.filter(isStrange);
  const unknown = new Set(strange);
  const { answers, again, held } = readItems(file, byId, count);
  const damaged = findDamaged(file, open, count, strange);
  const forged = strange.filter((item) => !item.bad && !damaged.items.has(item));
  const errors = board.problems.filter(({ severity }) => severity === 'error');
  const isUncertain = errors.some(({ lint }) => lint === 'TD090' || lint === 'TD091');
  return {
    answers: isUncertain ? [] : answers,
    again,
    present: new Set([...count.keys(), ...damaged.ids]),
    isUnclear: isUncertain || strange.some((item) => fieldOf(item, 'digest') === undefined),
    unsettled: items.flatMap((item) => (unknown.has(item) || hasFate(item) ? [] : (item.id ?? []))),
    problems: [
      ...capped(file, 'held entries', [...held, ...damaged.problems]),
      ...capped(file, 'entries', forged, (item) => unknownEntry(board, item)),
      ...capped(file, 'errors', errors),
    ],
  };
}

function readItems(
  file: BallotFile,
  byId: ReadonlyMap<string, Approval>,
  count: ReadonlyMap<string, number>,
): Pick<Marks, 'answers' | 'again'> & { held: Problem[] } {
  const { text, board, isCut } = file;
  const end = text.trimEnd().length;
  const read: ReturnType<typeof readItems> = { answers: [], again: new Map(), held: [] };
  for (const item of board.items) {
    const approval = item.id === undefined ? undefined : byId.get(item.id);
    if (approval === undefined) continue;
    const { id } = approval;
    const digest = fieldOf(item, 'digest');
    if (count.get(id)! > 1) read.held.push(doubled(file, item));
    else if (isCut && item.span.end >= end && !isEntryComplete(text, item))
      read.again.set(id, 'the file was cut off here');
    else if (digest !== undefined && String(digest.value) !== shownDigest(approval))
      read.again.set(id, 'the action has changed since it was shown');
    else {
      const answer = answerOf(text, board.file, item, approval);
      if (answer === undefined) continue;
      if ('code' in answer) read.held.push(answer);
      else read.answers.push({ id, answer });
    }
  }
  return read;
}

/** All ids of an entry: a damaged one may have several. */
function idsOf(item: Item): Set<string> {
  const fields = item.fields.filter(({ key, value }) => key === 'id' && value !== '');
  return new Set(fields.map(({ value }) => String(value)));
}

interface Damaged {
  ids: string[];
  items: Set<Item>;
  problems: Problem[];
}

/**
 * Requests that were shown and have no entry now, but whose id or digest is still in the text: in
 * an entry with another id, in a comment, or after the line above it was removed.
 */
function findDamaged(
  { text, board, shown }: BallotFile,
  open: readonly Approval[],
  count: ReadonlyMap<string, number>,
  strange: readonly Item[],
): Damaged {
  const damaged: Damaged = { ids: [], items: new Set(), problems: [] };
  const missing = open.filter(({ id }) => !count.has(id) && shown?.has(id) === true);
  if (missing.length === 0) return damaged;
  const byDigest = new Map(strange.map((item) => [String(fieldOf(item, 'digest')?.value), item]));
  const lines = new Map([...text.matchAll(/^[ \t]*id:[ \t]*["'`]?([\w.-]+)/gm)].map((line) => [line[1]!, line.index]));
  const places = placesIn(board.file, text);
  for (const approval of missing) {
    const { id } = approval;
    const item = byDigest.get(shownDigest(approval));
    const at = lines.get(id) ?? (item && (fieldOf(item, 'id')?.span.start ?? item.bodyStart));
    if (at === undefined) continue;
    damaged.ids.push(id);
    if (item !== undefined) damaged.items.add(item);
    const message = `the entry of ${id} is damaged, so it neither answers nor withdraws the request`;
    damaged.problems.push(
      problem('not_allowed', message, {
        where: places(at),
        hint: `write id: ${id} in a separate entry, or answer with guild approve ${id} or guild reject ${id}`,
      }),
    );
  }
  return damaged;
}

function doubled({ board, text }: BallotFile, item: Item): Problem {
  const at = fieldOf(item, 'id')!.span.start;
  return problem('duplicate', `${item.id} has more than one entry, so none of them counts`, {
    where: placesIn(board.file, text)(at),
    hint: 'remove all but one of them',
  });
}

function unknownEntry(board: Board, item: Item): Problem {
  return problem(
    'not_allowed',
    `no approval ${item.id ?? 'without an id'} was ever asked for, so this entry does not count`,
    {
      where: { file: board.file, line: item.line },
      hint: 'remove the entry; guild approve lists the open approvals',
    },
  );
}

/** How many problems of a kind are reported; the others are only counted. */
const MAX_REPORTED = 10;

function capped<T>(
  { board }: BallotFile,
  what: string,
  found: readonly T[],
  asProblem: (one: T) => Problem = (one) => one as Problem,
): Problem[] {
  const problems = found.slice(0, MAX_REPORTED).map(asProblem);
  if (found.length <= MAX_REPORTED) return problems;
  const rest = problem('over_limit', `${found.length - MAX_REPORTED} more ${what} like these do not count`, {
    where: { file: board.file },
    hint: 'remove them; guild approve lists the open approvals',
  });
  return [...problems, rest];
}
