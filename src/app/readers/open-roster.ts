/**
 * Reads and checks the agents of any folder, for `guild check`; the folder need not be a workspace.
 */
import path from 'node:path';
import { disk as realDisk } from '../../adapters/disk/index.js';
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
import { loadPolicy } from '../../adapters/policy-files/index.js';

interface RosterChecked {
  agents: ReadonlyMap<string, Agent>;
  problems: Problem[];
  warnings: Problem[];
  /** By name: agents whose file does not define one, and why. */
  unreadable: ReadonlyMap<string, Problem>;
  /** The number of files read. */
  files: number;
}

export function openRoster(folder: string, env: Record<string, string | undefined> = process.env): RosterChecked {
  const disk = realDisk();
  const root = path.resolve(folder);
  const isInWorkspace = isWorkspace(disk, root);
  const foreign = isInWorkspace ? [] : foreignAgents(root);
  const config = readConfig(disk, root, env);
  const { plugins } = config.config;
  const agents = roster(disk, root, undefined, foreign, 'web' in plugins ? ['web_search'] : []);
  const { problems, warnings, files } = agents.check();
  const names = agents.all();
  const all = unique([
    ...config.problems,
    ...missingPlugins(root, Object.keys(plugins)),
    ...problems,
    ...(isInWorkspace ? loadPolicy(root).problems : []),
    // Nothing is known about a file that cannot be read, so nothing more can be checked.
    ...(config.garbled ? [] : [...modelProblems(names, config.config), ...unknownAgents(names, config.config)]),
  ]);
  const unreadable = agents.unreadable?.() ?? new Map<string, Problem>();
  const foreignFiles = new Set(foreign);
  const unreadableFiles = new Set([...unreadable.values()].map(({ where }) => where?.file));
  /** A file written for another program may be correct there, but here it must define an agent. */
  const isForeign = ({ where }: Problem): boolean =>
    where !== undefined &&
    (foreignFiles.has(where.file) || (where.file.startsWith('.claude/') && !unreadableFiles.has(where.file)));
  const isPlugged = Object.keys(plugins).length > 0;
  const mayBePlugin = (one: Problem): boolean => isPlugged && one.code === 'unknown_tool' && !isForeign(one);
  return {
    agents: names,
    problems: all.filter((one) => !isForeign(one) && !mayBePlugin(one)),
    warnings: [...warnings, ...all.filter(isForeign), ...all.filter(mayBePlugin).map(asPluginWarning)],
    unreadable,
    files: files + (config.there ? 1 : 0),
  };
}

function missingPlugins(root: string, plugins: string[]): Problem[] {
  const builtIn = packageFolder('plugins');
  return plugins.flatMap((name) => (pluginCode(root, builtIn, name) === undefined ? [unknownPlugin(name)] : []));
}

/** A check runs no code of the folder, so the tools of its plugins are unknown here. */
function asPluginWarning({ message, where }: Problem): Problem {
  return problem('unknown_tool', message, {
    where,
    hint: 'a plugin may provide it: guild check runs no plugins, and guild watch reports it if none does',
  });
}

/**
 * Models that cannot be resolved: those of agents, and aliases in guild.yaml that no agent uses
 * yet.
 */
function modelProblems(agents: ReadonlyMap<string, Agent>, config: Config): Problem[] {
  const unused = Object.keys(config.aliases).map((name) => ({ name, models: [name], settings: {}, file: CONFIG_FILE }));
  return [...agents.values(), ...unused].flatMap((one) =>
    ['work', 'check', 'bid'].flatMap((role) => {
      const found = resolveModels(one, config, role);
      return 'code' in found ? [found] : [];
    }),
  );
}

function unknownAgents(agents: ReadonlyMap<string, Agent>, { defaultAgent, coordination }: Config): Problem[] {
  const named = { default_agent: defaultAgent, 'coordination.coordinator': coordination.coordinator };
  return Object.entries(named).flatMap(([key, name]) => {
    if (name === undefined || agents.size === 0 || agents.has(name)) return [];
    const hint = nearestHint(name, agents.keys(), `the agents are: ${[...agents.keys()].sort().join(', ')}`)!;
    return [
      problem('unknown_agent', `${key} is ${name}, which is not an agent`, { where: { file: CONFIG_FILE }, hint }),
    ];
  });
}

function unique(problems: Problem[]): Problem[] {
  return [...new Map(problems.map((one) => [problemText(one), one])).values()];
}
