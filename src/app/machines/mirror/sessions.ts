/**
 * Conversations in a mirrored folder. Out: new messages are appended. In: a person's save replaces
 * the part that the person saw; later messages stay after it.
 */
import type { SessionItem } from '../../../adapters/far/sessions.js';
import type { Message, Session } from '../../../domain/session/session.js';
import { parseSession, printMessages, printStatus } from '../../../text/session/parse.js';
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
  /** Texts that could not be read, so that each is reported once. */
  const held = new Map<string, string>();
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
        const file = `sessions/${placed.task.session ?? ''}.session.yaml`;
        const base = folder.base(file);
        if (base === undefined || !folder.exists(file) || folder.changed(file) !== undefined) continue;
        const text = folder.read(file);
        const patched = text.replace(/^status: .*$/m, `status: ${printStatus(sessionStatus(placed))}`);
        if (patched !== text) folder.show(file, patched, base.rev);
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
    if (folder.changed(file) !== undefined) return 'kept';
    const isThere = base !== undefined && folder.exists(file);
    const { texts, end } = await ledger.lines(log, { after: isThere ? base.rev : 0 });
    if (texts.length === 0) return false;
    const items = texts.flatMap((text) => JSON.parse(text) as SessionItem[]);
    if (isThere && items.every((item) => 'message' in item)) {
      folder.append(file, printMessages(messagesOf(items)), end);
      return true;
    }
    const session = sessionOf(isThere ? (await ledger.lines(log)).texts : texts);
    if (session === undefined) return false;
    folder.show(file, sessionFile(id, session).text, end);
    return true;
  }

  async function takeFile(file: string, text: string): Promise<boolean> {
    const id = file.slice('sessions/'.length, -'.session.yaml'.length);
    const log = SESSION + id;
    const parsed = parseSession(text, file);
    if (!parsed.ok) {
      if (held.get(file) !== text) note(`${file} is not taken in: ${parsed.problem.message}`);
      held.set(file, text);
      return false;
    }
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
    if (folder.read(file) !== text) return true; // saved again: the next look takes that in
    if (added.length === 0) folder.accept(file, now);
    else folder.show(file, sessionFile(id, whole).text, now);
    return true;
  }
}

function messagesOf(items: readonly SessionItem[]): Message[] {
  return items.flatMap((item) => ('message' in item ? [item.message] : []));
}
