/** Places in an agent file for the checks of other modules, by names that fit every format. */
import type { Agent } from '../../domain/agent/agent.js';
import type { Where } from '../../domain/problem.js';
import type { YamlPlaces } from '../yaml/parse.js';
import type { Path } from '../schema/fault.js';

/**
 * By names such as `handoff`, `tools.0`, `router.destinations.0`, `team.members.2`,
 * `approve.write_file`.
 */
export function agentPlaces(agent: Agent, places: YamlPlaces): Record<string, Where> {
  const entries: [string, Where][] = [];
  /** Notes the first of these paths that exists, at the top or in `spec` or `metadata`. */
  const note = (name: string, ...paths: Path[]): void => {
    for (const path of paths) {
      for (const root of ROOTS) {
        const where = places.exact([...root, ...path]);
        if (where !== undefined) return void entries.push([name, where]);
      }
    }
  };
  note('name', ['name'], ['agent_id'], ['agentId'], ['id']);
  note('handoff', ['handoff']);
  note('output', ['output']);
  note('router', ['router']);
  note('team', ['team']);
  note('tools', ['tools']);
  few(agent.tools).forEach((_, i) => note(`tools.${i}`, ['tools', i], ['tools']));
  few(agent.agents).forEach((_, i) => note(`agents.${i}`, ['agents', i], ['agents']));
  few(agent.advisors).forEach((_, i) => note(`advisors.${i}`, ['advisors', i, 'agent'], ['advisors', i], ['advisors']));
  few(agent.router?.destinations).forEach((_, i) =>
    note(
      `router.destinations.${i}`,
      ['router', 'destinations', i],
      ['router', 'destinations'],
      ['agents', i],
      ['agents'],
    ),
  );
  note('router.fallback', ['router', 'fallback']);
  few(agent.team?.members).forEach((_, i) =>
    note(`team.members.${i}`, ['team', 'members', i], ['team', 'members'], ['team', i]),
  );
  for (const tool of few(Object.keys(agent.approve))) note(`approve.${tool}`, ['approve', tool]);
  return Object.fromEntries(entries);
}

/** Each place costs a search in the text. */
function few<T>(list: readonly T[] = []): readonly T[] {
  return list.slice(0, 100);
}

const ROOTS: Path[] = [[], ['spec'], ['metadata']];
