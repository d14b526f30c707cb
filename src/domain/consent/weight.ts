/** How careful a surface must be with a request before it lets a person answer. */
import type { ApprovalRequest } from '../task/approval.js';

/** Risky or not confined: a single key is not enough to allow it. */
export function needsConfirmation(request: ApprovalRequest): boolean {
  return request.question === undefined && (request.risk === 'HIGH' || isUnconfined(request));
}

/** Older requests have no `walls`; their confinement is one of the program's own sentences. */
export function isUnconfined({ walls, confinement }: ApprovalRequest): boolean {
  return walls === 'none' || /without restrictions|outside the sandbox|not confined/i.test(confinement);
}
