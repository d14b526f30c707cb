/**
 * Conversations as YAML files that only grow. What this process last saw is kept in memory with the file's stamp: a turn
 * costs one append whatever the length, and an edit by a person is noticed before the next write, because then the stamp
 * is another.
 */
import path from 'node:path';
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
  repairTail,
  statusSpan,
} from '../../text/session/parse.js';
import { diffMessages } from '../../text/session/message-diff.js';
import type { Ahead } from './ahead.js';
import type { Layout } from './base/layout.js';
import { keyOf, type Journal, type Line } from './journal.js';
import type { Writing } from './base/atomic-write.js';

interface Known {
  stamp: string;
  session: Session;
  /** How text must look to be added: the indentation of the items, and what must come before the first. */
  place: { indent: number; before: string };
  /**
   * The claim under which we write is durable. Only then does a torn end always mean a lost taker: had a power cut undone
   * the claim but not the write, the task would lie among the waiting with a conversation that looks half edited.
   */
  claimIsSafe: boolean;
  nameIsSafe: boolean;
  /** How it begins, where we wrote that ourselves. */
  head?: string;
}

/** A conversation that has no file yet. */
interface Unwritten {
  session: Session;
  root: string | undefined;
  head: string;
  /** What follows the head. */
  text: string;
  status?: SessionHeader['status'];
}

/** As we write it ourselves. */
const OURS = { indent: 2, before: '' };

/** Conversations remembered at most; the ones not used for longest are read again when needed. */
const MAX_KNOWN = 2000;

interface Parts {
  disk: Disk;
  l: Layout;
  writing: Writing;
  ahead: Ahead;
  journal: Journal;
  /** The task that somebody asked for, above an open one. */
  rootOf: (task: string) => string | undefined;
}

/** A conversation grows only under a claim that others can see: until the disk has caught up, nothing is named or added, unless nobody waits for it. */
export function sessionVerbs({
  disk,
  l,
  writing,
  ahead,
  journal,
  rootOf,
}: Parts): Sessions & { unclaimed(id: string): void } {
  const { caughtUp } = ahead;
  const unwritten = new Map<string, Unwritten>();
  const known = new Map<string, Known>();
  const remember = (id: string, what: Known): void => {
    known.delete(id);
    known.set(id, what);
    if (known.size > MAX_KNOWN) known.delete(known.keys().next().value!);
  };

  return {
    async create(header, messages, { durable = true } = {}) {
      const id = header.sessionId;
      const file = l.session(id);
      const head = printHeader(header);
      const text = printMessages(messages);
      const session = { header, messages: [...messages] };
      if (!durable) {
        const root = header.task === undefined ? undefined : rootOf(header.task);
        unwritten.set(id, { session, root, head, text });
        writeLater(id);
        return session;
      }
      if (!(await writing.createOnce(file, head + text, caughtUp()))) return undefined;
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
      const file = l.session(id);
      const early = unwritten.get(id);
      if (early !== undefined) {
        delete early.status; // it was over for one task, and goes on for the next
        early.text += printMessages(messages, OURS.indent);
        early.session.messages.push(...messages);
        journal.add(lineOf(id, early));
        writeLater(id);
        if (durable) {
          await caughtUp();
          await safeName(id);
        }
        return 'written';
      }
      if (known.get(id)?.claimIsSafe === false) {
        await caughtUp();
        await disk.syncFolder(l.tasks('active'));
      }
      const last = known.get(id);
      if (last === undefined || disk.stamp(file) !== last.stamp) return 'edited';
      const text = last.place.before + printMessages(messages, last.place.indent);
      const stamp = disk.append(file, text);
      if (grewBy(last.stamp, stamp, Buffer.byteLength(text))) {
        last.session.messages.push(...messages);
        remember(id, { ...last, stamp, place: { ...last.place, before: '' }, claimIsSafe: true });
      } else {
        known.delete(id); // somebody saved in between: what we wrote is there, and so is theirs; it is read again
      }
      if (durable) await Promise.all([disk.sync(file), last.nameIsSafe ? undefined : safeName(id)]);
      return 'written';
    },
    /** Its task was put back: the next claim on it is a new one. */
    unclaimed(id) {
      const last = known.get(id);
      if (last) last.claimIsSafe = false;
    },
    async replace(id, text) {
      if (unwritten.has(id)) await caughtUp();
      const file = l.session(id);
      const shown = path.relative(l.root, file);
      if (disk.stamp(file) === undefined) return problem('not_found', `there is no conversation ${id}`);
      const parsed = parseSession(text, shown);
      if (!parsed.ok) return parsed.problem;
      await writing.replace(file, text);
      return undefined;
    },
    async setStatus(id, status) {
      const early = unwritten.get(id);
      if (early !== undefined) {
        early.status = status;
        return;
      }
      mark(id, status);
    },
    async list() {
      const end = '.session.yaml';
      const written = disk
        .list(l.sessions)
        .flatMap((name) => (name.endsWith(end) && !name.startsWith('.') ? [name.slice(0, -end.length)] : []));
      return [...written, ...unwritten.keys()];
    },
    stamp: async (id) => disk.stamp(l.session(id)),
  };

  function writeLater(id: string): void {
    const one = unwritten.get(id)!;
    let written: { status: string | undefined; tmp: Promise<string> } | undefined;
    ahead.put({
      id: keyOf(id),
      root: one.root,
      line: async () => (one.status === undefined ? undefined : lineOf(id, one)),
      write: () => (written ??= { status: one.status, tmp: writing.aside(whole(one)) }).tmp,
      arrive(tmp) {
        unwritten.delete(id);
        const file = l.session(id);
        const isTaken = disk.stamp(file) !== undefined;
        if (isTaken) disk.remove(tmp!);
        else disk.rename(tmp!, file);
        if (isTaken) return; // somebody put one there: theirs stays, and whoever goes on finds it
        const { session, head, status } = one;
        if (status !== undefined && status === written!.status) return; // it is over, and says so
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
    await disk.syncFolder(l.sessions);
    const last = known.get(id);
    if (last) last.nameIsSafe = true;
  }

  function mark(id: string, status: string): void {
    const last = known.get(id);
    const file = l.session(id);
    known.delete(id);
    if (last === undefined || disk.stamp(file) !== last.stamp) return;
    const head = last.head ?? printHeader(last.session.header);
    const span = statusSpan(head);
    if (span === undefined || (last.head === undefined && !beginsWith(file, head, span.offset))) return;
    disk.patch(file, span.offset, status.padEnd(span.length));
  }

  function beginsWith(file: string, head: string, bytes: number): boolean {
    const read = disk.read(file);
    return read.kind === 'file' && read.bytes.subarray(0, bytes).equals(Buffer.from(head).subarray(0, bytes));
  }

  async function open(id: string, { repair = false } = {}): Promise<SessionOpened> {
    const file = l.session(id);
    const shown = path.relative(l.root, file);
    const early = unwritten.get(id);
    if (early !== undefined) return { kind: 'open', session: early.session };
    const last = known.get(id);
    const found = disk.stamp(file);
    if (found === undefined) return { kind: 'missing' };
    if (!repair && last !== undefined && found === last.stamp) return { kind: 'open', session: last.session };
    const read = disk.read(file);
    if (read.kind === 'missing') return { kind: 'missing' };
    if (read.kind !== 'file') {
      return {
        kind: 'held',
        problem: problem('bad_file', `${shown} is not a file that can be read`, { where: { file: shown } }),
        stamp: found,
      };
    }
    let text = read.bytes.toString('utf8');
    let stamp = read.stamp;
    if (repair) {
      const { kept, torn } = repairTail(text);
      if (torn !== '') {
        disk.create(path.join(l.torn, `${id}.${Date.now()}`), torn);
        await writing.replace(file, kept);
        text = kept;
        stamp = disk.stamp(file) ?? '';
      }
    }
    const parsed = parseSession(text, shown);
    if (!parsed.ok && repair && isBeheaded(text)) {
      disk.rename(file, path.join(l.torn, `${id}.${Date.now()}`));
      known.delete(id);
      return { kind: 'missing' };
    }
    if (!parsed.ok) return { kind: 'held', problem: parsed.problem, stamp };
    let place = appendPlace(text);
    if (place === undefined) {
      // Somebody's program wrote it in a shape of YAML that cannot grow at its end. It is written anew and says the same.
      text = makeAppendable(text, parsed.session.messages);
      await writing.replace(file, text);
      stamp = disk.stamp(file) ?? '';
      place = appendPlace(text) ?? OURS;
    }
    remember(id, { stamp, session: parsed.session, place, claimIsSafe: false, nameIsSafe: false });
    if (last === undefined) return { kind: 'open', session: parsed.session };
    const edit = diffMessages(last.session.messages, parsed.session.messages);
    const changed = edit.added + edit.changed + edit.removed > 0;
    return { kind: 'open', session: parsed.session, ...(changed ? { edited: edit } : {}) };
  }
}

function lineOf(session: string, what: Unwritten): Line {
  return { id: keyOf(session), session, text: whole(what) };
}

function whole({ session, head, text, status }: Unwritten): string {
  return (status === undefined ? head : printHeader({ ...session.header, status })) + text;
}
