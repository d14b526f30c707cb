/**
 * Validates the parts of a breakdown and finds duplicates of existing work. Clear duplicates are
 * dropped, clearly different parts are kept, and a model decides about the rest.
 */
import type { Breakdown, Part } from '../../domain/task/breakdown.js';
import { similarity } from './similarity.js';

/** Similarity at or above which two texts describe the same work. */
export const SAME_AT_LEAST = 0.85;
/** Similarity below which they describe different work. */
export const DIFFERENT_BELOW = 0.5;

/** A task that a part may duplicate. */
export interface KnownTask {
  id: string;
  description: string;
}

/** The mistake in the parts, as a sentence for the model that wrote them. */
export function partsProblem(
  parts: readonly Part[],
  parent: string,
  capabilities: ReadonlySet<string>,
): string | undefined {
  if (parts.length === 0) return 'the list of parts is empty; name the parts, or do the task yourself';
  const keys = new Set<string>();
  for (const part of parts) {
    if (!/^[A-Za-z0-9][\w-]{0,39}$/.test(part.key))
      return `${JSON.stringify(part.key)} is not a valid key: use letters, digits, - and _, at most 40 characters`;
    if (keys.has(part.key)) return `two parts have the key ${part.key}`;
    keys.add(part.key);
    if (part.description.trim() === '')
      return `the part ${part.key} has no description; describe it so that it can be done without the others`;
  }
  for (const part of parts) {
    const unknown = part.dependsOn.find((key) => !keys.has(key));
    if (unknown !== undefined)
      return `${part.key} depends on ${JSON.stringify(unknown)}, which is not one of the parts: ${[...keys].join(', ')}`;
    const lacking = part.requirements.find((need) => !capabilities.has(need));
    if (lacking !== undefined && !part.isNew)
      return `${part.key} requires ${JSON.stringify(lacking)}, which no agent has; known capabilities: ${[...capabilities].sort().join(', ') || 'none'}. Leave it out, use one of these, or set "new": true if a new kind of agent is needed`;
  }
  const cycle = cycleAmong(parts);
  if (cycle !== undefined) return `these parts wait for each other: ${cycle.join(' → ')}`;
  if (parts.length === 1 && similarity(parts[0]!.description, parent) >= SAME_AT_LEAST)
    return 'the only part is the task itself; do it, or break it into smaller parts';
  return undefined;
}

export function sortParts(parts: Part[], known: readonly KnownTask[]): Breakdown {
  const sorted: Breakdown = { parts, dropped: {}, doubtful: {}, known: {} };
  const kept: Part[] = [];
  for (const part of parts) {
    let best: { id: string; like: number } | undefined;
    for (const task of known) {
      const like = similarity(part.description, task.description);
      if (best === undefined || like > best.like) best = { id: task.id, like };
    }
    const twin = kept.find((other) => similarity(other.description, part.description) >= SAME_AT_LEAST);
    if (twin !== undefined) sorted.dropped[part.key] = `#${twin.key}`;
    else if (best !== undefined && best.like >= SAME_AT_LEAST) sorted.dropped[part.key] = best.id;
    else {
      kept.push(part);
      if (best === undefined || best.like < DIFFERENT_BELOW) continue;
      sorted.doubtful[part.key] = best.id;
      sorted.known[best.id] = known.find((task) => task.id === best.id)!.description;
    }
  }
  return sorted;
}

/**
 * A cycle of dependencies, with its start at both ends. Iterative, because a model may send
 * thousands.
 */
function cycleAmong(parts: readonly Part[]): string[] | undefined {
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
