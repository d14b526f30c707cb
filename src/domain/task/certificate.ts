/**
 * The proof with which a root completes: nothing is open, unread or half done, and the processes
 * agreed.
 */
export interface Certificate {
  /** Open tasks under it. */
  open: number;
  /** Notes about it that its agent has not read. */
  unread: number;
  /** Effects without an outcome. */
  effects: number;
  /** The processes that agreed, and all that were asked, with those that did not answer in time. */
  agreed: number;
  of: number;
}

export function certificateText({ open, unread, effects, agreed, of }: Certificate): string {
  const processes = of === 1 ? 'the only process agrees' : `${agreed} of ${of} processes agree`;
  return `${open} open tasks, ${unread} unread notes, ${effects} effects without outcome; ${processes}`;
}
