/**
 * Loads plugins: folders with tools and message sources. A plugin that fails to load, start or run
 * is reported once and affects nothing else. Its tools need approval unless it declares otherwise,
 * and the policy may be stricter. A plugin cannot replace a built-in tool.
 */
import fs from 'node:fs';
import path from 'node:path';
import type { Env } from '../../domain/config/env.js';
import { pluginCode } from './plugin-code.js';
import type { NoticeMessage } from '../../domain/config/notify.js';
import { problem, type Problem } from '../../domain/problem.js';
import type { Tool } from '../../tools/core/tool.js';
import { isBuilt } from '../../tools/toolbox.js';
import { pluginTool, type PluginTool } from './plugin-tool.js';

export interface Plugins {
  /** A new list if a plugin changes its tools: an MCP server may do so at any time. */
  readonly tools: readonly Tool[];
  /** True for a plugin's tool that a human must allow each time. False for every other name. */
  requiresApproval(tool: string): boolean;
  problems: Problem[];
  /**
   * Runs the plugins that listen, until `signal` aborts and they have had time to stop. Never
   * rejects.
   */
  start(options: PluginStart): Promise<void>;
  /** Tells a person through the plugin of this name. Returns the problem if it could not. */
  notify(plugin: string, to: string, message: NoticeMessage): Promise<Problem | undefined>;
  /** Lets plugins close their connections and processes. Never rejects. */
  close(): Promise<void>;
}

interface PluginStart {
  signal: AbortSignal;
  /** Puts a message into the inbox; durable when resolved. */
  deliver(plugin: string, message: Record<string, unknown>): Promise<void>;
  /** Requests that a plugin may show to a person elsewhere; absent in a replay. */
  desk?: object | undefined;
  report(problem: Problem): void;
}

interface PluginsOptions {
  root: string;
  /** Plugin name → its settings in guild.yaml. */
  plugins: Record<string, Record<string, unknown>>;
  env: Env;
  builtIn: string;
  /** Folder of the workspace's own plugins, as a person has trusted them. */
  own?: string;
  /** Whether the files that the plugin's commands name are those that a person has trusted. */
  isUnchanged?: (plugin: string) => boolean;
  /** Whether a task is still open: a plugin keeps what the task uses. */
  isOpen?: (task: string) => boolean;
}

interface Loaded {
  name: string;
  file: string;
  tools: PluginTool[];
  /** Problems with its settings that do not stop it. */
  problems?: unknown[];
  start?: (running: Record<string, unknown>) => unknown;
  stop?: () => unknown;
  /** Sends a notice to a person. Returns `{success, content}`, like a tool. */
  notify?: (message: { to: string; title: string; text: string }) => unknown;
}

const STOP_MS = 3000;

export async function loadPlugins(options: PluginsOptions): Promise<Plugins> {
  const problems: Problem[] = [];
  const loaded: Loaded[] = [];
  let offered = noTools();
  for (const [name, config] of Object.entries(options.plugins)) {
    const plugin = await load(options, name, config, problems, (tools) => {
      const changed = loaded.find((each) => each.name === name);
      if (changed === undefined) return; // the plugin still loads, and returns its problems
      changed.tools = tools;
      offered = offeredBy(options.root, loaded);
    });
    if (plugin !== undefined) loaded.push(plugin);
  }
  offered = offeredBy(options.root, loaded);
  problems.push(...offered.problems);
  return {
    get tools() {
      return offered.tools;
    },
    requiresApproval: (tool) => offered.tools.some(({ name }) => name === tool) && !offered.free.has(tool),
    problems,
    async start(running) {
      const stopped = loaded.map((plugin) => run(options.root, plugin, running));
      await aborted(running.signal);
      const timeout = new Promise<void>((resolve) => setTimeout(resolve, STOP_MS).unref());
      await Promise.race([Promise.all(stopped), timeout]);
    },
    notify: (name, to, message) => notifyBy(loaded, name, to, message),
    async close() {
      await Promise.allSettled(loaded.map(async ({ stop }) => stop?.()));
    },
  };
}

async function notifyBy(
  loaded: readonly Loaded[],
  name: string,
  to: string,
  { title, text }: NoticeMessage,
): Promise<Problem | undefined> {
  const where = { file: 'guild.yaml' };
  const plugin = loaded.find((each) => each.name === name);
  if (plugin?.notify === undefined)
    return problem('not_found', `notify needs the plugin ${name}`, { where, hint: `add ${name} to "plugins"` });
  try {
    const done = (await plugin.notify({ to, title, text })) as { success?: boolean; content?: unknown } | undefined;
    if (done?.success !== false) return undefined;
    return problem('tool_failed', `${name} could not notify ${to}: ${String(done.content)}`, { where });
  } catch (thrown) {
    return problem('tool_failed', `${name} could not notify ${to}: ${messageOf(thrown)}`, { where });
  }
}

interface Offered {
  tools: Tool[];
  /** Names of the tools that need no approval. */
  free: Set<string>;
  problems: Problem[];
}

function noTools(): Offered {
  return { tools: [], free: new Set(), problems: [] };
}

function offeredBy(root: string, loaded: readonly Loaded[]): Offered {
  const offered = noTools();
  const names = new Set<string>();
  for (const { name, file, tools } of loaded) {
    for (const source of tools) {
      const tool = pluginTool(source, { name, file, root });
      if ('code' in tool) offered.problems.push(tool);
      else if (isBuilt(tool.name) || names.has(tool.name)) offered.problems.push(duplicateTool(tool.name, file));
      else {
        names.add(tool.name);
        offered.tools.push(tool);
        if (source.metadata?.requiresHumanApproval === false) offered.free.add(tool.name);
      }
    }
  }
  return offered;
}

/** `setTools`: the plugin replaces its tools later. */
async function load(
  { root, env, builtIn, own, isOpen, isUnchanged = () => true }: PluginsOptions,
  name: string,
  config: Record<string, unknown>,
  problems: Problem[],
  setTools: (tools: PluginTool[]) => void,
): Promise<Loaded | undefined> {
  if (fs.existsSync(path.join(builtIn, name)) && fs.existsSync(path.join(root, 'plugins', name, 'index.mjs')))
    problems.push(shadowing(name));
  const code = pluginCode(builtIn, own, name);
  if (code === undefined) {
    problems.push(unknownPlugin(name));
    return undefined;
  }
  const { file } = code;
  try {
    const exported = await code.load();
    const registered: PluginTool[] = [];
    const registerTool = (tool: PluginTool): void => void registered.push(tool);
    const isSame = (): boolean => isUnchanged(name);
    const host = { workspace: root, env, config, registerTool, setTools, isOpen, isUnchanged: isSame };
    const plugin: unknown =
      typeof exported === 'function' ? await (exported as (host: unknown) => unknown)(host) : exported;
    const {
      tools = [],
      start,
      stop,
      notify,
      problems: warnings = [],
    } = (Array.isArray(plugin) ? { tools: plugin } : (plugin ?? {})) as Partial<Loaded>;
    const all = [...registered, ...(Array.isArray(tools) ? tools : Object.values<PluginTool>(tools))];
    for (const text of warnings) problems.push(problem('tool_failed', String(text), { where: { file: 'guild.yaml' } }));
    // One whose tools are all missing may still have a connection to close.
    if (all.length > 0 || warnings.length > 0 || typeof start === 'function')
      return { name, file, tools: all, start, stop, notify };
    const hint = 'export default {tools, start}, or a function that returns it';
    problems.push(problem('bad_file', 'this plugin has neither tools nor start()', { where: { file }, hint }));
  } catch (thrown) {
    problems.push(problem('bad_file', `this plugin cannot be loaded: ${messageOf(thrown)}`, { where: { file } }));
  }
  return undefined;
}

/** A request shows the plugin's name, so a built-in name must not refer to other code. */
function shadowing(name: string): Problem {
  const file = `plugins/${name}/index.mjs`;
  return problem('duplicate', `${name} is a built-in plugin, so the one in this workspace is not loaded`, {
    where: { file },
    hint: 'rename the folder and its entry in guild.yaml',
  });
}

export function unknownPlugin(name: string): Problem {
  const hint = `create plugins/${name}/index.mjs, or remove it from "plugins"`;
  return problem('not_found', `unknown plugin ${name}`, { where: { file: 'guild.yaml' }, hint });
}

async function run(
  root: string,
  { name, file, start }: Loaded,
  { signal, deliver, desk, report }: PluginStart,
): Promise<void> {
  if (start === undefined) return;
  const fail = (text: string): void => report(problem('tool_failed', `plugin ${name}: ${text}`, { where: { file } }));
  try {
    await start({
      workspace: root,
      signal,
      deliver: (message: Record<string, unknown>) => deliver(name, message),
      desk,
      report: (text: unknown) => fail(String(text)),
    });
  } catch (thrown) {
    if (!signal.aborted) fail(messageOf(thrown));
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

function duplicateTool(name: string, file: string): Problem {
  return problem('duplicate', `a tool named ${name} already exists, so this one is ignored`, {
    where: { file },
    hint: 'rename it',
  });
}

function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message.split('\n')[0]! : String(thrown);
}
