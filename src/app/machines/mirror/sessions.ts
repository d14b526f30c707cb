/**
 * Conversations in a mirrored folder. Out: new messages are appended. In: a person's save replaces
 * the part that the person saw; later messages stay after it.
 */
import type { SessionItem } from '../../../adapters/far/sessions.js';
import type { Message, Session } from '../../../domain/session/session.js';
import { appendPlace, parseSession, printMessages, printStatus, statusSpan } from '../../../text/session/parse.js';
import type { Entry } from '../../../ports/ledger.js';
import { sessionStatus } from '../../far/session-text.js';
import { SESSION, sessionFile, sessionOf, TASK, taskOf } from './rendered.js';
import type { MirrorContext } from './tasks.js';

interface SessionMirror {
  takeIn(): Promise<number>;
  show(): Promise<number>;
  /** The status in a file follows from the state of its task. */
  showStatus(entries: readonly Entry[]): void;
}

const MARK = 'sessions';

export function sessionMirror({ folder, ledger, nextId, note, refuse }: MirrorContext): SessionMirror {
  /** Texts that could not be read. A text that is unchanged at the next look is reported. */
  const held = new Map<string, { text: string; isReported: boolean }>();
  /** Files whose status changed, which wait while a person edits them. */
  const statuses = new Map<string, string>();
  /** The status of each file, as its task has it. */
  const known = new Map<string, string>();
  return {
    async takeIn() {
      let count = 0;
      for (const file of folder.shown('sessions/')) {
        const text = folder.changed(file);
        if (text !== undefined && (await takeFile(file, text))) count++;
      }
      return count;
    },
    async show() {
      const { logs, mark } = await ledger.grown([SESSION], folder.mark(MARK));
      let isWhole = true;
      let count = 0;
      for (const log of logs) {
        const shown = await showLog(log);
        if (shown === 'kept') isWhole = false;
        else if (shown) count++;
      }
      // A conversation that a person is editing is shown later.
      if (isWhole) folder.setMark(MARK, mark);
      return count;
    },
    showStatus(entries) {
      for (const { key, value } of entries) {
        if (!key.startsWith(TASK) || value === '') continue;
        const placed = taskOf(value);
        if (placed === undefined) continue;
        const file = `sessions/${placed.task.session ?? ''}.session.yaml`;
        known.set(file, printStatus(sessionStatus(placed)));
        statuses.set(file, known.get(file)!);
      }
      for (const [file, status] of statuses) {
        if (folder.changed(file) !== undefined) continue;
        statuses.delete(file);
        const base = folder.base(file);
        if (base === undefined || !folder.exists(file)) continue;
        const text = folder.read(file);
        const patched = text.replace(/^status: .*$/m, `status: ${status}`);
        const span = statusSpan(text);
        if (patched === text) continue;
        if (span?.length !== status.length) folder.show(file, patched, base.rev);
        // In place, so that a save at the same moment is not replaced.
        else folder.amend(file, text, { text: status, at: span.offset }, base.rev);
      }
    },
  };

  async function showLog(log: string): Promise<boolean | 'kept'> {
    const id = log.slice(SESSION.length);
    const file = `sessions/${id}.session.yaml`;
    if (!folder.canHold(file)) {
      refuse(file);
      return false;
    }
    const base = folder.base(file);
    const isThere = base !== undefined && folder.exists(file);
    const { texts, end } = await ledger.lines(log, { after: isThere ? base.rev : 0 });
    if (texts.length === 0) return false;
    const items = texts.flatMap((text) => JSON.parse(text) as SessionItem[]);
    const isLonger =
      isThere && items.every((item) => 'message' in item) && appendPlace(folder.read(file)) !== undefined;
    const whole = isLonger || !isThere ? { texts, end } : await ledger.lines(log);
    // No await from here on, so that the person's file is still as it is checked here.
    if (folder.changed(file) !== undefined || isThere !== folder.exists(file)) return 'kept';
    if (isLonger) return lengthen(file, folder.read(file), { messages: messagesOf(items), end }) || 'kept';
    const session = sessionOf(whole.texts);
    if (session !== undefined) folder.show(file, sessionFile(id, session).text, whole.end);
    else if (isThere) folder.remove(file); // by an undo
    return true;
  }

  /** Appends to a file that can grow, so that an editor that has it open sees the new text. */
  function lengthen(file: string, text: string, { messages, end }: { messages: Message[]; end: number }): boolean {
    const { before, indent } = appendPlace(text)!;
    return folder.amend(file, text, { text: before + printMessages(messages, indent) }, end);
  }

  async function takeFile(file: string, text: string): Promise<boolean> {
    const id = file.slice('sessions/'.length, -'.session.yaml'.length);
    const log = SESSION + id;
    const fault = text.includes('\uFFFD') ? folder.notText(file) : undefined;
    const parsed = fault === undefined ? parseSession(text, file) : { ok: false as const, problem: fault };
    if (!parsed.ok) {
      const isAgain = held.get(file)?.text === text;
      // At the first look the file may be in the middle of a save.
      if (isAgain && !held.get(file)!.isReported) note(`${file} is not taken in: ${parsed.problem.message}`);
      held.set(file, { text, isReported: isAgain });
      return false;
    }
    held.delete(file);
    const { texts, end } = await ledger.lines(log, { after: folder.base(file)!.rev });
    const since = texts.flatMap((line) => JSON.parse(line) as SessionItem[]);
    const added = messagesOf(since);
    const { header, messages } = parsed.session;
    const whole: Session = { header, messages: [...messages, ...added] };
    const item: SessionItem = { whole };
    const answer = await ledger.commit(nextId(), {
      puts: [],
      adds: [{ log, text: JSON.stringify([item]), expect: end }],
    });
    const now = answer === 'fenced' ? undefined : answer.adds[0];
    if (now === undefined) return false; // somebody wrote in between: the next look tries again
    // A save can bring back an earlier status.
    if (known.has(file)) statuses.set(file, known.get(file)!);
    // Saved again: the next look takes that in, even if the person took the change back.
    if (!folder.exists(file) || folder.read(file) !== text) folder.reopen(file);
    else if (added.length === 0) folder.accept(file, text, now);
    else if (appendPlace(text) === undefined) folder.show(file, sessionFile(id, whole).text, now, text);
    else lengthen(file, text, { messages: added, end: now });
    return true;
  }
}

function messagesOf(items: readonly SessionItem[]): Message[] {
  return items.flatMap((item) => ('message' in item ? [item.message] : []));
}
