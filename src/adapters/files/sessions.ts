/**
 * Conversations as YAML files that only grow. What this process last saw is kept in memory with the file's stamp: a turn
 * costs one append whatever the length, and an edit by a person is noticed before the next write, because then the stamp
 * is another.
 */
import path from 'node:path';
import { problem } from '../../domain/problem.js';
import { diffMessages, type Session } from '../../domain/session.js';
import type { Disk } from '../../ports/disk.js';
import type { SessionOpened, Store } from '../../ports/store.js';
import {
  appendPlace,
  makeAppendable,
  parseSession,
  printHeader,
  printMessages,
  repairTail,
  statusSpan,
} from '../../text/session-yaml.js';
import type { Behind } from './behind.js';
import type { Layout } from './layout.js';
import type { Writing } from './writing.js';

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
}

type SessionVerbs = Pick<
  Store,
  'createSession' | 'openSession' | 'append' | 'replaceSession' | 'markSession' | 'sessions'
>;

/** As we write it ourselves. */
const OURS = { indent: 2, before: '' };

/** Conversations remembered at most; the ones not used for longest are read again when needed. */
const MAX_KNOWN = 2000;

/** A conversation grows only under a claim that others can see: until the disk has caught up, nothing is named or added. */
export function sessionVerbs(
  disk: Disk,
  l: Layout,
  writing: Writing,
  { caughtUp }: Behind,
): SessionVerbs & { unclaimed(id: string): void } {
  const known = new Map<string, Known>();
  const remember = (id: string, what: Known): void => {
    known.delete(id);
    known.set(id, what);
    if (known.size > MAX_KNOWN) known.delete(known.keys().next().value!);
  };

  return {
    async createSession(header, messages) {
      const file = l.session(header.sessionId);
      const text = printHeader(header) + printMessages(messages);
      if (!(await writing.createOnce(file, text, caughtUp()))) return false;
      const session = { header, messages: [...messages] };
      remember(header.sessionId, { stamp: disk.stamp(file) ?? '', session, place: OURS, claimIsSafe: true });
      return true;
    },
    openSession: open,
    async append(id, messages, { durable }) {
      const file = l.session(id);
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
      if (durable) await disk.sync(file);
      return 'written';
    },
    /** Its task was put back: the next claim on it is a new one. */
    unclaimed(id) {
      const last = known.get(id);
      if (last) last.claimIsSafe = false;
    },
    async replaceSession(id, text) {
      const file = l.session(id);
      const shown = path.relative(l.root, file);
      if (disk.stamp(file) === undefined) return problem('not_found', `there is no conversation ${id}`);
      const parsed = parseSession(text, shown);
      if (!parsed.ok) return parsed.problem;
      await writing.replace(file, text);
      return undefined;
    },
    markSession(id, status) {
      const last = known.get(id);
      const file = l.session(id);
      known.delete(id);
      if (last === undefined || disk.stamp(file) !== last.stamp) return;
      const head = printHeader(last.session.header);
      const span = statusSpan(head);
      const read = disk.read(file);
      if (
        span === undefined ||
        read.kind !== 'file' ||
        !read.bytes.subarray(0, span.offset).equals(Buffer.from(head).subarray(0, span.offset))
      )
        return;
      disk.patch(file, span.offset, status.padEnd(span.length));
    },
    sessions() {
      const end = '.session.yaml';
      return disk
        .list(l.sessions)
        .flatMap((name) => (name.endsWith(end) && !name.startsWith('.') ? [name.slice(0, -end.length)] : []));
    },
  };

  async function open(id: string, { repair = false } = {}): Promise<SessionOpened> {
    const file = l.session(id);
    const shown = path.relative(l.root, file);
    const last = known.get(id);
    if (!repair && last !== undefined && disk.stamp(file) === last.stamp)
      return { kind: 'open', session: last.session };
    const read = disk.read(file);
    if (read.kind === 'missing') return { kind: 'missing' };
    if (read.kind !== 'file') {
      return {
        kind: 'held',
        problem: problem('bad_file', `${shown} is not a file that can be read`, { where: { file: shown } }),
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
    if (!parsed.ok) return { kind: 'held', problem: parsed.problem };
    let place = appendPlace(text);
    if (place === undefined) {
      // Somebody's program wrote it in a shape of YAML that cannot grow at its end. It is written anew and says the same.
      text = makeAppendable(text, parsed.session.messages);
      await writing.replace(file, text);
      stamp = disk.stamp(file) ?? '';
      place = appendPlace(text) ?? OURS;
    }
    remember(id, { stamp, session: parsed.session, place, claimIsSafe: false });
    if (last === undefined) return { kind: 'open', session: parsed.session };
    const edit = diffMessages(last.session.messages, parsed.session.messages);
    const changed = edit.added + edit.changed + edit.removed > 0;
    return { kind: 'open', session: parsed.session, ...(changed ? { edited: edit } : {}) };
  }
}

function grewBy(before: string, after: string, bytes: number): boolean {
  const [ino, size] = before.split('.');
  const [inoNow, sizeNow] = after.split('.');
  return ino === inoNow && Number(size) + bytes === Number(sizeNow);
}
