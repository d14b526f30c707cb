/** What a goal check says of a result, and how it stands in the result of the check. */
interface GoalVerdict {
  advances: boolean;
  reason: string;
}

export function printVerdict({ advances, reason }: GoalVerdict): string {
  return JSON.stringify({ advances, reason });
}

/** Undefined if the text is no verdict. Models without tools write it as JSON, at times in a code fence; anything vaguer is none. */
export function readVerdict(text: string): GoalVerdict | undefined {
  const fenced = /^```(?:json)?\n([^]*)\n```$/.exec(text.trim());
  try {
    const said = JSON.parse(fenced?.[1] ?? text) as { advances?: unknown; reason?: unknown } | null;
    if (typeof said?.advances !== 'boolean') return undefined;
    const reason = typeof said.reason === 'string' ? said.reason.trim() : '';
    // A no without a reason helps nobody to do better.
    return said.advances || reason !== '' ? { advances: said.advances, reason } : undefined;
  } catch {
    return undefined;
  }
}
