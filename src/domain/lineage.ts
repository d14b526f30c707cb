/** Who stands under whom, by what the records say: neither ids nor depth tell it, since long ids are cut and patterns do not count as depth. */
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
