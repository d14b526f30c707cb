/** Asks a rule again with every child it names, until it has seen all it wants to see. A rule says which children it wants; only the store knows which are there. */
import type { Placed, WantedChild } from '../../domain/task/task.js';

export interface RuleAsked<Step> {
  step: Step;
  /** Every child it named; undefined: there is none yet. */
  children: Map<string, Placed | undefined>;
}

export async function askRule<Step>(
  rule: (children: ReadonlyMap<string, Placed | undefined>) => Step,
  wanted: (step: Step) => readonly WantedChild[],
  read: (id: string) => Promise<Placed | undefined>,
): Promise<RuleAsked<Step>> {
  const children = new Map<string, Placed | undefined>();
  for (;;) {
    const step = rule(children);
    const unseen = wanted(step).filter((child) => !children.has(child.id));
    if (unseen.length === 0) return { step, children };
    for (const { id } of unseen) children.set(id, await read(id));
  }
}
