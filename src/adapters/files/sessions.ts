/**
 * Conversations as YAML files that only grow. Each is cached with the stamp of its file: a turn
 * costs one append whatever the length, and an edit by a person is noticed before the next write,
 * because it changes the stamp. A message is in the journal and in its file when `append` returns.
 */
import path from 'node:path';
import { problem } from '../../domain/problem.js';
import type { Session } from '../../domain/session/session.js';
import { grewBy, sizeOf } from '../../domain/stamp.js';
import type { Disk } from '../../ports/disk.js';
import type { Sessions } from '../../ports/store/sessions.js';
import { appendPlace, parseSession, printHeader, printMessages, statusSpan } from '../../text/session/parse.js';
import type { AtomicWrite } from './base/atomic-write.js';
import type { Layout } from './base/layout.js';
import type { Journal } from './journal/journal.js';
import { sessionKey } from './journal/step.js';
import { extended, prefixOf } from './grown-session.js';
import { sessionReader, OURS } from './read-session.js';
import type { ExecuteAll } from './place/placer.js';

interface Dependencies {
  disk: Disk;
  layout: Layout;
  write: AtomicWrite;
  journal: Journal;
  execute: ExecuteAll;
  /** Whether this process works under claims, and so has a journal. */
  isJoined: () => boolean;
}

/** A conversation that has no file yet. */
interface Unwritten {
  session: Session;
  head: string;
  /** The printed messages. */
  text: string;
  /** Resolves when the file was created; false if the name was taken. */
  placing?: Promise<boolean>;
}

export function sessionVerbs({ disk, layout, write, journal, execute, isJoined }: Dependencies): Sessions & {
  /** The task of this conversation was claimed, which the journal knows as of this line. */
  claimed(id: string, line: number): void;
  /** Creates the files of conversations that nothing was appended to. */
  flush(): Promise<void>;
} {
  const unwritten = new Map<string, Unwritten>();
  const claimLines = new Map<string, number>();
  const reader = sessionReader({ disk, layout, write });
  const { cache, remember } = reader;

  return {
    async create(header, messages) {
      const id = header.sessionId;
      const head = printHeader(header);
      const text = printMessages(messages);
      const session = { header, messages: [...messages] };
      if (unwritten.has(id) || disk.stamp(layout.session(id)) !== undefined) return undefined;
      if (!isJoined()) {
        if (!(await write.createOnce(layout.session(id), head + text))) return undefined;
        const stamp = disk.stamp(layout.session(id)) ?? '';
        remember(id, { stamp, session, place: OURS, head, prefix: prefixOf(head + text) });
        return session;
      }
      unwritten.set(id, { session, head, text });
      journal.add({ session: id, at: 0, text: head + text });
      return session;
    },
    open: async (id, options) => {
      const pending = unwritten.get(id);
      return pending === undefined ? reader.open(id, options) : { kind: 'open', session: pending.session };
    },
    async append(id, messages, { durable }) {
      // A power cut must not undo the claim and keep half of a message: that would look like a
      // person's edit.
      const claimLine = claimLines.get(id);
      if (claimLine !== undefined && !journal.isDurable(claimLine)) await journal.durable(claimLine);
      claimLines.delete(id);
      const pending = unwritten.get(id);
      return pending === undefined ? grow(id, messages, durable) : begin(id, pending, messages, durable);
    },
    async replace(id, text) {
      if (unwritten.has(id)) await place(id, unwritten.get(id)!);
      const file = layout.session(id);
      if (disk.stamp(file) === undefined) return problem('not_found', `there is no conversation ${id}`);
      const parsed = parseSession(text, path.relative(layout.root, file));
      if (!parsed.ok) return parsed.problem;
      await write.replace(file, text);
      return undefined;
    },
    async setStatus(id, status) {
      const pending = unwritten.get(id);
      if (pending !== undefined) await place(id, pending);
      mark(id, status);
    },
    async list() {
      const end = '.session.yaml';
      const written = disk
        .list(layout.sessions)
        .flatMap((name) => (name.endsWith(end) && !name.startsWith('.') ? [name.slice(0, -end.length)] : []));
      return [...new Set([...written, ...unwritten.keys()])];
    },
    stamp: async (id) => disk.stamp(layout.session(id)),
    claimed: (id, line) => void claimLines.set(id, line),
    async flush() {
      await Promise.all([...unwritten].map(([id, pending]) => place(id, pending)));
    },
  };

  /** The first messages after the conversation was created: its file is written whole. */
  async function begin(
    id: string,
    pending: Unwritten,
    messages: Parameters<Sessions['append']>[1],
    durable: boolean,
  ): Promise<'written' | 'edited'> {
    if (pending.placing !== undefined) {
      await pending.placing;
      return grow(id, messages, durable);
    }
    const text = printMessages(messages, OURS.indent);
    journal.add({ session: id, at: Buffer.byteLength(pending.head + pending.text), text });
    pending.text += text;
    pending.session.messages.push(...messages);
    const line = journal.write();
    const [isPlaced] = await Promise.all([place(id, pending), durable ? journal.durable(line) : undefined]);
    return isPlaced ? 'written' : 'edited';
  }

  function place(id: string, pending: Unwritten): Promise<boolean> {
    return (pending.placing ??= createFile(id, pending));
  }

  /** If the name is taken, the other file stays and counts. */
  async function createFile(id: string, { session, head, text }: Unwritten): Promise<boolean> {
    journal.write();
    const file = layout.session(id);
    const [placing] = await execute([{ to: file, text: head + text }]);
    unwritten.delete(id);
    if (placing!.kind !== 'placed') {
      journal.drop(sessionKey(id));
      return false;
    }
    journal.placed(sessionKey(id), file);
    remember(id, { stamp: placing!.stamp ?? '', session, place: OURS, head, prefix: prefixOf(head + text) });
    return true;
  }

  async function grow(
    id: string,
    messages: Parameters<Sessions['append']>[1],
    durable: boolean,
  ): Promise<'written' | 'edited'> {
    const file = layout.session(id);
    const cached = cache.get(id);
    if (cached === undefined || disk.stamp(file) !== cached.stamp) return 'edited';
    const text = cached.place.before + printMessages(messages, cached.place.indent);
    if (isJoined()) {
      journal.add({ session: id, at: sizeOf(cached.stamp), text });
      const line = journal.write();
      if (durable) await journal.durable(line);
      if (durable && disk.stamp(file) !== cached.stamp) return afterEdit(id, file, messages);
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
  function afterEdit(id: string, file: string, messages: Parameters<Sessions['append']>[1]): 'written' | 'edited' {
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

  /** What is known of the conversation stays known: the next task in it need not parse it again. */
  function mark(id: string, status: string): void {
    const cached = cache.get(id);
    const file = layout.session(id);
    if (cached === undefined || disk.stamp(file) !== cached.stamp) return void cache.delete(id);
    const head = cached.head ?? printHeader(cached.session.header);
    const span = statusSpan(head);
    if (span === undefined || (cached.head === undefined && !beginsWith(file, head, span.offset))) return;
    const stamp = disk.patch(file, span.offset, status.padEnd(span.length));
    if (grewBy(cached.stamp, stamp, 0)) remember(id, { ...cached, stamp });
    else cache.delete(id);
  }

  function beginsWith(file: string, head: string, bytes: number): boolean {
    const read = disk.read(file);
    return read.kind === 'file' && read.bytes.subarray(0, bytes).equals(Buffer.from(head).subarray(0, bytes));
  }
}
