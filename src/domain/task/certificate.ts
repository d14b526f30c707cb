/** What a completed root was certified with: nothing of it is open, unread or half done, and every process that had to agree did. */
export interface Certificate {
  /** Tasks under it that were open. */
  open: number;
  /** Notes about it that its agent had not heard. */
  unread: number;
  /** Effects that had begun and had no outcome. */
  effects: number;
  /** Processes that agreed, and how many were there to ask; who did not answer in time is missing in the first. */
  agreed: number;
  of: number;
}

export function certificateText({ open, unread, effects, agreed, of }: Certificate): string {
  const processes = of === 1 ? 'the one process agrees' : `${agreed} of ${of} processes agree`;
  return `${open} open tasks, ${unread} unread notes, ${effects} effects without outcome; ${processes}`;
}
