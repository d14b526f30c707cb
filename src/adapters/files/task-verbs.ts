/** What the files store does with tasks. */
import type { Claim, Tasks } from '../../ports/store/tasks.js';

export type TaskVerbs = Pick<
  Tasks,
  | 'create'
  | 'scan'
  | 'open'
  | 'openCount'
  | 'version'
  | 'isOpen'
  | 'getOpen'
  | 'openUnderRoot'
  | 'read'
  | 'readChild'
  | 'ended'
  | 'orphans'
  | 'release'
  | 'park'
  | 'settle'
  | 'reopen'
>;

/** Synchronous within the adapter, so that nothing runs between a claim and its bookkeeping. */
export interface SyncTaskVerbs {
  claim(id: string, agent: string): Claim | undefined;
  takeOver(id: string): Claim | undefined;
  sweep(): void;
  /** Asks the disk: another process may have created or moved the task since the last scan. */
  isOpenOnDisk(id: string): boolean;
}
