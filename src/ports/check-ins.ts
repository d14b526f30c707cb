/** Storage for check-ins: a file for people and a private memory for the engine. */
import type { CheckInMemory, CheckInNote } from '../domain/coordination/check-in.js';
import type { Problem } from '../domain/problem.js';

export type CheckInRead =
  | { kind: 'missing' }
  | { kind: 'note'; note: CheckInNote }
  /** The file is unreadable, so no check-in happens. The problem is reported once. */
  | { kind: 'held'; problem?: Problem };

export interface CheckIns {
  /** Cheap if the file did not change. */
  read(): CheckInRead;
  /** Keeps comments and other keys. Skipped if the file changed since `read`. Durable. */
  write(note: CheckInNote): Promise<void>;
  memory(): CheckInMemory | undefined;
  /** Durable when resolved. */
  remember(memory: CheckInMemory): Promise<void>;
}
