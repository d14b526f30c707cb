/**
 * A run in time without its idle stretches: times in which nobody worked are folded, so that the
 * work before and after them stays readable. Used by the server and by the page.
 */

export interface Stretch {
  from: number;
  to: number;
  /** Nobody worked in it, and it is too long to be drawn in full. */
  isFolded: boolean;
}

/** Shorter idle times are drawn as they are. */
const FOLD_MS = 60_000;

/** `busy`: when somebody worked, in any order. The stretches cover `first` to `last`. */
export function stretchesOf(busy: readonly { from: number; to: number }[], first: number, last: number): Stretch[] {
  const stretches: Stretch[] = [];
  let from = first;
  let to = first;
  for (const each of [...busy].sort((a, b) => a.from - b.from)) {
    if (each.from - to > FOLD_MS) {
      stretches.push({ from, to, isFolded: false }, { from: to, to: each.from, isFolded: true });
      from = each.from;
    }
    to = Math.max(to, each.to);
  }
  if (last - to > FOLD_MS) stretches.push({ from, to, isFolded: false }, { from: to, to: last, isFolded: true });
  else stretches.push({ from, to: Math.max(to, last), isFolded: false });
  return stretches.filter((stretch) => stretch.to > stretch.from);
}

export function unfoldedMs(stretches: readonly Stretch[]): number {
  return stretches.reduce((sum, { from, to, isFolded }) => sum + (isFolded ? 0 : to - from), 0);
}
