/** The seal of a request: it proves that this machine wrote its words. */
import type { ApprovalRequest } from '../../domain/task/approval.js';
import type { Ports } from './context.js';

/** Only a request that is made now gets one. `id`: of its task. */
export function sealed({ consent }: Pick<Ports, 'consent'>, id: string, request: ApprovalRequest): ApprovalRequest {
  return { ...request, seal: consent.seal(id, request) };
}
