/** Checks and saves the file of an agent for a person. */
import { createHash } from 'node:crypto';
import path from 'node:path';
import { type Problem, ProblemError, problemError } from '../../domain/problem.js';
import { isSafeId } from '../../domain/task/id.js';
import { parseAgent } from '../../text/agent/parse.js';
import { saveAsPerson } from './save-as-person.js';

interface AgentChecked {
  problems: Problem[];
  warnings: Problem[];
}

export function checkAgentText(file: string, text: string): AgentChecked {
  const definition = createHash('sha256').update(text).digest('hex');
  const { problems, warnings } = parseAgent(text, { file, definition });
  return { problems, warnings };
}

/** `seen`: the text that was on the screen; undefined for a new agent. False: it has changed. */
export async function writeAgent(root: string, file: string, seen: string | undefined, text: string): Promise<boolean> {
  const [first] = checkAgentText(file, text).problems;
  if (first !== undefined) throw new ProblemError(first);
  return saveAsPerson(root, file, seen, text);
}

export function newAgentFile(name: string): string {
  if (isSafeId(name)) return path.posix.join('agents', `${name}.md`);
  throw problemError('bad_name', `${JSON.stringify(name)} cannot be the name of an agent`, {
    hint: 'use letters, digits, _ and -',
  });
}
