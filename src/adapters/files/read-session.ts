/**
 * Reads conversations and keeps them in memory with the stamp of their file. Only the part by which
 * a file has grown is parsed again.
 */
import path from 'node:path';
import { defined } from '../../domain/defined.js';
import { fenced, isUnreadable } from '../../domain/fence.js';
import { problem } from '../../domain/problem.js';
import type { Session } from '../../domain/session/session.js';
import type { Disk } from '../../ports/disk.js';
import type { SessionOpened } from '../../ports/store/sessions.js';
import { appendPlace, isBeheaded, makeAppendable, parseSession } from '../../text/session/parse.js';
import { notUtf8 } from '../../text/lines/utf8.js';
import { readSessionText } from '../../text/session/read.js';
import { diffMessages } from '../../text/session/message-diff.js';
import type { AtomicWrite } from './base/atomic-write.js';
import type { Layout } from './base/layout.js';
import { grownSession, prefixOf, type Prefix } from './grown-session.js';

interface Cached {
  stamp: string;
  session: Session;
  /** How to append: the indentation of the items, and the text before the first. */
  place: { indent: number; before: string };
  /** The printed header, if this process wrote it. */
  head?: string;
  /** Size and checksum of the file with this stamp; shows later whether it only grew. */
  prefix?: Prefix | undefined;
}

interface SessionReader {
  readonly cache: ReadonlyMap<string, Cached> & { delete(id: string): boolean };
  remember(id: string, what: Cached): void;
  open(id: string, options?: { repair?: boolean }): Promise<SessionOpened>;
}

/** The layout that this program writes. */
export const OURS = { indent: 2, before: '' };

/** The cache evicts the conversations that were not used for longest. */
const MAX_KNOWN = 2000;

export function sessionReader({
  disk,
  layout,
  write,
  parse = parseSession,
}: {
  disk: Disk;
  layout: Layout;
  write: AtomicWrite;
  /** Tests count what is parsed. */
  parse?: typeof parseSession;
}): SessionReader {
  const cache = new Map<string, Cached>();
  return { cache, remember, open };

  function remember(id: string, what: Cached): void {
    cache.delete(id);
    cache.set(id, what);
    if (cache.size > MAX_KNOWN) cache.delete(cache.keys().next().value!);
  }

  async function open(id: string, { repair = false } = {}): Promise<SessionOpened> {
    const file = layout.session(id);
    const cached = cache.get(id);
    const current = disk.stamp(file);
    if (current === undefined) {
      // A conversation that was there, and its workspace is gone: nothing was removed by hand.
      if (cached !== undefined && disk.stamp(layout.root) === undefined)
        throw Object.assign(new Error(`ENOENT: ${layout.root} is gone`), { code: 'ENOENT', path: layout.root });
      return { kind: 'missing' };
    }
    if (!repair && cached !== undefined && current === cached.stamp) return { kind: 'open', session: cached.session };
    const shown = path.relative(layout.root, file);
    const read = fenced(shown, () => disk.read(file));
    if (read.kind === 'missing') return { kind: 'missing' };
    if (read.kind === 'unreadable') return { kind: 'held', problem: read.problem, stamp: current };
    if (read.kind !== 'file') {
      const why = problem('bad_file', `${shown} is not a file that can be read`, { where: { file: shown } });
      return { kind: 'held', problem: why, stamp: current };
    }
    const grown = repair || cached === undefined ? undefined : readGrown(cached, read.bytes, shown);
    if (cached !== undefined && grown !== undefined) {
      const { session, place, prefix, added } = grown;
      remember(id, { ...cached, stamp: read.stamp, session, place, prefix });
      const edited = added.length > 0 && diffMessages([], added, cached.session.messages.length + 1);
      return defined({ kind: 'open', session, edited: edited || undefined });
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
    const parsed = fenced(shown, () => parse(text, shown));
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
    remember(id, { stamp, session: parsed.session, place, prefix: prefixOf(text) });
    if (cached === undefined) return { kind: 'open', session: parsed.session };
    const edit = diffMessages(cached.session.messages, parsed.session.messages);
    const changed = edit.added + edit.changed + edit.removed > 0;
    return defined({ kind: 'open', session: parsed.session, edited: changed ? edit : undefined });
  }

  function readGrown(cached: Cached, bytes: Buffer, shown: string): ReturnType<typeof grownSession> {
    const grown = fenced(shown, () => grownSession(cached, bytes, (text) => parse(text, shown)));
    return grown === undefined || isUnreadable(grown) ? undefined : grown;
  }
}
