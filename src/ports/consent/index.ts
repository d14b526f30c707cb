/**
 * The things that this user has seen and allowed on this machine. They are kept outside the
 * workspace, so that nothing that comes with a folder, by clone, pull, copy or restore, can answer
 * for a person.
 */
import type { Consented } from '../../domain/consent/signed.js';
import type { ApprovalRequest } from '../../domain/task/approval.js';

export interface Consent {
  /** Signs an answer for this user. Throws a ProblemError if the key cannot be used. */
  sign(given: Consented): string;
  /** Whether this user signed exactly this answer, for this workspace. Never throws. */
  isSigned(given: Consented, signature: string | undefined): boolean;
  /** Proves that this machine made the request with this id. Without a usable key it is empty. */
  seal(task: string, request: ApprovalRequest): string;
  /**
   * Whether this machine made exactly this request. True also if the key cannot be used, because
   * no answer counts then.
   */
  isSealed(task: string, request: ApprovalRequest): boolean;
  /** Whether this machine has shown this request unmarked. A mark on any other does not count. */
  hasShown(id: string, digest: string): boolean;
  /** Durable when resolved. If it is lost, the person is asked again. */
  noteShown(shown: readonly { id: string; digest: string }[]): Promise<void>;
  /**
   * Call it before an approved action starts. False if it was started before on this machine, even
   * if the workspace no longer knows about it. Durable when resolved.
   */
  begin(id: string): Promise<boolean>;
}
