/** The MCP servers that guild.yaml names, outside of a run: to list them and to log in. */
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Env } from '../../domain/config/env.js';

export interface McpServer {
  name: string;
  /** Its command line or its address. */
  target: string;
  tools: string[];
  /** Tools that agents do not get, because they only run as background tasks of the server. */
  unusable?: string[];
  /** Why it did not list its tools. */
  problem?: string;
  /** Its settings in guild.yaml are not valid. */
  isWrong?: true;
  /** `.mcp.json` has it, but guild.yaml does not name it. */
  isOff?: true;
}

interface McpHost {
  workspace: string;
  env: Env;
  /** `plugins.mcp` of guild.yaml. */
  config: Record<string, unknown>;
  /** Whether the files that commands of servers name are those that a person has trusted. */
  isUnchanged?: () => boolean;
}

interface McpModule {
  listServers(host: McpHost): Promise<McpServer[]>;
  loginTo(host: McpHost, name: string, show: (address: string) => void): Promise<void>;
}

/** `builtIn`: the folder of the built-in plugins. Failures reject with a sentence for a person. */
export async function mcpModule(builtIn: string): Promise<McpModule> {
  return (await import(pathToFileURL(path.join(builtIn, 'mcp', 'manage.mjs')).href)) as McpModule;
}
