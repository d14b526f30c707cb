/**
 * Conversations as YAML files that only grow. Each is cached with the stamp of its file: a turn
 * costs one append whatever the length, and an edit by a person is noticed before the next write,
 * because it changes the stamp. A message is in the journal and in its file when `append` returns.
 */
import path from 'node:path';
import { problem } from '../../domain/problem.js';
import type { Message, Session, SessionHeader } from '../../domain/session/session.js';
import { grewBy, sizeOf } from '../../domain/stamp.js';
import type { Disk } from '../../ports/disk.js';
import type { Sessions } from '../../ports/store/sessions.js';
import { appendPlace, parseSession, printHeader, printMessages, statusSpan } from '../../text/session/parse.js';
import type { AtomicWrite } from './base/atomic-write.js';
import type { Layout } from './base/layout.js';
import type { Journal } from './journal/journal.js';
import { sessionKey } from './journal/step.js';
import { extended, prefixOf } from './grown-session.js';
import type { Placing } from './place/operation.js';
import { sessionReader, OURS } from './read-session.js';
import type { Item, Placer } from './place/placer.js';

interface Dependencies {
  disk: Disk;
  layout: Layout;
  write: AtomicWrite;
  journal: Journal;
  placer: Placer;
  /** Whether this process works under claims, and so has a journal. */
  isJoined: () => boolean;
}

/** A conversation that has no file yet. */
interface SessionItem extends Item {
  session: Session;
  text: string;
  /** Other processes may continue it, so its file is in place when an append returns. */
  isAwaited: boolean;
}

export function sessionVerbs({ disk, layout, write, journal, placer, isJoined }: Dependencies): Sessions & {
  /** A task was claimed, which the journal knows as of this line. */
  claimed(line: number): void;
} {
  const queued = (id: string): SessionItem | undefined => placer.get(sessionKey(id)) as SessionItem | undefined;
  let lastClaim = 0;
  const reader = sessionReader({ disk, layout, write });
  const { cache, remember } = reader;

  return {
    async create(header, messages, { durable = true } = {}) {
      const id = header.sessionId;
      const file = layout.session(id);
      const head = printHeader(header);
      const text = head + printMessages(messages);
      const session = { header, messages: [...messages] };
      if (queued(id) !== undefined || disk.stamp(file) !== undefined) return undefined;
      if (!isJoined()) {
        if (!(await write.createOnce(file, text))) return undefined;
        remember(id, { stamp: disk.stamp(file) ?? '', session, place: OURS, head, prefix: prefixOf(text) });
        return session;
      }
      journal.add({ session: id, at: 0, text });
      const item: SessionItem = {
        key: sessionKey(id),
        line: journal.line(),
        to: file,
        session,
        text,
        isAwaited: durable,
        done: (placing) => done(id, head, item, placing),
      };
      placer.put(item);
      return session;
    },
    open: async (id, options) => {
      const item = queued(id);
      if (item !== undefined) return { kind: 'open', session: item.session };
      const opened = await reader.open(id, options);
      // Before the first append: durable by the time the model answers.
      if (opened.kind === 'open' && isJoined() && !journal.isDurable(lastClaim)) journal.syncSoon();
      return opened;
    },
    async append(id, messages, { durable }) {
      const item = queued(id);
      return item === undefined ? grow(id, messages, durable) : begin(id, item, messages, durable);
    },
    async replace(id, text) {
      await placed(id);
      const file = layout.session(id);
      if (disk.stamp(file) === undefined) return problem('not_found', `there is no conversation ${id}`);
      const parsed = parseSession(text, path.relative(layout.root, file));
      if (!parsed.ok) return parsed.problem;
      await write.replace(file, text);
      return undefined;
    },
    async setStatus(id, status) {
      const item = queued(id);
      if (item === undefined) mark(id, status);
      else markUnplaced(item, status);
    },
    known(id, stamp) {
      const cached = cache.get(id);
      return cached?.stamp === stamp ? cached.session : undefined;
    },
    async list() {
      await placer.flush();
      const end = '.session.yaml';
      return disk
        .list(layout.sessions)
        .flatMap((name) => (name.endsWith(end) && !name.startsWith('.') ? [name.slice(0, -end.length)] : []));
    },
    stamp: async (id) => disk.stamp(layout.session(id)),
    claimed: (line) => void (lastClaim = line),
  };

  /**
   * Messages that come before the file: it is created with them. The file of a stage's conversation
   * follows when it is due, or before the calls of its messages start: a person's file under its
   * name counts.
   */
  async function begin(
    id: string,
    item: SessionItem,
    messages: Message[],
    durable: boolean,
  ): Promise<'written' | 'edited'> {
    const text = printMessages(messages, OURS.indent);
    journal.add({ session: id, at: Buffer.byteLength(item.text), text });
    item.text += text;
    item.session.messages.push(...messages);
    journal.write();
    if (!durable && !item.isAwaited) return 'written';
    const line = journal.line();
    const [placing] = await Promise.all([
      placer.placed(item, { isAlone: true }),
      durable ? journal.durable(line) : undefined,
    ]);
    return placing.kind === 'placed' ? 'written' : 'edited';
  }

  async function placed(id: string): Promise<void> {
    const item = queued(id);
    if (item !== undefined) await placer.placed(item, { isAlone: true });
  }

  /** If the name is taken, the other file stays and counts. */
  function done(id: string, head: string, { session, text, to }: SessionItem, placing: Placing): void {
    if (placing.kind !== 'placed') return journal.drop(sessionKey(id));
    journal.placed(sessionKey(id), to);
    remember(id, { stamp: placing.stamp ?? '', session, place: OURS, head, prefix: prefixOf(text) });
  }

  async function grow(id: string, messages: Message[], durable: boolean): Promise<'written' | 'edited'> {
    const file = layout.session(id);
    const cached = cache.get(id);
    if (cached === undefined || disk.stamp(file) !== cached.stamp) return 'edited';
    const text = cached.place.before + printMessages(messages, cached.place.indent);
    if (isJoined()) {
      journal.add({ session: id, at: sizeOf(cached.stamp), text });
      // A power cut must not undo the claim and keep half of a message, because that would look
      // like a person's edit.
      const line = durable ? journal.line() : lastClaim;
      const isSafe = journal.isDurable(line);
      if (!isSafe) await journal.durable(line);
      if (!isSafe && disk.stamp(file) !== cached.stamp) return afterEdit(id, file, messages);
    }
    const stamp = disk.append(file, text);
    if (isJoined()) journal.placed(sessionKey(id), file);
    else if (durable) await disk.sync(file);
    if (cache.get(id) === cached && grewBy(cached.stamp, stamp, Buffer.byteLength(text))) {
      cached.session.messages.push(...messages);
      const prefix = extended(cached.prefix, text);
      remember(id, { ...cached, stamp, place: { ...cached.place, before: '' }, prefix });
    } else {
      cache.delete(id); // a person saved in between: the file has both changes, and is read again
    }
    return 'written';
  }

  /**
   * A person saved while the message was on its way to the device. Their text stays, and the
   * message follows it. If their file cannot be read, the message counts as never written.
   */
  function afterEdit(id: string, file: string, messages: Message[]): 'written' | 'edited' {
    const read = disk.read(file);
    const text = read.kind === 'file' ? read.bytes.toString('utf8') : '';
    const place = parseSession(text, file).ok ? appendPlace(text) : undefined;
    if (place === undefined) {
      journal.drop(sessionKey(id));
      return 'edited';
    }
    disk.append(file, place.before + printMessages(messages, place.indent));
    journal.placed(sessionKey(id), file);
    return 'written';
  }

  /** Keeps the parsed conversation, so that the next task in it need not parse it again. */
  function mark(id: string, status: SessionHeader['status']): void {
    const cached = cache.get(id);
    const file = layout.session(id);
    if (cached === undefined || disk.stamp(file) !== cached.stamp) return void cache.delete(id);
    if (cached.session.header.status === status) return;
    const head = cached.head ?? printHeader(cached.session.header);
    const span = statusSpan(head);
    if (span === undefined || (cached.head === undefined && !beginsWith(file, head, span.offset))) return;
    const stamp = disk.patch(file, span.offset, status.padEnd(span.length));
    cached.session.header.status = status;
    if (grewBy(cached.stamp, stamp, 0)) remember(id, { ...cached, stamp });
    else cache.delete(id);
  }

  function markUnplaced(item: SessionItem, status: SessionHeader['status']): void {
    const span = statusSpan(item.text);
    if (span === undefined) return;
    const { offset, length } = span;
    item.text = item.text.slice(0, offset) + status.padEnd(length) + item.text.slice(offset + length);
    item.session.header.status = status;
  }

  function beginsWith(file: string, head: string, bytes: number): boolean {
    const read = disk.read(file);
    return read.kind === 'file' && read.bytes.subarray(0, bytes).equals(Buffer.from(head).subarray(0, bytes));
  }
}
