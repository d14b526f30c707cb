/**
 * Evaluates a rule until it has seen every child that it names: the rule is pure, the store is not.
 */
import type { Placed, WantedChild } from '../../domain/task/task.js';

interface RuleAsked<Step> {
  step: Step;
  /** Every child the rule named; undefined: it does not exist yet. */
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
