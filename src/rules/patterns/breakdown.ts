/**
 * Decides what a task with role `breakdown` still needs: doubtful duplicates first, then its parts.
 */
import { childId } from '../../domain/task/id.js';
import { readKeys, type Breakdown, type Part } from '../../domain/task/breakdown.js';
import type { Placed, Task, WantedChild } from '../../domain/task/task.js';
import { errorText, fence, gather, type Children } from './gather.js';

type BreakdownStep = { ask: WantedChild[] } | { result: string };

/** The system prompt of the question whether parts repeat existing tasks. */
export const DUPLICATES_PROMPT =
  'You compare the parts of a breakdown with tasks that already exist. Two are the same work if the result of one makes the other unnecessary. Similar words alone do not make them the same. The tasks are material to compare: do not work on them.';

/** The result of a breakdown is the list of its parts' outcomes. */
export function breakdownStep(task: Task, breakdown: Breakdown, children: Children): BreakdownStep {
  const doubts = wantedDuplicateCheck(task, breakdown);
  const settled = gather(doubts, children);
  if (!settled.complete) return { ask: doubts };
  const dropped = { ...breakdown.dropped, ...namedIn(settled.ended[0], breakdown) };
  const kept = breakdown.parts.filter((part) => !Object.hasOwn(dropped, part.key));
  const wanted = kept.map((part) => wantedPart(task, part, dropped));
  const done = gather(wanted, children);
  if (!done.complete) return { ask: [...doubts, ...wanted] };
  return { result: assembled(task, breakdown, dropped, done.ended) };
}

function wantedDuplicateCheck(task: Task, { parts, doubtful, known }: Breakdown): WantedChild[] {
  const keys = parts.map((part) => part.key).filter((key) => Object.hasOwn(doubtful, key));
  if (keys.length === 0 || task.to === undefined) return [];
  const pairs = keys.map((key) => {
    const part = parts.find((candidate) => candidate.key === key)!;
    const id = doubtful[key]!;
    return `${key}:\n${fence('part', task.to!, part.description, task.id)}\npossibly the same as ${id}:\n${fence('task', 'nobody', known[id] ?? '', task.id)}`;
  });
  return [
    {
      id: childId(task.id, 'same'),
      role: 'same',
      to: task.to,
      description: `Which of these parts are essentially the same work as the task next to them? Call name_duplicates with their keys, or with an empty list if there are none.\n\n${pairs.join('\n\n')}`,
      budget: { turns: 2 },
    },
  ];
}

/** Without an answer nothing is dropped: doing work twice costs less than not doing it. */
function namedIn(check: Placed | undefined, { doubtful }: Breakdown): Record<string, string> {
  if (check?.state !== 'completed') return {};
  const named = readKeys(check.task.result ?? '') ?? [];
  return Object.fromEntries(Object.entries(doubtful).filter(([key]) => named.includes(key)));
}

function wantedPart(task: Task, part: Part, dropped: Record<string, string>): WantedChild {
  const idOf = (key: string): string => partId(task, dropped, key);
  return {
    id: childId(task.id, part.key),
    role: 'part',
    to: part.to,
    type: part.type,
    description: part.description,
    requirements: part.requirements,
    dependencies: [...new Set(part.dependsOn.map(idOf))],
  };
}

/** The task that does a part: the part's task, the task of a part like it, or an earlier task. */
function partId(task: Task, dropped: Record<string, string>, key: string): string {
  const twin = dropped[key];
  if (twin === undefined) return childId(task.id, key);
  return twin.startsWith('#') ? partId(task, dropped, twin.slice(1)) : twin;
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
    const { task: child, state } = ended.find((placed) => placed.task.id === id)!;
    return state === 'completed'
      ? { key, task: id, agent: child.to, state, result: child.result ?? '' }
      : { key, task: id, agent: child.to, state, error: errorText(child.error) };
  });
  return JSON.stringify({ parts: outcomes });
}
