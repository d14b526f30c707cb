/** The agents of any folder, workspace or not: for `guild check` on somebody else's agents too. */
import path from 'node:path';
import { disk } from '../adapters/disk.js';
import { isWorkspace } from '../adapters/files/index.js';
import type { Agent } from '../domain/agent.js';
import type { Config } from '../domain/config.js';
import { nearestHint } from '../domain/nearest.js';
import { problem, problemText, type Problem } from '../domain/problem.js';
import { resolveModels } from '../rules/models.js';
import { foreignAgents } from './foreign-agents.js';
import { CONFIG_FILE, readConfig } from './read-config.js';
import { roster } from './roster.js';

export interface RosterChecked {
  agents: ReadonlyMap<string, Agent>;
  problems: Problem[];
  warnings: Problem[];
  /** Files that were looked at. */
  files: number;
}

export function openRoster(folder: string, env: Record<string, string | undefined> = process.env): RosterChecked {
  const on = disk();
  const root = path.resolve(folder);
  const foreign = isWorkspace(on, root) ? [] : foreignAgents(root);
  const agents = roster(on, root, undefined, foreign);
  const { problems, warnings, files } = agents.check();
  const config = readConfig(on, root, env);
  const names = agents.all();
  const all = once([
    ...config.problems,
    ...problems,
    // Of a file that cannot be read nothing is known, so nothing more can be wrong with it.
    ...(config.unreadable ? [] : [...modelProblems(names, config.config), ...nobody(names, config.config)]),
  ]);
  // A file for another program is right in its own home.
  const abroad = new Set(foreign);
  const isAbroad = ({ where }: Problem): boolean =>
    where !== undefined && (abroad.has(where.file) || where.file.startsWith('.claude/'));
  // Looking at a folder runs none of its code, so a plugin's tools are not known here.
  const plugged = Object.keys(config.config.plugins).length > 0;
  const isMild = (one: Problem): boolean => isAbroad(one) || (plugged && one.code === 'unknown_tool');
  return {
    agents: names,
    problems: all.filter((one) => !isMild(one)),
    warnings: [...config.warnings, ...warnings, ...all.filter(isMild)],
    files: files + (config.there ? 1 : 0),
  };
}

/** What no call could be made with: of the agents, and of names in guild.yaml that nobody uses yet. */
function modelProblems(agents: ReadonlyMap<string, Agent>, config: Config): Problem[] {
  const unused = Object.keys(config.aliases).map((name) => ({ name, models: [name], settings: {}, file: CONFIG_FILE }));
  return [...agents.values(), ...unused].flatMap((one) =>
    ['work', 'check', 'bid'].flatMap((role) => {
      const found = resolveModels(one, config, role);
      return 'code' in found ? [found] : [];
    }),
  );
}

function nobody(agents: ReadonlyMap<string, Agent>, { defaultAgent, coordination }: Config): Problem[] {
  const named = { default_agent: defaultAgent, 'coordination.coordinator': coordination.coordinator };
  return Object.entries(named).flatMap(([key, name]) => {
    if (name === undefined || agents.size === 0 || agents.has(name)) return [];
    const hint = nearestHint(name, agents.keys(), `the agents are: ${[...agents.keys()].sort().join(', ')}`)!;
    return [
      problem('unknown_agent', `${key} is ${name}, and there is no such agent`, { where: { file: CONFIG_FILE }, hint }),
    ];
  });
}

function once(problems: Problem[]): Problem[] {
  return [...new Map(problems.map((one) => [problemText(one), one])).values()];
}
