/** For `guild mcp`: lists the servers of a workspace and logs in to one. */
import { connection } from './connect.mjs';
import { isUsable } from './index.mjs';
import { login } from './login.mjs';
import { namedServers, projectServers } from './servers.mjs';
import { keptTools } from './tool-cache.mjs';

/**
 * Asks every named server for its tools now. `isOff`: `.mcp.json` has it, and guild.yaml does not
 * name it. `isWrong`: its settings are not valid.
 */
export async function listServers(host) {
  const { servers, wrong } = namedServers(host);
  const shown = await Promise.all(
    [...servers].map(async ([name, settings]) => {
      const kept = keptTools(host, name, settings);
      kept.forget();
      const link = connection(name, settings, host);
      try {
        const { tools } = await link.tools();
        const namesOf = (some) => some.map((tool) => tool.name);
        const unusable = namesOf(tools.filter((tool) => !isUsable(tool)));
        return { name, target: targetOf(settings), tools: namesOf(tools.filter(isUsable)), unusable };
      } catch (thrown) {
        return { name, target: targetOf(settings), tools: [], problem: thrown.message };
      } finally {
        await link.close();
      }
    }),
  );
  return [
    ...shown,
    ...[...wrong].map(([name, problem]) => ({ name, target: '', tools: [], problem, isWrong: true })),
    ...serversOff(host.workspace, (name) => servers.has(name) || wrong.has(name)),
  ];
}

function serversOff(workspace, isNamed) {
  try {
    const others = Object.entries(projectServers(workspace)).filter(([name]) => !isNamed(name));
    return others.map(([name, definition]) => ({
      name,
      target: definition?.url ?? definition?.command ?? '',
      tools: [],
      isOff: true,
    }));
  } catch (thrown) {
    return [{ name: '.mcp.json', target: '', tools: [], problem: thrown.message }];
  }
}

export async function loginTo(host, name, show) {
  const { servers, wrong } = namedServers(host);
  if (wrong.has(name)) throw new Error(wrong.get(name));
  const settings = servers.get(name);
  if (settings === undefined) throw new Error(`guild.yaml names no MCP server ${name} under plugins.mcp.servers`);
  if (settings.url === undefined)
    throw new Error(`${name} is a program on this machine; only a server with a url has a login`);
  await login(settings.url, host.env, show);
  keptTools(host, name, settings).forget();
}

function targetOf({ url, command }) {
  return url ?? command.join(' ');
}
