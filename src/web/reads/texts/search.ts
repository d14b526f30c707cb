/**
 * Search in messages: what agents and people said, newest conversations first. The text of a file
 * is looked at before it is parsed, because most conversations do not have the words.
 */
import fs from 'node:fs';
import path from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { farPartsOf, openReader } from '../../../app/readers/open-reader.js';
import type { Message, SessionHeader } from '../../../domain/session/session.js';
import { summary } from '../../../views/summary.js';
import type { MessageFound, MessagesFound } from '../../base/contract.js';
import type { Moment } from '../moment.js';
import { titleOf } from '../../base/title.js';
import { sessionFile, sessionNames } from '../../base/sessions.js';
import { textOf, until } from '../session.js';

const FOUND_MAX = 8;
const FOUND_IN_ONE = 3;
/** Beyond this, older conversations are left out, and the answer says so. */
const LOOKED_MAX_BYTES = 64 * 1024 * 1024;
const LOOKED_MAX_SHARED = 200;
/** Other requests are answered in between. */
const AT_ONCE = 50;

export async function messagesWith(moment: Moment, text: string): Promise<MessagesFound> {
  const phrase = folded(text);
  const found: MessageFound[] = [];
  if (phrase === '') return { found, isPartial: false };
  let hasMore = false;
  const { root } = moment.feed;
  const store = openReader(root);
  const isShared = farPartsOf(store) !== undefined;
  const mayHave = isShared ? () => true : quickLook(root, phrase);
  try {
    const ids = isShared ? await store.sessions.list() : sessionNames(root).map(({ id }) => id);
    for (const [i, id] of ids.entries()) {
      if (isShared && i === LOOKED_MAX_SHARED) return { found, isPartial: true };
      if (i % AT_ONCE === AT_ONCE - 1) await nextTurn();
      const may = mayHave(id);
      if (may === undefined) return { found, isPartial: true };
      const opened = may ? await store.sessions.open(id) : undefined;
      if (opened?.kind !== 'open') continue;
      const hits = hitsIn(until(opened.session.messages, moment.at), phrase);
      found.push(...(await shown(moment, id, opened.session.header, hits.slice(0, FOUND_IN_ONE))));
      hasMore ||= hits.length > FOUND_IN_ONE;
      if (found.length >= FOUND_MAX) return { found: found.slice(0, FOUND_MAX), isPartial: true };
    }
    return { found, isPartial: hasMore };
  } finally {
    await store.close();
  }
}

/** Whether the file has every word of the phrase. Undefined: enough was read. */
function quickLook(root: string, phrase: string): (id: string) => boolean | undefined {
  // Other characters may be escaped in the file.
  const words = phrase.match(/[a-z0-9]+/g) ?? [];
  let left = LOOKED_MAX_BYTES;
  return (id) => {
    if (left <= 0) return undefined;
    const file = path.join(root, sessionFile(id));
    left -= fs.lstatSync(file, { throwIfNoEntry: false })?.size ?? 0;
    const text = textOf(file).toLowerCase();
    return words.every((word) => text.includes(word));
  };
}

interface Hit {
  n: number;
  text: string;
}

/** Newest first. Results of tools are not messages that anybody said. */
function hitsIn(messages: readonly Message[], phrase: string): Hit[] {
  const hits = messages.flatMap(({ role, content }, i) => {
    const text = content.replace(/\s+/g, ' ').trim();
    const at = role === 'tool' ? -1 : text.toLowerCase().indexOf(phrase);
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
  return `${start > 0 ? '…' : ''}${text.slice(start, end)}${end < text.length ? '…' : ''}`;
}

function folded(text: string): string {
  return text.replace(/\s+/g, ' ').trim().toLowerCase();
}
