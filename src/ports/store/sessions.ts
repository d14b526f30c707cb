/** Conversations. They only grow at the end, and a person may edit them at any time. */
import type { Problem } from '../../domain/problem.js';
import type { SessionEdit } from '../../domain/session/prints.js';
import type { Message, Session, SessionHeader } from '../../domain/session/session.js';
import type { WriteOptions } from './tasks.js';

export type SessionOpened =
  | {
      kind: 'open';
      session: Session;
      /** A person's changes since this process last read it. */
      edited?: SessionEdit;
    }
  | { kind: 'missing' }
  /**
   * It does not parse, perhaps because a person is editing it. `stamp` identifies what was read.
   */
  | { kind: 'held'; problem: Problem; stamp: string };

export interface Sessions {
  /** The new conversation, which grows with every `append`. Undefined if it already exists. */
  create(header: SessionHeader, messages: Message[], options?: WriteOptions): Promise<Session | undefined>;
  /**
   * `repair`: the writer died; a half-written end is moved to evidence. `isNew`: no process has
   * written to it, so a store may answer `missing` without a look; `create` then finds out.
   */
  open(id: string, options?: { repair?: boolean; isNew?: boolean }): Promise<SessionOpened>;
  /**
   * Adds at the end. `edited`: the file changed since this process read it, nothing was written;
   * open it again. Without `durable` a power cut may lose the bytes; a crash never does.
   */
  append(id: string, messages: Message[], options: { durable: boolean }): Promise<'written' | 'edited'>;
  /** Replaces the text, as a person's save would, or returns why it is not a conversation. */
  replace(id: string, text: string): Promise<Problem | undefined>;
  /** Updates the status shown to people. Not durable. */
  setStatus(id: string, status: SessionHeader['status']): Promise<void>;
  /** The conversation, if this process knows the content of its file with this stamp. */
  known(id: string, stamp: string): Session | undefined;
  list(): Promise<string[]>;
  /** Differs whenever the conversation changed. Undefined if it does not exist. */
  stamp(id: string): Promise<string | undefined>;
}
