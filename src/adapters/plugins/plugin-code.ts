/**
 * Finds and loads a plugin, `<name>/index.mjs`: a built-in one, or one of the workspace from the
 * copy of its code that a person has trusted. A plugin runs with all rights of this process.
 */
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

interface PluginCode {
  /** Its entry file, for messages. */
  file: string;
  load(): Promise<unknown>;
}

/** Undefined if neither folder has a plugin of this name. A built-in name always means that one. */
export function pluginCode(builtIn: string, own: string | undefined, name: string): PluginCode | undefined {
  for (const folder of [builtIn, ...(own === undefined ? [] : [own])]) {
    const file = path.join(folder, name, 'index.mjs');
    if (!fs.existsSync(file)) continue;
    return {
      file: `plugins/${name}/index.mjs`,
      async load() {
        const { default: code } = (await import(pathToFileURL(file).href)) as { default?: unknown };
        return code;
      },
    };
  }
  return undefined;
}
