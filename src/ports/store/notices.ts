/**
 * Which notices have been sent, so that several processes send each at most once. A process claims
 * a notice, and marks it right before it sends. If it dies in between, nothing was sent, and
 * another process claims the notice.
 */

/** `kind`: of a notice, or `shown` for a request that a plugin shows elsewhere. */
export interface NoticeName {
  kind: string;
  task: string;
}

export interface Notices {
  /** When notices were first kept. What ended before is not worth a notice. */
  since(): Date | Promise<Date>;
  /** True if this process may send it now. */
  claim(notice: NoticeName, isAlive: (peer: string) => boolean): boolean | Promise<boolean>;
  /** Call it right before sending: from then on nobody can claim the notice. */
  sent(notice: NoticeName): void | Promise<void>;
  /** Whether somebody has claimed or sent it. */
  isKnown(notice: NoticeName, isAlive: (peer: string) => boolean): boolean | Promise<boolean>;
}

/** `Notices` for processes on one machine, where no call has to wait for an answer. */
export interface NearNotices extends Notices {
  since(): Date;
  claim(notice: NoticeName, isAlive: (peer: string) => boolean): boolean;
  sent(notice: NoticeName): void;
  isKnown(notice: NoticeName, isAlive: (peer: string) => boolean): boolean;
}
