/** The agents of any folder, workspace or not: for `guild check` on somebody else's agents too. */
import path from 'node:path';
import { disk } from '../../adapters/disk/index.js';
import { isWorkspace } from '../../adapters/files/index.js';
import { pluginCode } from '../../adapters/plugins/plugin-code.js';
import type { Agent } from '../../domain/agent/agent.js';
import type { Config } from '../../domain/config/config.js';
import { nearestHint } from '../../domain/nearest.js';
import { problem, problemText, type Problem } from '../../domain/problem.js';
import { resolveModels } from '../../rules/scheduling/models.js';
import { foreignAgents } from '../../adapters/roster/foreign-agents.js';
import { packageFolder } from '../../adapters/starter/package-folder.js';
import { unknownPlugin } from '../../adapters/plugins/index.js';
import { CONFIG_FILE, readConfig } from './read-config.js';
import { roster } from '../../adapters/roster/index.js';

interface RosterChecked {
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
  const config = readConfig(on, root, env);
  const { plugins } = config.config;
  const agents = roster(on, root, undefined, foreign, 'web' in plugins ? ['web_search'] : []);
  const { problems, warnings, files } = agents.check();
  const names = agents.all();
  const all = once([
    ...config.problems,
    ...missing(root, Object.keys(plugins)),
    ...problems,
    // Of a file that cannot be read nothing is known, so nothing more can be wrong with it.
    ...(config.garbled ? [] : [...modelProblems(names, config.config), ...nobody(names, config.config)]),
  ]);
  // A file for another program is right in its own home.
  const abroad = new Set(foreign);
  const isAbroad = ({ where }: Problem): boolean =>
    where !== undefined && (abroad.has(where.file) || where.file.startsWith('.claude/'));
  const isPlugged = Object.keys(plugins).length > 0;
  const mayCome = (one: Problem): boolean => isPlugged && one.code === 'unknown_tool' && !isAbroad(one);
  return {
    agents: names,
    problems: all.filter((one) => !isAbroad(one) && !mayCome(one)),
    warnings: [...warnings, ...all.filter(isAbroad), ...all.filter(mayCome).map(unlessPlugged)],
    files: files + (config.there ? 1 : 0),
  };
}

function missing(root: string, plugins: string[]): Problem[] {
  const builtIn = packageFolder('plugins');
  return plugins.flatMap((name) => (pluginCode(root, builtIn, name) === undefined ? [unknownPlugin(name)] : []));
}

/** Looking at a folder runs none of its code, so the tools of a plugin are not known here. */
function unlessPlugged({ message, where }: Problem): Problem {
  return problem('unknown_tool', message, {
    ...(where === undefined ? {} : { where }),
    hint: 'a plugin may provide it: guild check runs no plugins, and guild watch reports it if none does',
  });
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
