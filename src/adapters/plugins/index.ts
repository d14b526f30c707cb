/**
 * Plugins: folders of tools, and of ways for messages to come in. What one does wrong, loading, starting or running, harms only
 * itself and is told in one problem. Its tools are asked for unless it says that they need no human, and policy may still be
 * stricter. A plugin never replaces a tool of the program.
 */
import { pluginCode } from './plugin-code.js';
import { problem, type Problem } from '../../domain/problem.js';
import type { Tool } from '../../tools/core/tool.js';
import { isBuilt } from '../../tools/toolbox.js';
import { pluginTool, type PluginTool } from './plugin-tool.js';

export interface Plugins {
  tools: Tool[];
  /** True for a plugin's tool that a human must allow each time. False for every other name. */
  requiresApproval(tool: string): boolean;
  problems: Problem[];
  /** Lets those that listen listen, until `signal` aborts. Resolves when all have stopped, or soon after. Never rejects. */
  start(options: PluginStart): Promise<void>;
  /** Lets them put away what they hold: connections, processes. Never rejects. */
  close(): Promise<void>;
}

interface PluginStart {
  signal: AbortSignal;
  /** Puts a message into the inbox; durable when resolved. */
  deliver(plugin: string, message: Record<string, unknown>): Promise<void>;
  report(problem: Problem): void;
}

interface PluginsGiven {
  root: string;
  /** Name → its settings in guild.yaml. */
  plugins: Record<string, Record<string, unknown>>;
  env: Record<string, string | undefined>;
  /** Where the plugins that come with the program lie. */
  builtIn: string;
}

interface Loaded {
  name: string;
  file: string;
  tools: PluginTool[];
  /** What it found wrong with its settings, though it can go on. */
  problems?: unknown[];
  start?: (running: Record<string, unknown>) => unknown;
  stop?: () => unknown;
}

const STOP_MS = 3000;

export async function loadPlugins(given: PluginsGiven): Promise<Plugins> {
  const problems: Problem[] = [];
  const loaded: Loaded[] = [];
  const tools = new Map<string, Tool>();
  const free = new Set<string>();
  for (const [name, config] of Object.entries(given.plugins)) {
    const one = await load(given, name, config, problems);
    if (one === undefined) continue;
    loaded.push(one);
    for (const made of one.tools) {
      const built = pluginTool(made, { name, file: one.file, root: given.root });
      if ('code' in built) problems.push(built);
      else if (isBuilt(built.name) || tools.has(built.name)) problems.push(taken(built.name, one.file));
      else {
        tools.set(built.name, built);
        if (made.metadata?.requiresHumanApproval === false) free.add(built.name);
      }
    }
  }
  return {
    tools: [...tools.values()],
    requiresApproval: (tool) => tools.has(tool) && !free.has(tool),
    problems,
    async start(options) {
      const running = loaded.map((one) => run(given.root, one, options));
      await aborted(options.signal);
      const late = new Promise<void>((resolve) => setTimeout(resolve, STOP_MS).unref());
      await Promise.race([Promise.all(running), late]);
    },
    async close() {
      await Promise.allSettled(loaded.map(async (one) => one.stop?.()));
    },
  };
}

async function load(
  { root, env, builtIn }: PluginsGiven,
  name: string,
  config: Record<string, unknown>,
  problems: Problem[],
): Promise<Loaded | undefined> {
  const code = pluginCode(root, builtIn, name);
  if (code === undefined) {
    problems.push(noPlugin(name));
    return undefined;
  }
  const { file } = code;
  try {
    const made = await code.load();
    const registered: PluginTool[] = [];
    const office = { workspace: root, env, config, registerTool: (tool: PluginTool) => void registered.push(tool) };
    const said: unknown = typeof made === 'function' ? await (made as (office: unknown) => unknown)(office) : made;
    const {
      tools = [],
      start,
      stop,
      problems: told = [],
    } = (Array.isArray(said) ? { tools: said } : (said ?? {})) as Partial<Loaded>;
    const all = [...registered, ...(Array.isArray(tools) ? tools : Object.values<PluginTool>(tools))];
    for (const one of told) problems.push(problem('tool_failed', String(one), { where: { file: 'guild.yaml' } }));
    if (all.length > 0 || typeof start === 'function')
      return { name, file, tools: all, ...(start ? { start } : {}), ...(stop ? { stop } : {}) };
    if (told.length > 0) return undefined;
    const hint = 'export default {tools, start}, or a function that returns it';
    problems.push(problem('bad_file', 'this plugin has neither tools nor a start', { where: { file }, hint }));
  } catch (thrown) {
    problems.push(problem('bad_file', `this plugin cannot be loaded: ${messageOf(thrown)}`, { where: { file } }));
  }
  return undefined;
}

export function noPlugin(name: string): Problem {
  const hint = `write plugins/${name}/index.mjs, or take it out of "plugins"`;
  return problem('not_found', `there is no plugin ${name}`, { where: { file: 'guild.yaml' }, hint });
}

async function run(
  root: string,
  { name, file, start }: Loaded,
  { signal, deliver, report }: PluginStart,
): Promise<void> {
  if (start === undefined) return;
  const tell = (said: string): void => report(problem('tool_failed', `plugin ${name}: ${said}`, { where: { file } }));
  try {
    await start({
      workspace: root,
      signal,
      deliver: (message: Record<string, unknown>) => deliver(name, message),
      report: (said: unknown) => tell(String(said)),
    });
  } catch (thrown) {
    if (!signal.aborted) tell(messageOf(thrown));
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

function taken(name: string, file: string): Problem {
  return problem('duplicate', `there is a tool ${name} already, so this one is left out`, {
    where: { file },
    hint: 'give it another name',
  });
}

function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message.split('\n')[0]! : String(thrown);
}
