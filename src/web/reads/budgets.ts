/** Limits of open tasks: what is spent, what open children hold, and what today can cost. */
import type { Snapshot } from '../../app/readers/open-states.js';
import { budgetWord, reservation } from '../../domain/budget/budget.js';
import { HUMAN, type Task } from '../../domain/task/task.js';
import { summary } from '../../views/summary.js';
import type { BudgetUse, DayBudget } from '../base/contract.js';
import { titleOf } from '../base/title.js';

const BUDGETS_MAX = 8;

/** The limits of open tasks, the most used first. */
export function budgetsOf({ open, limitOf }: Snapshot): BudgetUse[] {
  const children = childrenOf(open);
  return open
    .flatMap(({ task }) =>
      Object.entries(limitOf(task)).flatMap(([name, limit]) =>
        limit === undefined || !(name in SPENT) ? [] : [useOf(task, children, name as Name, limit)],
      ),
    )
    .filter(({ spent, reserved }) => spent + reserved > 0)
    .sort((a, b) => (b.spent + b.reserved) / b.limit - (a.spent + a.reserved) / a.limit)
    .slice(0, BUDGETS_MAX);
}

/** `spentToday`: in micro-dollars. Undefined if no open task has a limit in dollars. */
export function dayBudget({ open, limitOf }: Snapshot, spentToday: number): DayBudget | undefined {
  const children = childrenOf(open);
  const known = new Set(open.map(({ task }) => task.id));
  const budget: DayBudget = { limit: spentToday, reserved: 0, tasks: 0, unlimited: 0 };
  for (const { task } of open) {
    if (task.to === HUMAN || known.has(task.parent ?? '')) continue;
    const { microUsd: limit } = limitOf(task);
    if (limit === undefined) {
      budget.unlimited++;
      continue;
    }
    const { spent, reserved } = useOf(task, children, 'microUsd', limit);
    budget.tasks++;
    budget.limit += Math.max(0, limit - spent);
    budget.reserved += Math.min(reserved, Math.max(0, limit - spent));
  }
  return budget.tasks === 0 ? undefined : budget;
}

type Children = ReadonlyMap<string, readonly Task[]>;

function childrenOf(open: Snapshot['open']): Children {
  const children = new Map<string, Task[]>();
  for (const { task } of open)
    if (task.parent !== undefined) children.set(task.parent, [...(children.get(task.parent) ?? []), task]);
  return children;
}

type Name = keyof typeof SPENT;
type Usage = NonNullable<Task['usage']>;

const SPENT = {
  microUsd: (usage: Usage) => usage.microUsd,
  tokens: (usage: Usage) => usage.inputTokens + usage.outputTokens,
  turns: (usage: Usage) => usage.turns,
  toolCalls: (usage: Usage) => usage.toolCalls,
};

function useOf(task: Task, children: Children, name: Name, limit: number): BudgetUse {
  const below = children.get(task.id) ?? [];
  return {
    task: { id: task.id, title: titleOf(summary(task)) },
    name: budgetWord(name),
    spent: spentBy(task, children, name, new Set()),
    reserved: below.reduce((sum, child) => sum + heldBy(child, children, name), 0),
    limit,
    isMoney: name === 'microUsd',
  };
}

/** The share of an open child that it has not spent yet. */
function heldBy(child: Task, children: Children, name: Name): number {
  return Math.max(0, (reservation(child.budget)[name] ?? 0) - spentBy(child, children, name, new Set()));
}

/**
 * The task's record includes its ended children, as of its last step; open children are added here.
 * `seen`: parent links are user-editable and may form a cycle.
 */
function spentBy(task: Task, children: Children, name: Name, seen: Set<string>): number {
  if (seen.has(task.id)) return 0;
  seen.add(task.id);
  const usage = task.usage ?? task.own_usage;
  const own = usage === undefined ? 0 : SPENT[name](usage);
  return (children.get(task.id) ?? []).reduce((sum, child) => sum + spentBy(child, children, name, seen), own);
}
