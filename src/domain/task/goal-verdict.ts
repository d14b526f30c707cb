/** The verdict of a goal check, stored as JSON in the result of the check. */
interface GoalVerdict {
  advances: boolean;
  reason: string;
}

export function printVerdict({ advances, reason }: GoalVerdict): string {
  return JSON.stringify({ advances, reason });
}

/**
 * Undefined if the text is not a verdict. Models without tools write JSON, sometimes in a code
 * fence.
 */
export function readVerdict(text: string): GoalVerdict | undefined {
  const fenced = /^```(?:json)?\n([^]*)\n```$/.exec(text.trim());
  try {
    const verdict = JSON.parse(fenced?.[1] ?? text) as { advances?: unknown; reason?: unknown } | null;
    if (typeof verdict?.advances !== 'boolean') return undefined;
    const reason = typeof verdict.reason === 'string' ? verdict.reason.trim() : '';
    // A no without a reason cannot be fixed.
    return verdict.advances || reason !== '' ? { advances: verdict.advances, reason } : undefined;
  } catch {
    return undefined;
  }
}
