/** Finds the agent that a command line names, or explains why it cannot be used. */
import { openRoster } from '../../app/readers/open-roster.js';
import type { Agent } from '../../domain/agent/agent.js';
import { noAgent } from '../../domain/nearest.js';
import { problem, ProblemError, type Problem } from '../../domain/problem.js';

/** Throws the problem if the agent is missing or its file cannot be read. */
export function knownAgent(root: string, name: string): Agent {
  const agent = openRoster(root).agents.get(name);
  if (agent === undefined) throw new ProblemError(unknownAgent(root, name));
  return agent;
}

export function unknownAgent(root: string, name: string): Problem {
  const { agents, unreadable } = openRoster(root);
  const cause = unreadable.get(name);
  if (cause !== undefined)
    return problem('unknown_agent', `the file of agent ${name} cannot be read: ${cause.message}`, {
      where: cause.where,
      hint: cause.hint ?? 'fix it; guild check shows all problems',
    });
  return problem('unknown_agent', noAgent(name, agents.keys()), {
    hint: agents.size === 0 ? 'guild init creates some' : undefined,
  });
}
