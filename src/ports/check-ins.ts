/** Where check-ins are noted: a file for people, and a memory for the program. */
import type { CheckInMemory, CheckInNote } from '../domain/coordination/check-in.js';
import type { Problem } from '../domain/problem.js';

export type CheckInRead =
  | { kind: 'missing' }
  | { kind: 'note'; note: CheckInNote }
  /** It cannot be read: nobody checks in. The problem is told once. */
  | { kind: 'held'; problem?: Problem };

export interface CheckIns {
  /** Cheap while the file does not change. */
  read(): CheckInRead;
  /** Comments and other keys stay. Nothing is written if somebody saved since `read`. Durable when resolved. */
  write(note: CheckInNote): Promise<void>;
  memory(): CheckInMemory | undefined;
  /** Durable when resolved. */
  remember(memory: CheckInMemory): Promise<void>;
}
