/**
 * Help: work, a review or a word of knowledge that a task asks of whoever has nothing else to do. It is a task with role `help`; what is
 * asked stands in its context under `help`, and its result is a Resolution as JSON, as that of a dependency is.
 */
import { roleFacts } from '../task/role.js';
import type { Task } from '../task/task.js';
import { textIn, textsIn } from './urgency.js';

export const HELP_KINDS = ['work', 'review', 'question'] as const;
type HelpKind = (typeof HELP_KINDS)[number];

export interface Help {
  kind: HelpKind;
  /** What it is about, complete in itself: whoever helps sees nothing else. */
  context: string;
  /** All of these. */
  capabilities: string[];
  /** How long it may take, as the asker thinks. */
  estimate?: string;
  /** ISO time; then it is escalated. Absent: as guild.yaml says. */
  deadline?: string;
}

export const HELP_ROLE = 'help';

export function helpOf(task: Pick<Task, 'role' | 'context'>): Help | undefined {
  const given = task.context['help'] as Record<string, unknown> | undefined;
  if (roleFacts(task.role).need !== 'help' || given === null || typeof given !== 'object') return undefined;
  const context = textIn(given['context']);
  if (context === undefined) return undefined;
  const estimate = textIn(given['estimate']);
  const deadline = textIn(given['deadline']);
  return {
    kind: HELP_KINDS.find((one) => one === given['kind']) ?? 'work',
    context,
    capabilities: textsIn(given['capabilities']),
    estimate,
    deadline,
  };
}
