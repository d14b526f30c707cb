/**
 * Whether the agents fit together: everybody who is named exists, every tool is known, nothing goes round in a circle, nothing
 * contradicts itself. Everything is reported at once. Delegation (`agents`) may go in circles, because each step of it is a
 * choice and depth is limited; handoff, router, advisors and team are fixed, so a circle there would never end.
 */
import type { Agent } from '../../domain/agent/agent.js';
import { nearestHint } from '../../domain/nearest.js';
import { problem, type Problem, type ProblemCode, type Where } from '../../domain/problem.js';
import { HUMAN } from '../../domain/task/task.js';

/** By an agent's file: where it says what, as its parser noted it. */
type RosterPlaces = ReadonlyMap<string, Readonly<Record<string, Where>>>;

export function checkRoster(
  agents: readonly Agent[],
  knownTools: ReadonlySet<string>,
  places: RosterPlaces = new Map(),
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
    else {
      const message = `the name "${agent.name}" is taken twice: by ${other.file} and by ${agent.file}`;
      report('duplicate', agent, 'name', message, `the one in ${other.file} is used; rename or remove the other`);
    }
  }
  for (const agent of agents) {
    nameless(agent, references(agent), known, report);
    const tools = [
      ...agent.tools.map((name, i) => [name, `tools.${i}`]),
      ...Object.keys(agent.approve).map((name) => [name, `approve.${name}`]),
    ];
    for (const [name, place] of tools as [string, string][]) {
      if (knownTools.has(name)) continue;
      const hint = /^(?:[A-Z]|mcp__)/.test(name)
        ? 'tools of Claude Code are understood in .claude/agents/, not here'
        : nearestHint(name, knownTools, `known tools: ${[...knownTools].join(', ')}`);
      report('unknown_tool', agent, place, `${agent.name} names an unknown tool: "${name}"`, hint);
    }
    contradictions(agent, report);
  }
  for (const circle of circles(known)) {
    const path = [...circle, circle[0]!];
    const first = known.get(circle[0]!)!;
    const edge = fixed(first).find((reference) => reference.name === path[1]);
    report(
      'cycle',
      first,
      edge?.place ?? 'name',
      `these agents go round in a circle: ${path.join(' → ')}`,
      'take one of these steps out',
    );
  }
  return problems;
}

/**
 * Why agents can be given no work as their files stand: a file contradicts itself, or names somebody who is not there for a step that is always
 * taken. By name.
 */
export function unfit(agents: ReadonlyMap<string, Agent>, places: RosterPlaces = new Map()): Map<string, Problem> {
  const found = new Map<string, Problem>();
  for (const agent of agents.values()) {
    const note: Say = (code, { name, file }, place, message, hint) => {
      if (code === 'duplicate' || found.has(name)) return; // once counts, however often it is said
      const next = hint?.endsWith('?') ? `${hint} mend it, then retry the task` : `${hint}, then retry the task`;
      found.set(name, problem(code, message, { where: places.get(file)?.[place] ?? { file }, hint: next }));
    };
    contradictions(agent, note);
    nameless(agent, fixed(agent), agents, note);
  }
  return found;
}

interface Reference {
  name: string;
  /** Its key among the parser's places. */
  place: string;
  as: string;
}

/** Steps that are always taken. */
function fixed(agent: Agent): Reference[] {
  const found: Reference[] = agent.advisors.map((advisor, i) => ({
    name: advisor.agent,
    place: `advisors.${i}`,
    as: 'an advisor',
  }));
  agent.router?.destinations.forEach((name, i) =>
    found.push({ name, place: `router.destinations.${i}`, as: 'a destination' }),
  );
  if (agent.router?.fallback !== undefined)
    found.push({ name: agent.router.fallback, place: 'router.fallback', as: 'its fallback' });
  agent.team?.members.forEach((name, i) =>
    found.push({ name, place: `team.members.${i}`, as: 'a member of its team' }),
  );
  if (agent.handoff !== undefined) found.push({ name: agent.handoff, place: 'handoff', as: 'its handoff' });
  return found;
}

function references(agent: Agent): Reference[] {
  const routed = new Set(agent.router?.destinations);
  const asked = agent.agents.flatMap((name, i) =>
    routed.has(name) ? [] : [{ name, place: `agents.${i}`, as: 'somebody to ask' }],
  );
  return [...asked, ...fixed(agent)];
}

function nameless(agent: Agent, named: readonly Reference[], known: ReadonlyMap<string, Agent>, say: Say): void {
  for (const { name, place, as } of named) {
    if (known.has(name) || name === HUMAN) continue;
    const message = `${agent.name} names "${name}" as ${as}, but there is no such agent`;
    const hint = nearestHint(name, known.keys(), 'write that agent, or take the name out');
    say('unknown_agent', agent, place, message, hint);
  }
}

type Say = (code: ProblemCode, agent: Agent, place: string, message: string, hint?: string) => void;

function contradictions(agent: Agent, say: Say): void {
  for (const [place, names] of [
    ['advisors', agent.advisors.map((advisor) => advisor.agent)],
    ['team.members', agent.team?.members ?? []],
  ] as const) {
    names.forEach((name, i) => {
      if (names.indexOf(name) === i) return;
      say('duplicate', agent, `${place}.${i}`, `${agent.name} names "${name}" twice in ${place}`, 'once is enough');
    });
  }
  const tools = agent.tools.filter((tool) => tool !== 'route_to');
  if (agent.router !== undefined && tools.length > 0) {
    say(
      'bad_field',
      agent,
      'tools',
      `${agent.name} is a router and has tools: a router only chooses who answers`,
      'take out "tools", or "router"',
    );
  }
  if (agent.team !== undefined && agent.handoff !== undefined) {
    const message = `${agent.name} leads a team and hands off: whoever leads a team gives its answer`;
    say('bad_field', agent, 'handoff', message, 'let the agent after it ask this one, or take out "handoff"');
  }
}

/**
 * Every circle that a walk meets, once each, beginning with its first name by alphabet. Whatever goes round for ever passes
 * through one of these. Iterative: chains may be long.
 */
export function circles(agents: ReadonlyMap<string, Agent>): string[][] {
  const done = new Set<string>();
  const found = new Map<string, string[]>();
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
        const circle = fromFirst(trail.slice(depth.get(name)).map((step) => step.name));
        found.set(circle.join('\n'), circle);
      } else if (!done.has(name) && agents.has(name)) enter(name);
    }
  }
  return [...found.values()];
}

function fromFirst(circle: string[]): string[] {
  const first = circle.indexOf([...circle].sort()[0]!);
  return [...circle.slice(first), ...circle.slice(0, first)];
}
