/**
 * Finds and loads the code of a plugin, `plugins/<name>/index.mjs`: the workspace's own, else the one that comes with the program.
 * A plugin is code with all the rights of this process, so it is only loaded when `guild.yaml` names it.
 */
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

interface PluginCode {
  /** Its entry, for messages: relative to the workspace where it lies in it. */
  file: string;
  load(): Promise<unknown>;
}

/** Undefined if neither place has a plugin of this name. */
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
