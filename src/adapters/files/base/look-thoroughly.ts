/**
 * Finds a file that other processes may move while its folders are searched one after the other. A
 * search that misses it because of a move is repeated. Moves are rare compared with searches,
 * except when this process is suspended in the middle of one; so a file that several searches in a
 * row miss does not exist.
 */

const LOOKS = 4;

/** `isAlone`: no other process works here; asked only if the first search found nothing. */
export function lookThoroughly<T>(look: () => T | undefined, isAlone: () => boolean): T | undefined {
  const first = look();
  if (first !== undefined || isAlone()) return first;
  for (let looks = 1; looks < LOOKS; looks++) {
    const found = look();
    if (found !== undefined) return found;
  }
  return undefined;
}
