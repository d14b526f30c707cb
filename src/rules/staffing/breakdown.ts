/**
 * Breaking a task down: what the parts must be like, and which of them are work that is being done already. What is clearly the same is
 * dropped, what is clearly not is kept, and only what lies between is put to a model.
 */
import type { Breakdown, Part } from '../../domain/task/piece.js';
import { likeness } from './similarity.js';

/** At or above: the same work. */
export const SAME = 0.85;
/** Below: other work. */
export const OTHER = 0.5;

/** A task that a part may repeat. */
export interface Known {
  id: string;
  description: string;
}

/** What is wrong with these parts, in a sentence for the model that made them. */
export function partsProblem(
  parts: readonly Part[],
  parent: string,
  capabilities: ReadonlySet<string>,
): string | undefined {
  if (parts.length === 0) return 'there is no part; do the task yourself, or name its parts';
  const keys = new Set<string>();
  for (const part of parts) {
    if (!/^[A-Za-z0-9][\w-]{0,39}$/.test(part.key))
      return `${JSON.stringify(part.key)} is no key: letters, digits, - and _, at most 40`;
    if (keys.has(part.key)) return `two parts have the key ${part.key}`;
    keys.add(part.key);
    if (part.description.trim() === '')
      return `the part ${part.key} says nothing; describe it so that it is complete in itself`;
  }
  for (const part of parts) {
    const unknown = part.dependsOn.find((key) => !keys.has(key));
    if (unknown !== undefined)
      return `${part.key} depends on ${JSON.stringify(unknown)}, which is no part; the parts are ${[...keys].join(', ')}`;
    const lacking = part.requirements.find((need) => !capabilities.has(need));
    if (lacking !== undefined && !part.isNew)
      return `${part.key} requires ${JSON.stringify(lacking)}, which no agent has; they have ${[...capabilities].sort().join(', ') || 'none'}. Leave it out, use one of these, or say "new": true if a new kind of agent is needed`;
  }
  const circle = circleOf(parts);
  if (circle !== undefined) return `these parts wait for each other: ${circle.join(' → ')}`;
  if (parts.length === 1 && likeness(parts[0]!.description, parent) >= SAME)
    return 'the only part is the task itself; do it, or break it into smaller parts';
  return undefined;
}

/** Each part against the others before it and against what is known; the first that fits best names it. */
export function sortParts(parts: Part[], known: readonly Known[]): Breakdown {
  const sorted: Breakdown = { parts, dropped: {}, doubtful: {}, known: {} };
  const kept: Part[] = [];
  for (const part of parts) {
    let best: { id: string; like: number } | undefined;
    for (const one of known) {
      const like = likeness(part.description, one.description);
      if (best === undefined || like > best.like) best = { id: one.id, like };
    }
    const twin = kept.find((other) => likeness(other.description, part.description) >= SAME);
    if (twin !== undefined) sorted.dropped[part.key] = `#${twin.key}`;
    else if (best !== undefined && best.like >= SAME) sorted.dropped[part.key] = best.id;
    else {
      kept.push(part);
      if (best === undefined || best.like < OTHER) continue;
      sorted.doubtful[part.key] = best.id;
      sorted.known[best.id] = known.find((one) => one.id === best.id)!.description;
    }
  }
  return sorted;
}

/** One circle among the parts, written out with its beginning at both ends. Iterative: a model may send thousands. */
function circleOf(parts: readonly Part[]): string[] | undefined {
  const waits = new Map(parts.map((part) => [part.key, [...part.dependsOn]]));
  for (;;) {
    const free = [...waits].filter(([, on]) => on.every((key) => !waits.has(key)));
    if (free.length === 0) break;
    for (const [key] of free) waits.delete(key);
  }
  if (waits.size === 0) return undefined;
  const path: string[] = [];
  let at = [...waits.keys()][0]!;
  while (!path.includes(at)) {
    path.push(at);
    at = waits.get(at)!.find((key) => waits.has(key))!;
  }
  return [...path.slice(path.indexOf(at)), at];
}
