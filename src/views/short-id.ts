/**
 * Short task ids for people to read and type. The id of a child starts with its parent's id, so its
 * last parts identify it, if no other task has the same ending. An ambiguous ending is never
 * resolved.
 */

/** For each id its shortest ending of whole parts that no other task has. */
export function shortIds(ids: readonly string[], all: Iterable<string>): Map<string, string> {
  const owners = new Map<string, number>();
  for (const id of ids) for (const end of endsOf(id)) owners.set(end, 0);
  for (const id of new Set([...all, ...ids]))
    for (const end of endsOf(id)) if (owners.has(end)) owners.set(end, owners.get(end)! + 1);
  return new Map(ids.map((id) => [id, endsOf(id).find((end) => owners.get(end) === 1) ?? id]));
}

/** Text that starts with this mark is the end of a longer id. */
const CUT = '…';
const MAX_CHARS = 24;
const KEPT_CHARS = 8;

/** The last part of an id; if that is long, only its end, with the mark that `meantIds` accepts. */
export function lastPart(id: string): string {
  const part = id.slice(id.lastIndexOf('.') + 1);
  return part.length <= MAX_CHARS ? part : `${CUT}${part.slice(-KEPT_CHARS)}`;
}

/** The ids that a typed text may mean; exactly one if it is unambiguous. */
export function meantIds(typed: string, all: Iterable<string>): string[] {
  const end = typed.startsWith(CUT) ? typed.slice(CUT.length) : `.${typed.replace(/^\./, '')}`;
  if (end === '') return [];
  const candidates: string[] = [];
  for (const id of all) {
    if (id === typed) return [id];
    if (id.endsWith(end)) candidates.push(id);
  }
  return candidates;
}

/** Shortest first, the full id last. A number alone is not used as a short id. */
function endsOf(id: string): string[] {
  const parts = id.split('.');
  return parts
    .map((_, i) => parts.slice(parts.length - 1 - i).join('.'))
    .filter((end) => !/^\d+$/.test(end) || end === id);
}
