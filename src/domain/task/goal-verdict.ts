/** The verdict of a goal check, stored as JSON in the result of the check. */
import { parseMapping } from '../mapping.js';

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
  const { advances, reason: written } = parseMapping(fenced?.[1] ?? text) ?? {};
  if (typeof advances !== 'boolean') return undefined;
  const reason = typeof written === 'string' ? written.trim() : '';
  // A no without a reason cannot be acted on.
  return advances || reason !== '' ? { advances, reason } : undefined;
}
