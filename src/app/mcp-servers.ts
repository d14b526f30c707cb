/** Lists the MCP servers of a workspace and logs a person in, for `guild mcp`. */
import path from 'node:path';
import { disk as realDisk } from '../adapters/disk/index.js';
import { mcpModule, type McpServer } from '../adapters/plugins/mcp-servers.js';
import { packageFolder } from '../adapters/starter/package-folder.js';
import type { Env } from '../domain/config/env.js';
import { ProblemError, problemError, type Where } from '../domain/problem.js';
import { YamlPlaces, wholeFile } from '../text/yaml/parse.js';
import { requireWorkspace } from './readers/no-workspace.js';
import { isUnchanged } from './trust/acting.js';
import { openTrust } from './trust/trust.js';
import { CONFIG_FILE, readConfig } from './readers/read-config.js';

interface ListedServer extends Omit<McpServer, 'isWrong'> {
  /** The entry in guild.yaml, if its settings are not valid. */
  where?: Where;
}

/** Starts or asks every server that guild.yaml names. */
export async function mcpServers(root: string, env: Env): Promise<ListedServer[]> {
  const servers = await explained(async () =>
    (await mcpModule(packageFolder('plugins'))).listServers(hostOf(root, env)),
  );
  return servers.map(({ isWrong, ...server }) => (isWrong ? { ...server, where: placeOf(root, server.name) } : server));
}

function placeOf(root: string, server: string): Where {
  const read = realDisk().read(path.join(root, CONFIG_FILE));
  const text = read.kind === 'file' ? read.bytes.toString('utf8') : '';
  return new YamlPlaces(wholeFile(CONFIG_FILE, text)).key(['plugins', 'mcp', 'servers', server]);
}

/** `show` gets the address to open in a browser. Resolves when the login is stored. */
export async function mcpLogin(root: string, env: Env, name: string, show: (address: string) => void): Promise<void> {
  return explained(async () => (await mcpModule(packageFolder('plugins'))).loginTo(hostOf(root, env), name, show));
}

function hostOf(root: string, env: Env) {
  const disk = realDisk();
  requireWorkspace(disk, root);
  const { config, unreadable } = readConfig(disk, root, env);
  if (unreadable) throw new ProblemError(unreadable);
  if (config.plugins['mcp'] === undefined) return { workspace: root, env, config: {} };
  // Starting a server runs a command and sends a key, so only its trusted form is started.
  const { inForce } = openTrust(root, env, config);
  if (inForce.plugins['mcp'] === undefined)
    throw problemError('not_allowed', 'the MCP servers of this workspace are not trusted yet', {
      where: { file: CONFIG_FILE },
      hint: 'guild trust shows what they would start and asks',
    });
  const isSame = (): boolean => isUnchanged(root, inForce, 'mcp');
  return { workspace: root, env, config: inForce.plugins['mcp'], isUnchanged: isSame };
}

async function explained<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    if (thrown instanceof ProblemError) throw thrown;
    throw problemError('tool_failed', (thrown as Error).message, { where: { file: CONFIG_FILE } });
  }
}
