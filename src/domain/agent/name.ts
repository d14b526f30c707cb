/** The names that an agent can have: they are parts of file names, and two are reserved. */
import { problem, type Problem } from '../problem.js';
import { isSafeId } from '../task/id.js';
import { ENGINE, HUMAN } from '../task/task.js';

export function agentNameProblem(name: string, where?: Problem['where']): Problem | undefined {
  if (!isSafeId(name) || name.length > 60) {
    const hint = 'use letters, digits, "_", "-" and ".", no dot or dash first, at most 60 in all';
    return problem('bad_name', `${JSON.stringify(name)} cannot be the name of an agent`, { where, hint });
  }
  if (name !== HUMAN && name !== ENGINE) return undefined;
  const who = name === HUMAN ? 'the person' : 'the program itself';
  return problem('bad_name', `"${name}" is ${who}, not an agent`, { where, hint: 'give the agent another name' });
}
