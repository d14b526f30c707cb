/** Whether a person may say “always” to a request: the same on every surface, and for the gate. */
import { mayUseAgentsFiles } from '../../adapters/policy-files/rulable.js';
import { NOT_TRUSTED } from '../../domain/consent/trust.js';
import type { ApprovalRequest } from '../../domain/task/approval.js';

/** The reason why it cannot become a rule; undefined if it can. */
export function whyNoRule({ tool, taint, hosts, reasons, arguments: given }: ApprovalRequest): string | undefined {
  if (tool !== 'execute_command') return 'a rule can be made for commands only';
  if (reasons.includes(NOT_TRUSTED)) return 'this workspace is not trusted yet, so its rules do not count';
  if (taint.length > 0) return `text from ${taint.join(', ')} has influenced this request`;
  if (hosts !== undefined) return 'it uses the network';
  if (mayUseAgentsFiles(String(given['command'] ?? ''))) return 'it uses files that agents can change';
  return undefined;
}
