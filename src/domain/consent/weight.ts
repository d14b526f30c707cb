/** How careful a surface must be with a request before it lets a person answer. */
import type { ApprovalRequest } from '../task/approval.js';

/** Risky or not confined: one key is not enough. */
export function needsConfirmation({ risk, walls, confinement, question }: ApprovalRequest): boolean {
  if (question !== undefined) return false;
  return risk === 'HIGH' || walls === 'none' || isUnconfined(confinement);
}

/** Whether a person may make a rule of it: not if text from outside may have led to the request. */
export function mayRule({ tool, taint, hosts }: ApprovalRequest): boolean {
  return tool === 'execute_command' && taint.length === 0 && hosts === undefined;
}

/** Older requests have no `walls`; their confinement is one of the program's own sentences. */
function isUnconfined(confinement: string): boolean {
  return /without restrictions|outside the sandbox|not confined/i.test(confinement);
}
