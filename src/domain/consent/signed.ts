/** The text that a signature of an answer covers. */
import type { Answer } from '../task/approval.js';

/** One answer to one request. */
export interface Consented {
  /** The id of the request. */
  task: string;
  /** The digest of what the person saw. */
  digest: string;
  answer: Pick<Answer, 'approved' | 'edited' | 'text' | 'always' | 'at'>;
}

/** `workspace`: the id of the trust record, so that an answer counts in one workspace only. */
export function signedText(workspace: string, { task, digest, answer }: Consented): string {
  const { approved, edited = null, text = null, always = false, at } = answer;
  return JSON.stringify(['guild answer 1', workspace, task, digest, approved, edited, text, always, at]);
}
