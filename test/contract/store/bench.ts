/** Several peers on one store, and the values that the contract suites share. */
import type { Message, SessionHeader } from '../../../src/domain/session/session.js';
import { makeTask, type Task } from '../../../src/domain/task/task.js';
import type { Store } from '../../../src/ports/store/index.js';

export interface Bench {
  /** Another peer; all peers of a bench share one store. */
  join(): Store;
  /** Ends a peer's process as kill -9 does. */
  kill(store: Store): void | Promise<void>;
  /** A person changes the conversation from outside. */
  edit(session: string, change: (messages: Message[]) => Message[]): void | Promise<void>;
}

export type Check = (promise: string, body: (bench: Bench) => Promise<void>) => void;

export const AT = '2026-01-01T00:00:00.000Z';

export function task(id: string, more: Partial<Task> = {}): Task {
  return makeTask({ id, description: `do ${id}`, created_at: AT, to: 'ana', ...more });
}

export function header(id: string): SessionHeader {
  return { sessionId: id, agentId: 'ana', created: AT, status: 'active' };
}

export function user(content: string): Message {
  return { role: 'user', content, timestamp: AT };
}
