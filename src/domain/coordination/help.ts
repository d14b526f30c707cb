/**
 * A call for help: work, a review or an answer that a task asks of a free agent. It is a task with
 * role `help`. Its context contains the request under `help`; its result is a Resolution as JSON,
 * like that of a dependency.
 */
import { roleFacts } from '../task/role.js';
import type { Task } from '../task/task.js';
import { textIn, textsIn } from './urgency.js';

export const HELP_KINDS = ['work', 'review', 'question'] as const;
type HelpKind = (typeof HELP_KINDS)[number];

export interface Help {
  kind: HelpKind;
  /** A complete description; the agent that helps sees nothing else. */
  context: string;
  /** All are required. */
  capabilities: string[];
  /** The asker's estimate of the effort. */
  estimate?: string;
  /** ISO time after which it is escalated; the default is in guild.yaml. */
  deadline?: string;
}

export const HELP_ROLE = 'help';

export function helpOf(task: Pick<Task, 'role' | 'context'>): Help | undefined {
  const fields = task.context['help'] as Record<string, unknown> | undefined;
  if (roleFacts(task.role).need !== 'help' || fields === null || typeof fields !== 'object') return undefined;
  const context = textIn(fields['context']);
  if (context === undefined) return undefined;
  const estimate = textIn(fields['estimate']);
  const deadline = textIn(fields['deadline']);
  return {
    kind: HELP_KINDS.find((kind) => kind === fields['kind']) ?? 'work',
    context,
    capabilities: textsIn(fields['capabilities']),
    estimate,
    deadline,
  };
}
