/** How careful a surface must be with a request before it lets a person answer. */
import type { ApprovalRequest } from '../task/approval.js';

/** Risky or not confined: one key is not enough. */
export function needsConfirmation({ risk, walls, confinement, question }: ApprovalRequest): boolean {
  if (question !== undefined) return false;
  return risk === 'HIGH' || walls === 'none' || isUnconfined(confinement);
}

/** Older requests have no `walls`; their confinement is one of the program's own sentences. */
function isUnconfined(confinement: string): boolean {
  return /without restrictions|outside the sandbox|not confined/i.test(confinement);
}
