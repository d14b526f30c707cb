/**
 * Search in messages: what agents and people said, newest conversations first. The text of a file
 * is looked at before it is parsed, because most conversations do not have the words.
 */
import fs from 'node:fs';
import path from 'node:path';
import { farPartsOf, openReader } from '../../../app/readers/open-reader.js';
import type { Message, SessionHeader } from '../../../domain/session/session.js';
import { summary } from '../../../views/summary.js';
import type { MessageFound, MessagesFound } from '../../base/contract.js';
import type { Moment } from '../moment.js';
import { titleOf } from '../../base/title.js';
import { sessionFile, sessionNames } from '../../base/sessions.js';
import { turnsForOthers } from '../../base/turns.js';
import { textOf, until } from '../session.js';

const FOUND_MAX = 8;
const FOUND_IN_ONE = 3;
/** Beyond this, older conversations are left out, and the answer says so. */
const LOOKED_MAX_BYTES = 64 * 1024 * 1024;
/** Parsing a text takes far longer than looking for words in it. */
const PARSED_MAX_BYTES = 4 * 1024 * 1024;
const LOOKED_MAX_SHARED = 200;

export async function messagesWith(moment: Moment, text: string): Promise<MessagesFound> {
  const phrase = small(folded(text));
  const found: MessageFound[] = [];
  if (phrase === '') return { found, isPartial: false };
  let isPartial = false;
  const { root } = moment.feed;
  const store = openReader(root);
  const turn = turnsForOthers();
  try {
    const isShared = farPartsOf(store) !== undefined;
    const look = isShared ? lookAtSome() : lookAtFiles(root, phrase);
    const ids = isShared ? await store.sessions.list() : (await sessionNames(root)).map(({ id }) => id);
    for (const id of ids) {
      await turn();
      const seen = look(id);
      isPartial ||= seen === 'long';
      if (seen === 'stop') return { found, isPartial: true };
      const opened = seen === 'open' ? await store.sessions.open(id) : undefined;
      if (opened?.kind !== 'open') continue;
      const hits = hitsIn(until(opened.session.messages, moment.at), phrase);
      found.push(...(await shown(moment, id, opened.session.header, hits.slice(0, FOUND_IN_ONE))));
      isPartial ||= hits.length > FOUND_IN_ONE;
      if (found.length >= FOUND_MAX) return { found: found.slice(0, FOUND_MAX), isPartial: true };
    }
    return { found, isPartial };
  } finally {
    await store.close();
  }
}

/** The decision about a conversation. `long`: it is skipped, and the answer says so. */
type Look = (id: string) => 'open' | 'skip' | 'long' | 'stop';

/** A shared store has no files to look at. */
function lookAtSome(): Look {
  let left = LOOKED_MAX_SHARED;
  return () => (left-- > 0 ? 'open' : 'stop');
}

/** Opens a file only if it has every word of the phrase. */
function lookAtFiles(root: string, phrase: string): Look {
  // Other characters may be escaped in the file.
  const words = phrase.match(/[a-z0-9]+/g) ?? [];
  let [toLook, toParse] = [LOOKED_MAX_BYTES, PARSED_MAX_BYTES];
  return (id) => {
    if (toLook <= 0 || toParse <= 0) return 'stop';
    const file = path.join(root, sessionFile(id));
    const bytes = fs.lstatSync(file, { throwIfNoEntry: false })?.size ?? 0;
    if (bytes > LOOKED_MAX_BYTES) return 'long';
    toLook -= bytes;
    const text = small(textOf(file));
    if (!words.every((word) => text.includes(word))) return 'skip';
    if (bytes > PARSED_MAX_BYTES) return 'long';
    toParse -= bytes;
    return 'open';
  };
}

interface Hit {
  n: number;
  text: string;
}

/** A tag of the program around a quote. */
const TAG = /<\/?\w+__\w+[^>\n]*>/g;

/** Newest first. Results of tools are not messages that anybody said. */
function hitsIn(messages: readonly Message[], phrase: string): Hit[] {
  const hits = messages.flatMap(({ role, content }, i) => {
    const text = role === 'tool' ? '' : folded(content.replace(TAG, ' '));
    const at = small(text).indexOf(phrase);
    return at < 0 ? [] : [{ n: i + 1, text: around(text, at, phrase.length) }];
  });
  return hits.reverse();
}

async function shown(
  moment: Moment,
  session: string,
  { task, agentId: agent }: SessionHeader,
  hits: readonly Hit[],
): Promise<MessageFound[]> {
  const placed = task === undefined || hits.length === 0 ? undefined : await moment.task(task);
  const title = placed === undefined ? session : titleOf(summary(placed.task));
  return hits.map(({ n, text }) => ({ session, n, agent, title, text }));
}

const AROUND = 40;

function around(text: string, at: number, length: number): string {
  const from = at <= AROUND ? 0 : text.indexOf(' ', at - AROUND) + 1;
  const start = from > at || from === 0 ? Math.max(0, at - AROUND) : from;
  const end = Math.min(text.length, at + length + 2 * AROUND);
  // Drops half of a surrogate pair that the cut leaves at either end.
  const cut = text.slice(start, end).replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, '');
  return `${start > 0 ? '…' : ''}${cut}${end < text.length ? '…' : ''}`;
}

function folded(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

/** In lower case, with the same length: `İ` alone would become two characters. */
function small(text: string): string {
  return text.replaceAll('İ', 'i').toLowerCase();
}
