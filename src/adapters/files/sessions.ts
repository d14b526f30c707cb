/**
 * Conversations as YAML files that only grow. Each is cached with the stamp of its file: a turn
 * costs one append whatever the length, and an edit by a person is noticed before the next write,
 * because it changes the stamp.
 */
import path from 'node:path';
import { fenced, isUnreadable } from '../../domain/fence.js';
import { problem } from '../../domain/problem.js';
import type { Session, SessionHeader } from '../../domain/session/session.js';
import { grewBy } from '../../domain/stamp.js';
import type { Disk } from '../../ports/disk.js';
import type { SessionOpened, Sessions } from '../../ports/store/sessions.js';
import {
  appendPlace,
  makeAppendable,
  parseSession,
  printHeader,
  printMessages,
  isBeheaded,
  statusSpan,
} from '../../text/session/parse.js';
import { notUtf8 } from '../../text/lines/utf8.js';
import { readSessionText } from '../../text/session/read.js';
import { diffMessages } from '../../text/session/message-diff.js';
import type { Ahead } from './ahead.js';
import type { Layout } from './base/layout.js';
import { keyOf, type Journal, type Line } from './journal.js';
import type { AtomicWrite } from './base/atomic-write.js';

interface Cached {
  stamp: string;
  session: Session;
  /** How to append: the indentation of the items, and the text before the first. */
  place: { indent: number; before: string };
  /**
   * The claim under which we write is durable. If a power cut could undo the claim but keep the
   * write, the task would be waiting with a torn conversation that looks as if a person were
   * editing it.
   */
  claimIsSafe: boolean;
  nameIsSafe: boolean;
  /** The printed header, if this process wrote it. */
  head?: string;
}

/** A conversation that does not have a file yet. */
interface Unwritten {
  session: Session;
  root: string | undefined;
  head: string;
  /** The printed messages. */
  text: string;
  status?: SessionHeader['status'];
}

/** The layout that this program writes. */
const OURS = { indent: 2, before: '' };

/** The cache evicts the conversations that were not used for longest. */
const MAX_KNOWN = 2000;

interface Dependencies {
  disk: Disk;
  layout: Layout;
  write: AtomicWrite;
  ahead: Ahead;
  journal: Journal;
  /** The root of an open task. */
  rootOf: (task: string) => string | undefined;
}

/**
 * A conversation grows only under a claim that others can see. A durable write therefore waits
 * until the write-behind queue is empty.
 */
export function sessionVerbs({
  disk,
  layout,
  write,
  ahead,
  journal,
  rootOf,
}: Dependencies): Sessions & { unclaimed(id: string): void } {
  const { caughtUp } = ahead;
  const unwritten = new Map<string, Unwritten>();
  const cache = new Map<string, Cached>();
  const remember = (id: string, what: Cached): void => {
    cache.delete(id);
    cache.set(id, what);
    if (cache.size > MAX_KNOWN) cache.delete(cache.keys().next().value!);
  };

  return {
    async create(header, messages, { durable = true } = {}) {
      const id = header.sessionId;
      const file = layout.session(id);
      const head = printHeader(header);
      const text = printMessages(messages);
      const session = { header, messages: [...messages] };
      if (!durable) {
        const root = header.task === undefined ? undefined : rootOf(header.task);
        unwritten.set(id, { session, root, head, text });
        writeLater(id);
        return session;
      }
      if (!(await write.createOnce(file, head + text, caughtUp()))) return undefined;
      remember(id, {
        stamp: disk.stamp(file) ?? '',
        session,
        place: OURS,
        claimIsSafe: true,
        nameIsSafe: true,
        head,
      });
      return session;
    },
    open: open,
    async append(id, messages, { durable }) {
      const file = layout.session(id);
      const pending = unwritten.get(id);
      if (pending !== undefined) {
        delete pending.status; // it ended for one task and continues for the next
        pending.text += printMessages(messages, OURS.indent);
        pending.session.messages.push(...messages);
        journal.add(lineOf(id, pending));
        writeLater(id);
        if (durable) {
          await caughtUp();
          await safeName(id);
        }
        return 'written';
      }
      if (cache.get(id)?.claimIsSafe === false) {
        await caughtUp();
        await disk.syncFolder(layout.tasks('active'));
      }
      const cached = cache.get(id);
      if (cached === undefined || disk.stamp(file) !== cached.stamp) return 'edited';
      const text = cached.place.before + printMessages(messages, cached.place.indent);
      const stamp = disk.append(file, text);
      if (grewBy(cached.stamp, stamp, Buffer.byteLength(text))) {
        cached.session.messages.push(...messages);
        remember(id, { ...cached, stamp, place: { ...cached.place, before: '' }, claimIsSafe: true });
      } else {
        cache.delete(id); // a person saved in between: the file has both changes, and is read again
      }
      if (durable) await Promise.all([disk.sync(file), cached.nameIsSafe ? undefined : safeName(id)]);
      return 'written';
    },
    /** Its task was put back, so the next claim on it is a new one. */
    unclaimed(id) {
      const cached = cache.get(id);
      if (cached) cached.claimIsSafe = false;
    },
    async replace(id, text) {
      if (unwritten.has(id)) await caughtUp();
      const file = layout.session(id);
      const shown = path.relative(layout.root, file);
      if (disk.stamp(file) === undefined) return problem('not_found', `there is no conversation ${id}`);
      const parsed = parseSession(text, shown);
      if (!parsed.ok) return parsed.problem;
      await write.replace(file, text);
      return undefined;
    },
    async setStatus(id, status) {
      const pending = unwritten.get(id);
      if (pending !== undefined) {
        pending.status = status;
        return;
      }
      mark(id, status);
    },
    async list() {
      const end = '.session.yaml';
      const written = disk
        .list(layout.sessions)
        .flatMap((name) => (name.endsWith(end) && !name.startsWith('.') ? [name.slice(0, -end.length)] : []));
      return [...written, ...unwritten.keys()];
    },
    stamp: async (id) => disk.stamp(layout.session(id)),
  };

  function writeLater(id: string): void {
    const conversation = unwritten.get(id)!;
    let written: { status: string | undefined; tmp: Promise<string> } | undefined;
    ahead.put({
      id: keyOf(id),
      root: conversation.root,
      line: async () => (conversation.status === undefined ? undefined : lineOf(id, conversation)),
      write: () => (written ??= { status: conversation.status, tmp: write.writeTemp(printWhole(conversation)) }).tmp,
      arrive(tmp) {
        unwritten.delete(id);
        const file = layout.session(id);
        const isTaken = disk.stamp(file) !== undefined;
        if (isTaken) disk.remove(tmp!);
        else disk.rename(tmp!, file);
        if (isTaken) return; // another file has the name: it stays, and the next reader finds it
        const { session, head, status } = conversation;
        // it has ended, and its file says so
        if (status !== undefined && status === written!.status) return;
        remember(id, {
          stamp: disk.stamp(file) ?? '',
          session,
          place: OURS,
          claimIsSafe: true,
          nameIsSafe: false,
          head,
        });
        if (status !== undefined) mark(id, status);
      },
    });
  }

  async function safeName(id: string): Promise<void> {
    await disk.syncFolder(layout.sessions);
    const cached = cache.get(id);
    if (cached) cached.nameIsSafe = true;
  }

  function mark(id: string, status: string): void {
    const cached = cache.get(id);
    const file = layout.session(id);
    cache.delete(id);
    if (cached === undefined || disk.stamp(file) !== cached.stamp) return;
    const head = cached.head ?? printHeader(cached.session.header);
    const span = statusSpan(head);
    if (span === undefined || (cached.head === undefined && !beginsWith(file, head, span.offset))) return;
    disk.patch(file, span.offset, status.padEnd(span.length));
  }

  function beginsWith(file: string, head: string, bytes: number): boolean {
    const read = disk.read(file);
    return read.kind === 'file' && read.bytes.subarray(0, bytes).equals(Buffer.from(head).subarray(0, bytes));
  }

  async function open(id: string, { repair = false } = {}): Promise<SessionOpened> {
    const file = layout.session(id);
    const shown = path.relative(layout.root, file);
    const pending = unwritten.get(id);
    if (pending !== undefined) return { kind: 'open', session: pending.session };
    const cached = cache.get(id);
    const current = disk.stamp(file);
    if (current === undefined) return { kind: 'missing' };
    if (!repair && cached !== undefined && current === cached.stamp) return { kind: 'open', session: cached.session };
    const read = fenced(shown, () => disk.read(file));
    if (read.kind === 'missing') return { kind: 'missing' };
    if (read.kind === 'unreadable') return { kind: 'held', problem: read.problem, stamp: current };
    if (read.kind !== 'file') {
      return {
        kind: 'held',
        problem: problem('bad_file', `${shown} is not a file that can be read`, { where: { file: shown } }),
        stamp: current,
      };
    }
    const content = readSessionText(read.bytes, repair);
    let stamp = read.stamp;
    if (!content.ok) return { kind: 'held', problem: notUtf8(shown, content.at), stamp };
    let { text } = content;
    if (content.torn !== undefined) {
      disk.create(path.join(layout.torn, `${id}.${Date.now()}`), content.torn);
      await write.replace(file, text);
      stamp = disk.stamp(file) ?? '';
    }
    const parsed = fenced(shown, () => parseSession(text, shown));
    if (isUnreadable(parsed)) return { kind: 'held', problem: parsed.problem, stamp };
    if (!parsed.ok && repair && isBeheaded(text)) {
      disk.rename(file, path.join(layout.torn, `${id}.${Date.now()}`));
      cache.delete(id);
      return { kind: 'missing' };
    }
    if (!parsed.ok) return { kind: 'held', problem: parsed.problem, stamp };
    let place = appendPlace(text);
    if (place === undefined) {
      // Another program wrote it in a style of YAML that cannot be appended to. Rewrite it with the
      // same content.
      text = makeAppendable(text, parsed.session.messages);
      await write.replace(file, text);
      stamp = disk.stamp(file) ?? '';
      place = appendPlace(text) ?? OURS;
    }
    remember(id, { stamp, session: parsed.session, place, claimIsSafe: false, nameIsSafe: false });
    if (cached === undefined) return { kind: 'open', session: parsed.session };
    const edit = diffMessages(cached.session.messages, parsed.session.messages);
    const changed = edit.added + edit.changed + edit.removed > 0;
    return { kind: 'open', session: parsed.session, ...(changed ? { edited: edit } : {}) };
  }
}

function lineOf(session: string, what: Unwritten): Line {
  return { id: keyOf(session), session, text: printWhole(what) };
}

function printWhole({ session, head, text, status }: Unwritten): string {
  return (status === undefined ? head : printHeader({ ...session.header, status })) + text;
}
