/**
 * Breaking a task down: what the parts must be like, and which of them are work that is being done already. What is clearly the same is
 * dropped, what is clearly not is kept, and only what lies between is put to a model.
 */
import { childId } from '../../domain/task/id.js';
import { readKeys, type Breakdown, type Part } from '../../domain/task/piece.js';
import type { Placed, Task, WantedChild } from '../../domain/task/task.js';
import { errorText, fence, gather, type Children } from '../patterns/gather.js';
import { likeness } from './similarity.js';

/** At or above: the same work. */
export const SAME = 0.85;
/** Below: other work. */
export const OTHER = 0.5;

export type BreakdownStep = { ask: WantedChild[] } | { result: string };

/** What a task with role `breakdown` needs next: a word on what is in doubt, then the parts, then it is the sum of their outcomes. */
export function breakdownStep(task: Task, broken: Breakdown, children: Children): BreakdownStep {
  const doubts = wantedDoubts(task, broken);
  const settled = gather(doubts, children);
  if (!settled.complete) return { ask: doubts };
  const dropped = { ...broken.dropped, ...namedIn(settled.ended[0], broken) };
  const kept = broken.parts.filter((part) => !Object.hasOwn(dropped, part.key));
  const wanted = kept.map((part) => wantedPart(task, part, dropped));
  const done = gather(wanted, children);
  if (!done.complete) return { ask: [...doubts, ...wanted] };
  return { result: assembled(task, broken, dropped, done.ended) };
}

function wantedDoubts(task: Task, { parts, doubtful, known }: Breakdown): WantedChild[] {
  const keys = parts.map((part) => part.key).filter((key) => Object.hasOwn(doubtful, key));
  if (keys.length === 0 || task.to === undefined) return [];
  const pairs = keys.map((key) => {
    const part = parts.find((one) => one.key === key)!;
    const id = doubtful[key]!;
    return `${key}:\n${fence('part', task.to!, part.description, task.id)}\nperhaps the same as ${id}:\n${fence('task', 'nobody', known[id] ?? '', task.id)}`;
  });
  return [
    {
      id: childId(task.id, 'same'),
      role: 'same',
      to: task.to,
      description: `Which of these parts are essentially the same work as the task they stand beside? Name their keys with name_duplicates; an empty list if none is.\n\n${pairs.join('\n\n')}`,
      budget: { turns: 2 },
    },
  ];
}

/** Without an answer nothing is dropped: doing something twice costs less than not doing it. */
function namedIn(asked: Placed | undefined, { doubtful }: Breakdown): Record<string, string> {
  if (asked?.state !== 'completed') return {};
  const named = readKeys(asked.task.result ?? '') ?? [];
  return Object.fromEntries(Object.entries(doubtful).filter(([key]) => named.includes(key)));
}

function wantedPart(task: Task, part: Part, dropped: Record<string, string>): WantedChild {
  const idOf = (key: string): string => partId(task, dropped, key);
  return {
    id: childId(task.id, part.key),
    role: 'part',
    ...(part.to === undefined ? {} : { to: part.to }),
    ...(part.type === undefined ? {} : { type: part.type }),
    description: part.description,
    requirements: part.requirements,
    dependencies: [...new Set(part.dependsOn.map(idOf))],
  };
}

/** The task that does a part: its own, that of the part it repeats, or the task that did it before. */
function partId(task: Task, dropped: Record<string, string>, key: string): string {
  const instead = dropped[key];
  if (instead === undefined) return childId(task.id, key);
  return instead.startsWith('#') ? partId(task, dropped, instead.slice(1)) : instead;
}

function assembled(
  task: Task,
  { parts }: Breakdown,
  dropped: Record<string, string>,
  ended: readonly Placed[],
): string {
  const outcomes = parts.map(({ key }) => {
    const id = partId(task, dropped, key);
    if (Object.hasOwn(dropped, key)) return { key, task: id, state: 'dropped', why: `${id} is the same work` };
    const { task: child, state } = ended.find((one) => one.task.id === id)!;
    return state === 'completed'
      ? { key, task: id, agent: child.to, state, result: child.result ?? '' }
      : { key, task: id, agent: child.to, state, error: errorText(child.error) };
  });
  return JSON.stringify({ parts: outcomes });
}

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
