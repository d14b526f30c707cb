/**
 * Conversations as logs. A line is a list of items: the whole conversation, as it is created or as
 * a person saved it, a message, a status, or its removal. A process appends where it believes the
 * end to be, so nothing is written over what it has not seen.
 */
import { defined } from '../../domain/defined.js';
import { problem } from '../../domain/problem.js';
import type { Message, Session, SessionHeader } from '../../domain/session/session.js';
import type { Ledger } from '../../ports/ledger.js';
import type { Sessions } from '../../ports/store/sessions.js';
import { diffMessages } from '../../text/session/message-diff.js';
import { parseSession } from '../../text/session/parse.js';
import type { Tail } from './batch.js';
import type { Outbox } from './outbox.js';
import type { Undone } from './undone.js';

export type SessionItem =
  | { whole: Session }
  | { message: Message }
  | { status: SessionHeader['status'] }
  /** An undo removed the conversation. */
  | { removed: true };

interface Known {
  readonly tail: Tail;
  readonly session: Session;
}

export const SESSION = 'session/';

/** Conversations that are kept in memory; others are read again. */
const MAX_KNOWN = 2000;

export function sessionVerbs(ledger: Ledger, outbox: Outbox, undone: Undone): Sessions {
  const all = new Map<string, Known>();

  return {
    async create(header, messages, { durable = true } = {}) {
      const id = header.sessionId;
      const log = SESSION + id;
      const wasRemoved = undone.has(log);
      const end = wasRemoved ? await undone.endOf(log) : 0;
      if (wasRemoved) all.delete(id);
      if (all.has(id)) return undefined;
      const session: Session = { header, messages: [...messages] };
      const tail: Tail = { log, end, isLost: false };
      const items: SessionItem[] = [{ whole: structuredClone(session) }];
      if (durable && !(await outbox.grow(tail, items))) return undefined;
      if (!durable) outbox.growLater(tail, items);
      remember(id, { tail, session });
      if (wasRemoved) await undone.done(log);
      return session;
    },
    async open(id, { isNew = false } = {}) {
      if (isNew && !all.has(id)) return { kind: 'missing' };
      if (outbox.hasUnsent(SESSION + id)) await outbox.flush();
      const before = all.get(id);
      const isCurrent = before !== undefined && !before.tail.isLost;
      const { texts, end } = await ledger.lines(SESSION + id, isCurrent ? { after: before.tail.end } : {});
      if (isCurrent && texts.length === 0) return { kind: 'open', session: before.session };
      const session = replay(texts, isCurrent ? before.session : undefined);
      if (session === undefined) {
        all.delete(id);
        return { kind: 'missing' };
      }
      remember(id, { tail: { log: SESSION + id, end, isLost: false }, session });
      if (before === undefined) return { kind: 'open', session };
      const edited = diffMessages(before.session.messages, session.messages);
      const isEdited = edited.added + edited.changed + edited.removed > 0;
      return defined({ kind: 'open', session, edited: isEdited ? edited : undefined });
    },
    async append(id, messages, { durable }) {
      const known = all.get(id);
      if (known === undefined || known.tail.isLost) return 'edited';
      const items: SessionItem[] = messages.map((message) => ({ message }));
      if (!durable) {
        outbox.growLater(known.tail, items);
      } else if (!(await outbox.grow(known.tail, items))) return 'edited';
      known.session.messages.push(...messages);
      return 'written';
    },
    async replace(id, text) {
      const parsed = parseSession(text, id);
      if (!parsed.ok) return parsed.problem;
      for (;;) {
        await outbox.flush();
        const { texts, end } = await ledger.lines(SESSION + id, { last: 1 });
        if (texts.length === 0) return problem('not_found', `there is no conversation ${id}`);
        const tail: Tail = { log: SESSION + id, end, isLost: false };
        const item: SessionItem = { whole: parsed.session };
        if (await outbox.grow(tail, [item])) return undefined;
      }
    },
    /**
     * Kept in this process only. A line in the log would follow the end of the task. Another
     * process may already write to the conversation by then, and its next message would fail.
     */
    async setStatus(id, status) {
      const known = all.get(id);
      if (known !== undefined) known.session.header.status = status;
    },
    known: () => undefined, // this store keeps no session files
    async list() {
      await outbox.flush();
      return (await ledger.grown([SESSION])).logs.map((log) => log.slice(SESSION.length));
    },
    async stamp(id) {
      if (outbox.hasUnsent(SESSION + id)) await outbox.flush();
      const { texts, end } = await ledger.lines(SESSION + id, { last: 1 });
      return texts.length === 0 ? undefined : String(end);
    },
  };

  function remember(id: string, known: Known): void {
    all.delete(id);
    all.set(id, known);
    if (all.size <= MAX_KNOWN) return;
    for (const oldest of all.keys()) {
      if (outbox.hasUnsent(SESSION + oldest)) continue;
      all.delete(oldest);
      return;
    }
  }
}

/**
 * The conversation that results from these lines. `before`: the conversation that they continue.
 */
export function replay(texts: readonly string[], before?: Session): Session | undefined {
  let session = before && { header: before.header, messages: [...before.messages] };
  for (const item of texts.flatMap((text) => JSON.parse(text) as SessionItem[])) {
    if ('whole' in item) session = { header: { ...item.whole.header }, messages: [...item.whole.messages] };
    else if ('removed' in item) session = undefined;
    else if (session === undefined) continue;
    else if ('message' in item) session.messages.push(item.message);
    else session.header = { ...session.header, status: item.status };
  }
  return session;
}
