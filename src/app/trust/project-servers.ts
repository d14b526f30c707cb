/**
 * MCP servers that guild.yaml names and the project's `.mcp.json` defines. The definition becomes
 * part of the trust record, and the trusted definition is the one that starts: a changed file
 * starts nothing that a person has not seen.
 */
import { attempt } from '../../domain/attempt.js';
import path from 'node:path';
import { isMapping, parseMapping } from '../../domain/mapping.js';
import { textIn } from './text-file.js';

type Plugins = Record<string, Record<string, unknown>>;

export function withProjectServers(root: string, plugins: Plugins): Plugins {
  const servers = plugins['mcp']?.['servers'];
  if (!isMapping(servers)) return plugins;
  const isNamedOnly = ([, settings]: [string, unknown]): boolean =>
    settings !== false && !(isMapping(settings) && ('command' in settings || 'url' in settings));
  if (!Object.entries(servers).some(isNamedOnly)) return plugins;
  const defined = definitions(root);
  const filled = Object.entries(servers).map(([name, settings]): [string, unknown] => {
    const { project: _, ...own } = isMapping(settings) ? settings : {};
    if (!isNamedOnly([name, settings]) || !Object.hasOwn(defined, name)) return [name, settings];
    return [name, { ...own, project: defined[name] }];
  });
  return { ...plugins, mcp: { ...plugins['mcp'], servers: Object.fromEntries(filled) } };
}

/** By name, as they are written; none if the file is missing or is not JSON. */
function definitions(root: string): Record<string, unknown> {
  const { mcpServers } = parseMapping(attempt(() => textIn(path.join(root, '.mcp.json'))) ?? '') ?? {};
  return isMapping(mcpServers) ? mcpServers : {};
}
