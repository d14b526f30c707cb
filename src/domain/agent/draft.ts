/** A draft of a new agent: its file, a task to try it on, and the verdict on that trial. */
import { parseMapping } from '../mapping.js';

export interface Draft {
  name: string;
  /** The complete file: frontmatter and prompt. */
  source: string;
  /** A small task to try it on, and what a good answer must contain. */
  trial: { task: string; expect: string };
  /** A script for its folder. It runs like any command: approved by a human, in the sandbox. */
  script?: { file: string; text: string };
}

export interface TrialVerdict {
  /** It did the task that it was drafted for. */
  works: boolean;
  /** It did the real task better than the existing agent. */
  better: boolean;
  reason: string;
}

export function readDraft(text: string): Draft | undefined {
  const draft = parseMapping(text) as Partial<Draft> | undefined;
  const isDraft =
    typeof draft?.name === 'string' && typeof draft.source === 'string' && typeof draft.trial?.task === 'string';
  return isDraft ? (draft as Draft) : undefined;
}

export function readTrialVerdict(text: string): TrialVerdict | undefined {
  const { works, better, reason } = (parseMapping(text) ?? {}) as Partial<TrialVerdict>;
  if (typeof works !== 'boolean' || typeof better !== 'boolean') return undefined;
  return { works, better, reason: typeof reason === 'string' ? reason : '' };
}
