/**
 * Reads and checks the agents of any folder, for `guild check`; the folder need not be a workspace.
 */
import path from 'node:path';
import type { Env } from '../../domain/config/env.js';
import { fenced, isUnreadable } from '../../domain/fence.js';
import { disk as realDisk } from '../../adapters/disk/index.js';
import { isWorkspace } from '../../adapters/files/index.js';
import { pluginCode } from '../../adapters/plugins/plugin-code.js';
import { isForeignFormat, type Agent } from '../../domain/agent/agent.js';
import { FOREIGN_AGENT_FOLDERS } from '../../domain/agent/places.js';
import type { Config } from '../../domain/config/config.js';
import { settingWarnings } from '../../domain/config/families.js';
import type { Disk } from '../../ports/disk.js';
import type { Project } from '../../ports/reading/project.js';
import { nearestHint } from '../../domain/nearest.js';
import { problem, problemText, type Problem } from '../../domain/problem.js';
import { resolveModels, unknownModel } from '../../rules/scheduling/models.js';
import { project } from '../../adapters/project/index.js';
import { foreignAgents } from '../../adapters/roster/foreign-agents.js';
import { packageFolder } from '../../adapters/starter/package-folder.js';
import { unknownPlugin } from '../../adapters/plugins/index.js';
import { BUILT_IN_VARIABLES, unknownVariables } from '../../text/agent/prompt.js';
import { whereAt } from '../../text/lines/where.js';
import { boardProblems, boardsIn } from '../../adapters/boards/board-problems.js';
import { offeredBullets } from '../../adapters/boards/offered-bullets.js';
import { CONFIG_FILE, readConfig } from './read-config.js';
import { roster } from '../../adapters/roster/index.js';
import { loadPolicy } from '../../adapters/policy-files/index.js';

interface RosterChecked {
  agents: ReadonlyMap<string, Agent>;
  problems: Problem[];
  warnings: Problem[];
  /** By name: agents whose file does not define one, and why. */
  unreadable: ReadonlyMap<string, Problem>;
  files: number;
}

export function openRoster(folder: string, env: Env = process.env): RosterChecked {
  const disk = realDisk();
  const root = path.resolve(folder);
  const isInWorkspace = isWorkspace(disk, root);
  const foreign = isInWorkspace ? [] : foreignAgents(root);
  const config = readConfig(disk, root, env);
  const { plugins } = config.config;
  const expected = toolsToExpect(plugins);
  const agents = roster(disk, root, undefined, foreign, () => expected);
  const { problems, warnings, files, lost, drafts } = agents.check();
  const names = agents.all();
  const described = new Map([...drafts.map((draft) => [draft.name, draft] as const), ...names]);
  const texts = project(disk, root);
  const boards = isInWorkspace ? boardsIn(disk, root) : { sheets: [], problems: [] };
  const all = unique([
    ...config.problems,
    ...missingPlugins(root, Object.keys(plugins)),
    ...problems,
    ...unknownSkills(described, texts),
    ...(isInWorkspace ? loadPolicy(root).problems : []),
    ...boardProblems(boards, names.keys()),
    ...[...described.values()].flatMap((agent) => variableProblems(agent, agents.source(agent))),
    // If guild.yaml cannot be read, its models and agents are unknown and cannot be checked.
    ...(config.garbled ? [] : [...modelProblems(described, config.config), ...unknownAgents(described, config.config)]),
  ]);
  const replaced = config.garbled ? [] : replacedModels(names, config.config);
  const unreadable = agents.unreadable?.() ?? new Map<string, Problem>();
  const foreignFiles = new Set(foreign);
  /** A file written for another program may be correct there, but here it must define an agent. */
  const isForeign = ({ where, code }: Problem): boolean =>
    where !== undefined &&
    code !== 'duplicate' &&
    !lost.has(where.file) &&
    (foreignFiles.has(where.file) || FOREIGN_AGENT_FOLDERS.some((folder) => where.file.startsWith(`${folder}/`)));
  const isPlugged = Object.keys(plugins).length > 0;
  const mayBePlugin = (one: Problem): boolean => isPlugged && one.code === 'unknown_tool' && !isForeign(one);
  return {
    agents: names,
    problems: all.filter((one) => !isForeign(one) && !mayBePlugin(one)),
    warnings: unique([
      ...warnings,
      ...checkInWarnings(names, config.config),
      ...replaced,
      ...texts.problems(),
      ...serversOff(disk, root, plugins),
      ...all.filter(isForeign),
      ...all.filter(mayBePlugin).map(asPluginWarning),
      ...(config.garbled ? [] : ignoredSettings(names, config.config)),
      ...(config.garbled ? [] : offeredBullets(boards.sheets, names.values(), config.config)),
    ]),
    unreadable,
    files: files + (config.there ? 1 : 0),
  };
}

/** Variables that nothing fills in. In files of other programs they may mean something else. */
function variableProblems(agent: Agent, source: string): Problem[] {
  if (isForeignFormat(agent.format)) return [];
  const known = new Set([...BUILT_IN_VARIABLES, ...Object.keys(agent.variables)]);
  return unknownVariables(agent.systemPrompt, known).map(({ name, text }) =>
    problem('bad_field', `nothing fills in ${text}`, {
      where: whereAt(agent.file, source, Math.max(0, source.indexOf(text))),
      hint: nearestHint(name, known, `declare it under "variables:", or put it in backticks to show it as it is`)!,
    }),
  );
}

/** Servers of the project's `.mcp.json` that nobody has switched on. */
function serversOff(disk: Disk, root: string, plugins: Record<string, Record<string, unknown>>): Problem[] {
  const read = fenced('.mcp.json', () => disk.read(path.join(root, '.mcp.json')));
  if (isUnreadable(read)) return [read.problem];
  if (read.kind !== 'file') return [];
  const where = { file: '.mcp.json' };
  try {
    const { mcpServers = {} } = JSON.parse(read.bytes.toString('utf8')) as { mcpServers?: object };
    const off = Object.keys(mcpServers).filter((name) => !Object.hasOwn(plugins['mcp']?.['servers'] ?? {}, name));
    if (off.length === 0) return [];
    const hint = 'to use one, write its name and "true" under plugins.mcp.servers in guild.yaml';
    return [problem('not_allowed', `these MCP servers are off: ${off.join(', ')}`, { where, hint })];
  } catch {
    return [problem('bad_file', '.mcp.json is not valid JSON', { where, hint: 'fix it, or remove it' })];
  }
}

/** A check starts no MCP server, so the tools of a server are known by pattern only. */
function toolsToExpect(plugins: Record<string, Record<string, unknown>>): string[] {
  const servers = Object.keys(plugins['mcp']?.['servers'] ?? {});
  return [...('web' in plugins ? ['web_search'] : []), ...servers.map((name) => `${name}_*`)];
}

/** Tools without which a planner can read about the work of others but not help. */
const CHECK_IN_TOOLS = ['read_session', 'send_message'];

function checkInWarnings(agents: ReadonlyMap<string, Agent>, { checkins, planner = 'planner' }: Config): Problem[] {
  const agent = checkins === true ? agents.get(planner) : undefined;
  const lacking = agent === undefined ? [] : CHECK_IN_TOOLS.filter((tool) => !agent.tools.includes(tool));
  if (agent === undefined || lacking.length === 0) return [];
  return [
    problem('bad_field', `check-ins are on, but ${agent.name} cannot act on them: it lacks ${lacking.join(' and ')}`, {
      where: { file: agent.file },
      hint: `add ${lacking.join(', ')} to its tools`,
    }),
  ];
}

function missingPlugins(root: string, plugins: string[]): Problem[] {
  const builtIn = packageFolder('plugins');
  return plugins.flatMap((name) =>
    pluginCode(builtIn, path.join(root, 'plugins'), name) === undefined ? [unknownPlugin(name)] : [],
  );
}

/** A check runs no code of the folder, so the tools of its plugins are unknown here. */
function asPluginWarning({ message, where }: Problem): Problem {
  return problem('unknown_tool', message, {
    where,
    hint: 'a plugin may provide it: guild check runs no plugins, and guild watch reports it if none does',
  });
}

/**
 * Models that cannot be resolved: models of agents, and aliases in guild.yaml that no agent uses
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

/** Settings that a model refuses are left out of its calls, so its agent does not get them. */
function ignoredSettings(agents: ReadonlyMap<string, Agent>, config: Config): Problem[] {
  return [...agents.values()].flatMap((agent) =>
    ['work', 'check', 'bid'].flatMap((role) => {
      const found = resolveModels(agent, config, role);
      if ('code' in found) return [];
      return found.models
        .flatMap((model) => settingWarnings(model, found.settings))
        .map((message) => problem('bad_field', message, { where: { file: agent.file } }));
    }),
  );
}

function unknownSkills(agents: ReadonlyMap<string, Agent>, texts: Project): Problem[] {
  const known = texts.skills().map(({ name }) => name);
  return [...agents.values()].flatMap(({ skills, name, file }) =>
    skills.flatMap((skill) => {
      if (known.includes(skill)) return [];
      const hint = nearestHint(skill, known, `write .agents/skills/${skill}/SKILL.md, or remove the name`);
      return [problem('not_found', `${name} names an unknown skill: "${skill}"`, { where: { file }, hint })];
    }),
  );
}

/** Agents of other programs whose model is unknown here, so they use the workspace's model. */
function replacedModels(agents: ReadonlyMap<string, Agent>, config: Config): Problem[] {
  return [...agents.values()].flatMap((agent) => {
    const unknown = unknownModel(agent, config);
    if (unknown === undefined) return [];
    return [{ ...unknown, message: `${unknown.message}; the default of the workspace is used` }];
  });
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
