/** The texts that signatures of answers and requests cover. */
import type { Answer, ApprovalRequest } from '../task/approval.js';

export interface Consented {
  /** The id of the request. */
  task: string;
  digest: string;
  answer: Pick<Answer, 'approved' | 'edited' | 'text' | 'always' | 'at'>;
}

/** `workspace`: the id of the trust record, so that an answer counts in one workspace only. */
export function signedText(workspace: string, { task, digest, answer }: Consented): string {
  const { approved, edited = null, text = null, always = false, at } = answer;
  return JSON.stringify(['guild answer 1', workspace, task, digest, approved, edited, text, always, at]);
}

/**
 * The words of a request. A record that came by clone or pull could say anything about an action;
 * only a request that this machine made is shown.
 */
export function sealedText(workspace: string, task: string, request: ApprovalRequest): string {
  const { digest, title = null, reasons, risk = null, diff = null, changed = null, asked = null } = request;
  return JSON.stringify(['guild request 1', workspace, task, digest, title, reasons, risk, diff, changed, asked]);
}
