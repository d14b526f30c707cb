/** How a workspace is opened. */
import type { Env } from '../domain/config/env.js';
import type { Clock, Ids } from '../ports/clock.js';
import type { Disk } from '../ports/disk.js';
import type { Ledger } from '../ports/ledger.js';
import type { Model } from '../ports/model.js';
import type { Processes } from '../ports/processes.js';
import type { Watchers } from '../engine/core/context.js';
import type { NoticeMessage } from '../domain/config/notify.js';
import type { Tape } from './readers/tape.js';

export interface OpenOptions {
  /** Replaces the models themselves; for tests and recordings. */
  model?: Model;
  /** A model or alias that every agent uses, whatever its file says. */
  modelName?: string;
  /** Each model call takes at least about this long, so that a person can watch it. */
  turnMs?: number;
  /** Agents this process works for; default: all. */
  agents?: string[];
  env?: Env;
  clock?: Clock;
  ids?: Ids;
  disk?: Disk;
  processes?: Processes;
  /** Opens the ledger of a store on several machines, whatever its address; for tests. */
  ledger?: () => Ledger;
  /**
   * `false`: this process writes no history. It also writes none if `disk` is set, because git uses
   * the real disk.
   */
  history?: boolean;
  /** Called with the path of each file that this process writes, if it writes no history itself. */
  onWrite?: ((file: string) => void) | undefined;
  /** Called as things happen. */
  watchers?: Partial<Watchers>;
  /** Tells the person at this process's terminal that something waits or has ended. */
  ring?: (message: NoticeMessage) => void;
  /** Records or replays everything that comes from outside. */
  tape?: Tape;
}
