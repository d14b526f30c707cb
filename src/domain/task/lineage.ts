/**
 * Parents and roots of tasks, from the records. Ids and depth are not enough: long ids are
 * shortened, and patterns do not count toward depth.
 */
import type { Event } from '../event.js';
import type { Task } from './task.js';

/**
 * Whether a task is under `ancestor` according to its id. People may use dots too, so a root that
 * is named like a child does not count.
 */
export function isNamedUnder({ id, root }: Pick<Task, 'id' | 'root'>, ancestor: string): boolean {
  return id.startsWith(`${ancestor}.`) && !root.startsWith(`${ancestor}.`);
}

/**
 * Sorts parents before their children and keeps the order otherwise. Parents that are missing are
 * ignored.
 */
export function parentsFirst<T>(all: readonly T[], taskOf: (item: T) => Pick<Task, 'id' | 'parent'>): T[] {
  const levels = levelsOf(all.map(taskOf));
  const level = (item: T): number => levels.get(taskOf(item).id)!;
  return [...all].sort((a, b) => level(a) - level(b));
}

/** For each task, how many of the other tasks are above it. */
export function levelsOf(tasks: readonly Pick<Task, 'id' | 'parent'>[]): Map<string, number> {
  const byId = new Map(tasks.map((task) => [task.id, task]));
  const levels = new Map<string, number>();
  for (const task of tasks) {
    const path = new Set<string>();
    let at: Pick<Task, 'id' | 'parent'> | undefined = task;
    // Parent links are user-editable; guard against cycles.
    while (at !== undefined && !levels.has(at.id) && !path.has(at.id)) {
      path.add(at.id);
      at = at.parent === undefined ? undefined : byId.get(at.parent);
    }
    let level = at === undefined ? -1 : (levels.get(at.id) ?? -1);
    for (const id of [...path].reverse()) levels.set(id, ++level);
  }
  return levels;
}

/**
 * The fields of an event that place its task in the tree. An id without dots is a root and needs
 * none.
 */
export function lineageFields({
  id,
  parent,
  root,
}: Pick<Task, 'id' | 'parent' | 'root'>): Pick<Event, 'parent' | 'root'> {
  if (parent !== undefined) return { parent, root };
  return id.includes('.') ? { root } : {};
}

interface Kin {
  /** Adds the facts of an event. */
  see(event: Partial<Event>): void;
  rootOf(id: string): string;
  parentOf(id: string): string | undefined;
  /** The number of its ancestors, as far as its id shows. */
  levelOf(id: string): number;
}

/**
 * Parents and roots from the history. Events of earlier versions do not have them; then the id
 * decides.
 */
export function kinIn(events: Iterable<Partial<Event>> = []): Kin {
  const known = new Map<string, Pick<Event, 'parent' | 'root'>>();
  const see: Kin['see'] = ({ task, parent, root }) => {
    if (task !== undefined && typeof root === 'string') known.set(task, { root, parent: parent || undefined });
  };
  const rootOf = (id: string): string => known.get(id)?.root ?? (id.includes('.') ? id.slice(0, id.indexOf('.')) : id);
  for (const event of events) see(event);
  return {
    see,
    rootOf,
    parentOf: (id) =>
      known.has(id) ? known.get(id)!.parent : id.slice(0, Math.max(0, id.lastIndexOf('.'))) || undefined,
    levelOf(id) {
      const root = rootOf(id);
      if (id === root) return 0;
      return id.startsWith(`${root}.`) ? id.slice(root.length).split('.').length - 1 : 1;
    },
  };
}
