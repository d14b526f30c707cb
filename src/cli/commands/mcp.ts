/** `guild mcp`: the MCP servers of the workspace. */
import { mcpLogin, mcpServers } from '../../app/mcp-servers.js';
import { problemError, whereText } from '../../domain/problem.js';
import { counted, EXIT, unknownWord, type Call, type Command } from '../args/command.js';

export const command: Command = {
  usage: [
    ['mcp list', 'start each server and list its tools'],
    ['mcp login <server>', 'log in to a server on the web, in your browser'],
  ],
  about: `
Servers are named under plugins.mcp.servers in guild.yaml. A server that only .mcp.json defines is off until guild.yaml names it.

The login is stored in your state directory, outside the workspace, and is renewed automatically.`,
  maxWords: 2,
  async run(call) {
    const [word, name] = call.words;
    if (word === 'list') return list(call);
    if (word !== 'login') throw unknownWord('mcp', word, ['list', 'login']);
    if (name === undefined) throw problemError('bad_usage', 'guild mcp login needs a server');
    await mcpLogin(call.root, call.io.env, name, (address) =>
      call.terminal.out(`Open this address in your browser and log in:\n\n  ${address}\n`),
    );
    call.terminal.say(`logged in to ${name}`);
    return EXIT.done;
  },
};

async function list({ root, io, terminal, json }: Call): Promise<number> {
  const servers = await mcpServers(root, io.env);
  const hasProblem = servers.some((server) => server.problem !== undefined);
  if (json) terminal.json(servers);
  else if (servers.length === 0) terminal.say('no MCP server is named in guild.yaml or .mcp.json');
  else {
    for (const { name, target, tools, unusable = [], problem: why, where, isOff } of servers) {
      const state = isOff ? 'off: name it in guild.yaml to use it' : (why ?? counted(tools.length, 'tool'));
      const head = target === '' ? terminal.bold(name) : `${terminal.bold(name)} ${terminal.dim(target)}`;
      const place = where === undefined ? '' : ` (${whereText(where)})`;
      terminal.out(`${head}: ${why ? terminal.colour('red', state) : state}${place}`);
      for (const tool of tools) terminal.out(`  ${tool}`);
      for (const tool of unusable)
        terminal.out(`  ${tool} ${terminal.dim('(not for agents: it only runs as a background task of the server)')}`);
    }
  }
  return hasProblem ? EXIT.problem : EXIT.done;
}
