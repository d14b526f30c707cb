/** The agents: their files, what they do now, what they cost, and who works with whom. */
import path from 'node:path';
import { openRoster } from '../../app/readers/open-roster.js';
import { pausedAgents } from '../../app/pause.js';
import { compareText } from '../../domain/order.js';
import { problem, ProblemError } from '../../domain/problem.js';
import { agentGraph } from '../../views/agent-graph.js';
import type { AgentFile, AgentList, AgentRow } from '../base/contract.js';
import type { Feed } from '../base/feed.js';
import type { Log } from '../base/log.js';
import { seenOf, textOf } from './session.js';

export async function agentList(feed: Feed, log: Log, env: Record<string, string | undefined>): Promise<AgentList> {
  const { agents, problems, unreadable } = openRoster(feed.root, env);
  const { agents: states } = await feed.snapshot();
  const paused = pausedAgents(feed.root);
  const spent = new Map<string, { microUsd: number; calls: number }>();
  for (const call of log.calls()) {
    if (call.kind !== 'model') continue;
    const sum = spent.get(call.agent ?? '') ?? { microUsd: 0, calls: 0 };
    spent.set(call.agent ?? '', { microUsd: sum.microUsd + call.microUsd, calls: sum.calls + 1 });
  }
  const activity = new Map(states.map((state) => [state.agent, state]));
  const rows = [...agents.values()].map((agent): AgentRow => {
    const { state = 'idle', why = '' } = activity.get(agent.name) ?? {};
    const reason = paused.get(agent.name);
    return {
      name: agent.name,
      description: agent.description ?? '',
      model: agent.models.join(', '),
      tools: [...agent.tools],
      capabilities: [...agent.capabilities],
      state,
      why,
      ...(reason === undefined ? {} : { paused: reason }),
      file: agent.file,
      microUsd: spent.get(agent.name)?.microUsd ?? 0,
      calls: spent.get(agent.name)?.calls ?? 0,
    };
  });
  const broken = [...unreadable].map(([name, fault]): AgentRow => ({
    name,
    description: '',
    model: '',
    tools: [],
    capabilities: [],
    state: 'error',
    why: fault.message,
    file: fault.where?.file ?? '',
    microUsd: 0,
    calls: 0,
    problem: fault,
  }));
  return {
    agents: [...rows, ...broken].sort((a, b) => compareText(a.name, b.name)),
    edges: agentGraph(agents.values()).edges.map(({ from, to, step }) => ({ from, to, pattern: step })),
    problems,
  };
}

export function agentFile(root: string, name: string, env: Record<string, string | undefined>): AgentFile {
  const { agents, unreadable, problems } = openRoster(root, env);
  const file = agents.get(name)?.file ?? unreadable.get(name)?.where?.file;
  if (file === undefined) throw new ProblemError(problem('unknown_agent', `there is no agent ${name}`));
  const text = textOf(path.join(root, file));
  return { name, file, text, seen: seenOf(text), problems: problems.filter(({ where }) => where?.file === file) };
}
