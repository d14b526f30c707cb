/**
 * Finds and loads a plugin, `plugins/<name>/index.mjs`: the workspace's own, else the built-in one.
 * A plugin runs with all rights of this process, so it is loaded only if `guild.yaml` names it.
 */
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

interface PluginCode {
  /** Its entry file, for messages; relative to the workspace if it is inside. */
  file: string;
  load(): Promise<unknown>;
}

/** Undefined if neither folder has a plugin of this name. */
export function pluginCode(root: string, builtIn: string, name: string): PluginCode | undefined {
  for (const folder of [path.join(root, 'plugins'), builtIn]) {
    const file = path.join(folder, name, 'index.mjs');
    if (!fs.existsSync(file)) continue;
    const shown = path.relative(root, file);
    return {
      file: shown.startsWith('..') ? `plugins/${name}/index.mjs` : shown,
      async load() {
        const { default: code } = (await import(pathToFileURL(file).href)) as { default?: unknown };
        return code;
      },
    };
  }
  return undefined;
}
