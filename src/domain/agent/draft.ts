/** A new agent before it is one: its file as somebody drafted it, a task to try it on, and what came of trying. */
export interface Draft {
  name: string;
  /** The whole file: frontmatter and prompt. */
  source: string;
  /** A small task made for it, and what a good answer must have. */
  trial: { task: string; expect: string };
  /** A script for its folder; it runs like any command, when a human lets it, in the sandbox. */
  script?: { file: string; text: string };
}

export interface TrialVerdict {
  /** It did what it was drafted for. */
  works: boolean;
  /** It did the real task better than the agent that was there before. */
  better: boolean;
  reason: string;
}

/** Undefined if the text is no draft. */
export function readDraft(text: string): Draft | undefined {
  const said = readObject(text) as Partial<Draft> | undefined;
  const isDraft =
    typeof said?.name === 'string' && typeof said.source === 'string' && typeof said.trial?.task === 'string';
  return isDraft ? (said as Draft) : undefined;
}

export function readTrialVerdict(text: string): TrialVerdict | undefined {
  const said = readObject(text) as Partial<TrialVerdict> | undefined;
  if (typeof said?.works !== 'boolean' || typeof said.better !== 'boolean') return undefined;
  return { works: said.works, better: said.better, reason: typeof said.reason === 'string' ? said.reason : '' };
}

function readObject(text: string): unknown {
  try {
    const said: unknown = JSON.parse(text);
    return typeof said === 'object' && said !== null ? said : undefined;
  } catch {
    return undefined;
  }
}
