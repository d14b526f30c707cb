/** Who may take a task that is addressed to nobody. Deterministic: no model is asked. */
import type { Agent } from '../domain/agent.js';
import { compareText } from '../domain/order.js';
import { problem, type Problem } from '../domain/problem.js';
import type { Task } from '../domain/task.js';

export type Match = { agent: string; why: string } | { problem: Problem };

/** All requirements must be among an agent's capabilities; of several, the default agent, else the highest priority, else the first name. */
export function match(task: Task, agents: Iterable<Agent>, defaultAgent?: string): Match {
  const all = [...agents];
  const fit = all.filter((agent) => task.requirements.every((need) => agent.capabilities.includes(need)));
  if (fit.length === 0) return { problem: nobody(task, all) };
  if (fit.length === 1) return { agent: fit[0]!.name, why: 'the only agent that has what it requires' };
  const preferred = fit.find((agent) => agent.name === defaultAgent);
  if (preferred) return { agent: preferred.name, why: 'the default agent' };
  fit.sort((a, b) => compareText(a.priority, b.priority) || compareText(a.name, b.name));
  return { agent: fit[0]!.name, why: `the first by priority and name of ${fit.length} that could` };
}

function nobody(task: Task, all: Agent[]): Problem {
  if (all.length === 0) {
    return problem('unknown_agent', 'there are no agents in this workspace', {
      hint: 'write agents/<name>.md, or run `guild init` for a set to start with',
    });
  }
  const known = new Set(all.flatMap((agent) => agent.capabilities));
  const lacking = task.requirements.filter((need) => !known.has(need));
  const what = lacking.length > 0 ? lacking.join(', ') : `all of ${task.requirements.join(', ')} together`;
  return problem('unknown_agent', `no agent has the capability ${what}`, {
    hint: 'add it to `capabilities` of an agent, or say `to` in the task',
  });
}
