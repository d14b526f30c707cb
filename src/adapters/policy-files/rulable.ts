/** Which command lines may become a rule that runs them without asking. */
import { usesOf } from '../../rules/policy/uses.js';
import { parseBash } from '../../text/bash/parse.js';

/** True if the line may do something else tomorrow, because agents can write files that it uses. */
export function mayUseAgentsFiles(line: string): boolean {
  const { interprets, words } = usesOf(line, parseBash);
  return interprets || words.some((word) => /(^|\/)(workspaces|scratch)(\/|$)/.test(word));
}
