/** A person's changes to a conversation: counts for the event, and a short diff to read. */
import { diffArrays } from 'diff/lib/diff/array.js';
import type { SessionEdit } from '../../domain/session/prints.js';
import type { Message } from '../../domain/session/session.js';
import { lineDiff } from '../lines/line-diff.js';

const DIFF_LINES = 40;
const DIFF_WIDTH = 160;
/** With more edits than this, the whole conversation counts as replaced. */
const MAX_EDITS = 1000;

/**
 * Messages that were removed and added at the same place count as changed. `first`: the number of
 * the first message in its conversation.
 */
export function diffMessages(before: readonly Message[], after: readonly Message[], first = 1): SessionEdit {
  const edit = { added: 0, changed: 0, removed: 0 };
  const lines: string[] = [];
  let [number, was] = [first, [] as Message[]];
  const place = (is: Message[]): void => {
    const changed = Math.min(was.length, is.length);
    edit.changed += changed;
    edit.removed += was.length - changed;
    edit.added += is.length - changed;
    for (let i = 0; i < Math.max(was.length, is.length) && lines.length <= DIFF_LINES; i++)
      lines.push(...messageDiff(was[i], is[i], number + i));
    was = [];
    number += is.length;
  };
  for (const { added, removed, value } of changes(before, after)) {
    if (removed) was = value;
    else if (added) place(value);
    else {
      place([]);
      number += value.length;
    }
  }
  place([]);
  const cut = lines.length > DIFF_LINES ? [...lines.slice(0, DIFF_LINES), '…'] : lines;
  return { ...edit, diff: cut.join('\n') };
}

interface Change {
  added?: boolean;
  removed?: boolean;
  value: Message[];
}

/** At each place the removed messages come before the added ones. */
function changes(before: readonly Message[], after: readonly Message[]): Change[] {
  const [was, is] = [[...before], [...after]];
  const found = diffArrays(was, is, { comparator: isSame, maxEditLength: MAX_EDITS });
  return (
    found ?? [
      { removed: true, value: was },
      { added: true, value: is },
    ]
  );
}

function isSame(a: Message, b: Message): boolean {
  return a.content === b.content && a.role === b.role && JSON.stringify(a) === JSON.stringify(b);
}

function messageDiff(was: Message | undefined, is: Message | undefined, number: number): string[] {
  const lines = lineDiff(messageText(was), messageText(is), 0)
    .split('\n')
    .filter((line) => /^[-+] /.test(line))
    .map((line) => line.slice(0, DIFF_WIDTH + 2));
  return [`@ message ${number}, ${(is ?? was)!.role}`, ...lines];
}

function messageText(message: Message | undefined): string {
  if (message === undefined) return '';
  const { role, content, timestamp: _, usage: __, ...rest } = message;
  const more = Object.keys(rest).length === 0 ? '' : `\n${JSON.stringify(rest)}`;
  return `role: ${role}\n${content}${more}`;
}
