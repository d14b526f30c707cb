/**
 * Validates the agents together: every agent and tool named exists, there are no cycles and no
 * contradictions. All problems are reported at once. Delegation (`agents`) may form cycles, because
 * each step is a choice and depth is limited. Handoff, router, advisors and team are fixed steps,
 * so a cycle there would never end.
 */
import { isForeignFormat, type Agent } from '../../domain/agent/agent.js';
import { misfit } from '../../domain/agent/answer-schema.js';
import { nearestHint } from '../../domain/nearest.js';
import { problem, type Problem, type ProblemCode, type Where } from '../../domain/problem.js';
import { HUMAN } from '../../domain/task/task.js';
import { globFits } from '../../domain/wildcard.js';

/** By agent file: the place of each field, as its parser noted it. */
type RosterPlaces = ReadonlyMap<string, Readonly<Record<string, Where>>>;

/**
 * `pluginTools`: names, or patterns if the tools of a plugin or server are not known yet. `drafts`:
 * agents whose files already have problems. Only the names in them are checked, because the rest
 * may follow from a value that was left out.
 */
export function checkRoster(
  agents: readonly Agent[],
  knownTools: ReadonlySet<string>,
  places: RosterPlaces = new Map(),
  pluginTools: readonly string[] = [],
  drafts: readonly Agent[] = [],
): Problem[] {
  const known = new Map<string, Agent>();
  const problems: Problem[] = [];
  const report = (code: ProblemCode, agent: Agent, place: string, message: string, hint?: string): void => {
    const where = places.get(agent.file)?.[place] ?? { file: agent.file };
    problems.push(problem(code, message, { where, hint }));
  };

  for (const agent of agents) {
    const other = known.get(agent.name);
    if (other === undefined) known.set(agent.name, agent);
    else if (other.definition !== agent.definition) {
      const message = `the name "${agent.name}" is used twice: by ${other.file} and by ${agent.file}`;
      report('duplicate', agent, 'name', message, `the one in ${other.file} is used; rename or remove the other`);
    }
  }
  for (const draft of drafts) if (!known.has(draft.name)) known.set(draft.name, draft);
  for (const agent of [...agents, ...drafts]) {
    missingAgents(agent, references(agent), known, report);
    unknownTools(agent, knownTools, pluginTools, report);
  }
  for (const agent of agents) {
    contradictions(agent, report);
    misfits(agent, known, report);
  }
  for (const cycle of cyclesAmong(known)) {
    const path = [...cycle, cycle[0]!];
    const first = known.get(cycle[0]!)!;
    const edge = fixed(first).find((reference) => reference.name === path[1]);
    report(
      'cycle',
      first,
      edge?.place ?? 'name',
      `these agents form a cycle: ${path.join(' → ')}`,
      'remove one of these steps',
    );
  }
  return problems;
}

/** A handoff whose result is not what the next agent expects. */
function misfits(agent: Agent, known: ReadonlyMap<string, Agent>, report: Report): void {
  const next = agent.handoff === undefined ? undefined : known.get(agent.handoff);
  if (next?.input === undefined) return;
  const why = agent.output === undefined ? `${agent.name} declares no "output"` : misfit(agent.output, next.input);
  if (why === undefined) return;
  const message = `${agent.name} hands off to ${next.name}, whose "input" does not fit: ${why}`;
  report(
    'bad_field',
    agent,
    agent.output === undefined ? 'handoff' : 'output',
    message,
    `change "output" here or "input" in ${next.file}`,
  );
}

/**
 * The agent, its patterns (`lab_*`) replaced by the plugin tools that match; never a built-in tool.
 */
export function withPluginTools<A extends Pick<Agent, 'tools'>>(agent: A, pluginTools: readonly string[]): A {
  if (!agent.tools.some(isPattern)) return agent;
  const tools = agent.tools.flatMap((name) =>
    isPattern(name) ? pluginTools.filter((tool) => globFits(name, tool)) : [name],
  );
  return { ...agent, tools: [...new Set(tools)] };
}

function isPattern(name: string): boolean {
  return name.includes('*');
}

function unknownTools(
  agent: Agent,
  knownTools: ReadonlySet<string>,
  pluginTools: readonly string[],
  report: Report,
): void {
  const tools = [
    ...agent.tools.map((name, i) => [name, `tools.${i}`]),
    ...Object.keys(agent.approve).map((name) => [name, `approve.${name}`]),
  ];
  const isForeign = isForeignFormat(agent.format);
  const offered = (name: string): boolean =>
    name === '*' || pluginTools.some((tool) => tool === name || globFits(name, tool) || globFits(tool, name));
  const unknown = (tools as [string, string][]).filter(([name]) => !knownTools.has(name) && !offered(name));
  const claudeTools = isForeign ? [] : unknown.filter(([name]) => /^(?:[A-Z]|mcp__)/.test(name));
  if (claudeTools[0] !== undefined) {
    const message = `${agent.name} names tools of Claude Code: ${claudeTools.map(([name]) => `"${name}"`).join(', ')}`;
    const hint = 'move the file to .claude/agents/, or name tools of this program';
    report('unknown_tool', agent, claudeTools[0][1], message, hint);
  }
  for (const [name, place] of unknown) {
    if (claudeTools.some(([other]) => other === name)) continue;
    if (isForeign || isPattern(name)) {
      const hint =
        name === 'web_search'
          ? 'add web to "plugins" in guild.yaml'
          : 'name the MCP server under plugins.mcp.servers in guild.yaml';
      const message = `no plugin or MCP server here has the tool "${name}", so ${agent.name} works without it`;
      report('unknown_tool', agent, place, message, hint);
      continue;
    }
    const hint = nearestHint(name, knownTools, `known tools: ${[...knownTools].join(', ')}`);
    report('unknown_tool', agent, place, `${agent.name} names an unknown tool: "${name}"`, hint);
  }
}

/**
 * By name: agents that cannot work, because their file contradicts itself or names a missing agent
 * for a fixed step.
 */
export function unfit(agents: ReadonlyMap<string, Agent>, places: RosterPlaces = new Map()): Map<string, Problem> {
  const problems = new Map<string, Problem>();
  for (const agent of agents.values()) {
    const report: Report = (code, { name, file }, place, message, hint) => {
      if (code === 'duplicate' || problems.has(name)) return; // a duplicate does no harm
      const next = hint?.endsWith('?') ? `${hint} fix it, then retry the task` : `${hint}, then retry the task`;
      problems.set(name, problem(code, message, { where: places.get(file)?.[place] ?? { file }, hint: next }));
    };
    contradictions(agent, report);
    missingAgents(agent, fixed(agent), agents, report);
  }
  return problems;
}

interface Reference {
  name: string;
  /** Its key in the parser's places. */
  place: string;
  as: string;
}

/** Steps that are always taken. */
function fixed(agent: Agent): Reference[] {
  const steps: Reference[] = agent.advisors.map((advisor, i) => ({
    name: advisor.agent,
    place: `advisors.${i}`,
    as: 'an advisor',
  }));
  agent.router?.destinations.forEach((name, i) =>
    steps.push({ name, place: `router.destinations.${i}`, as: 'a destination' }),
  );
  if (agent.router?.fallback !== undefined)
    steps.push({ name: agent.router.fallback, place: 'router.fallback', as: 'its fallback' });
  agent.team?.members.forEach((name, i) =>
    steps.push({ name, place: `team.members.${i}`, as: 'a member of its team' }),
  );
  if (agent.handoff !== undefined) steps.push({ name: agent.handoff, place: 'handoff', as: 'its handoff' });
  return steps;
}

function references(agent: Agent): Reference[] {
  const routed = new Set(agent.router?.destinations);
  const asked = agent.agents.flatMap((name, i) =>
    routed.has(name) ? [] : [{ name, place: `agents.${i}`, as: 'an agent to ask' }],
  );
  return [...asked, ...fixed(agent)];
}

function missingAgents(
  agent: Agent,
  named: readonly Reference[],
  known: ReadonlyMap<string, Agent>,
  report: Report,
): void {
  for (const { name, place, as } of named) {
    if (known.has(name) || name === HUMAN) continue;
    const message = `${agent.name} names "${name}" as ${as}, but there is no such agent`;
    const hint = nearestHint(name, known.keys(), 'write that agent, or remove the name');
    report('unknown_agent', agent, place, message, hint);
  }
}

type Report = (code: ProblemCode, agent: Agent, place: string, message: string, hint?: string) => void;

function contradictions(agent: Agent, report: Report): void {
  for (const [place, names] of [
    ['advisors', agent.advisors.map((advisor) => advisor.agent)],
    ['team.members', agent.team?.members ?? []],
  ] as const) {
    names.forEach((name, i) => {
      if (names.indexOf(name) === i) return;
      report(
        'duplicate',
        agent,
        `${place}.${i}`,
        `${agent.name} names "${name}" twice in ${place}`,
        'remove one of them',
      );
    });
  }
  const tools = agent.tools.filter((tool) => tool !== 'route_to');
  if (agent.router !== undefined && tools.length > 0) {
    report(
      'bad_field',
      agent,
      'tools',
      `${agent.name} is a router and has tools: a router only chooses the agent that answers`,
      'remove "tools" or "router"',
    );
  }
  if (agent.team !== undefined && agent.handoff !== undefined) {
    const message = `${agent.name} leads a team and hands off: the leader of a team gives the answer itself`;
    report('bad_field', agent, 'handoff', message, 'let the next agent ask this one, or remove "handoff"');
  }
}

/**
 * Every cycle of fixed steps that a depth-first search meets, once each, starting with its first
 * name in alphabetical order. Every endless path passes through one of them. Iterative, because
 * chains may be long.
 */
export function cyclesAmong(agents: ReadonlyMap<string, Agent>): string[][] {
  const done = new Set<string>();
  const cycles = new Map<string, string[]>();
  for (const start of agents.keys()) {
    if (done.has(start)) continue;
    const trail: { name: string; next: string[] }[] = [];
    const depth = new Map<string, number>();
    const enter = (name: string): void => {
      depth.set(name, trail.length);
      trail.push({ name, next: [...new Set(fixed(agents.get(name)!).map((reference) => reference.name))] });
    };
    enter(start);
    while (trail.length > 0) {
      const top = trail.at(-1)!;
      const name = top.next.shift();
      if (name === undefined) {
        done.add(top.name);
        depth.delete(top.name);
        trail.pop();
      } else if (depth.has(name)) {
        const cycle = fromFirst(trail.slice(depth.get(name)).map((step) => step.name));
        cycles.set(cycle.join('\n'), cycle);
      } else if (!done.has(name) && agents.has(name)) enter(name);
    }
  }
  return [...cycles.values()];
}

function fromFirst(cycle: string[]): string[] {
  const first = cycle.indexOf([...cycle].sort()[0]!);
  return [...cycle.slice(first), ...cycle.slice(0, first)];
}
