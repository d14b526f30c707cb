/**
 * Ids of tasks as people read and type them. The id of a child begins with that of its parent, so its end says which one it is: where no other
 * task ends so, that is enough. What ends several is no id; nothing is guessed.
 */

/** For each of these ids its shortest end, of whole parts, that no other task has. */
export function shortIds(ids: readonly string[], all: Iterable<string>): Map<string, string> {
  const owners = new Map<string, number>();
  for (const id of ids) for (const end of endsOf(id)) owners.set(end, 0);
  for (const id of new Set([...all, ...ids]))
    for (const end of endsOf(id)) if (owners.has(end)) owners.set(end, owners.get(end)! + 1);
  return new Map(ids.map((id) => [id, endsOf(id).find((end) => owners.get(end) === 1) ?? id]));
}

/** The ids that may be meant by what somebody typed: one, if it is clear. */
export function meantIds(typed: string, all: Iterable<string>): string[] {
  const end = `.${typed.replace(/^\./, '')}`;
  const found: string[] = [];
  for (const id of all) {
    if (id === typed) return [id];
    if (id.endsWith(end)) found.push(id);
  }
  return found;
}

/** Shortest first, the whole last. A part that is only a number is no name. */
function endsOf(id: string): string[] {
  const parts = id.split('.');
  return parts
    .map((_, i) => parts.slice(parts.length - 1 - i).join('.'))
    .filter((end) => !/^\d+$/.test(end) || end === id);
}
