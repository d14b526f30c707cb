/** Who stands under whom, by what the records say: neither ids nor depth tell it, since long ids are cut and patterns do not count as depth. */
import type { Event } from '../event.js';
import type { Task } from './task.js';

/**
 * Whether the name of a task says that it stands under this id: names of children begin with that of their parent. People give names with dots
 * too: whoever's root is called like a child is nobody's.
 */
export function isNamedUnder({ id: name, root }: Pick<Task, 'id' | 'root'>, id: string): boolean {
  return name.startsWith(`${id}.`) && !root.startsWith(`${id}.`);
}

/** Parents before their children, otherwise in the order given. Of a parent that is not among them nothing is known. */
export function parentsFirst<T>(all: readonly T[], taskOf: (one: T) => Pick<Task, 'id' | 'parent'>): T[] {
  const levels = levelsOf(all.map(taskOf));
  const level = (one: T): number => levels.get(taskOf(one).id)!;
  return [...all].sort((a, b) => level(a) - level(b));
}

/** For each task, how many of the others stand above it. */
export function levelsOf(tasks: readonly Pick<Task, 'id' | 'parent'>[]): Map<string, number> {
  const byId = new Map(tasks.map((task) => [task.id, task]));
  const levels = new Map<string, number>();
  for (const task of tasks) {
    const path: string[] = [];
    let at: Pick<Task, 'id' | 'parent'> | undefined = task;
    // A circle of parents is damage that a person made; it must not hang us.
    while (at !== undefined && !levels.has(at.id) && !path.includes(at.id)) {
      path.push(at.id);
      at = at.parent === undefined ? undefined : byId.get(at.parent);
    }
    let level = at === undefined ? -1 : (levels.get(at.id) ?? -1);
    for (const id of path.reverse()) levels.set(id, ++level);
  }
  return levels;
}

/** What a line of history says of where its task stands. A name without dots says by itself that it is a root. */
export function lineageFields({
  id,
  parent,
  root,
}: Pick<Task, 'id' | 'parent' | 'root'>): Pick<Event, 'parent' | 'root'> {
  return { ...(parent === undefined ? {} : { parent }), ...(parent !== undefined || id.includes('.') ? { root } : {}) };
}

interface Kin {
  /** Takes in what a line says. */
  see(event: Event): void;
  rootOf(id: string): string;
  parentOf(id: string): string | undefined;
  /** How many stand above it, as far as its name tells. */
  levelOf(id: string): number;
}

/** Who stands under whom, by the lines of history seen so far. Where none says it, as in those of earlier versions, the name does. */
export function kinIn(events: Iterable<Event> = []): Kin {
  const known = new Map<string, Pick<Event, 'parent' | 'root'>>();
  const see = ({ task, parent, root }: Event): void => {
    if (task !== undefined && typeof root === 'string') known.set(task, { root, ...(parent ? { parent } : {}) });
  };
  const rootOf = (id: string): string => known.get(id)?.root ?? id.split('.', 1)[0]!;
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
