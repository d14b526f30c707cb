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
  /** How many processes agreed, and how many were asked, silent ones included. */
  agreed: number;
  of: number;
}

export function certificateText({ open, unread, effects, agreed, of }: Certificate): string {
  return `${open} open tasks, ${unread} unread notes, ${effects} effects without outcome; ${agreement(agreed, of)}`;
}

/** In fewer words, for a page that has little room. */
export function shortCertificate(certificate: Certificate): string {
  const { open, unread, effects, agreed, of } = certificate;
  if (open + unread + effects > 0) return certificateText(certificate);
  return `nothing open, unread or half done; ${agreement(agreed, of)}`;
}

function agreement(agreed: number, of: number): string {
  return of === 1 ? 'the only process agrees' : `${agreed} of ${of} processes agree`;
}
