/** What every action does: read its words, find the workspace, act, and say how it went. Exit codes: 0 done, 1 not, 2 wrong usage. */
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

export async function act(how, usage) {
  const asked = words();
  const workspace = findWorkspace();
  if (asked === undefined || workspace === undefined) {
    console.error(asked === undefined ? `usage: ${usage}` : 'this is not run inside a workspace; set GUILD_WORKSPACE');
    process.exitCode = 2;
    return;
  }
  const { success, content } = await how({ workspace, env: process.env, config: {} }, asked);
  (success ? console.log : console.error)(content);
  process.exitCode = success ? 0 : 1;
}

/** A message may begin with a dash: after the recipient only --thread is an option. */
function words() {
  const args = process.argv.slice(2);
  const at = args.indexOf('--thread');
  const thread = at >= 2 ? args.splice(at, 2)[1] : undefined;
  const { positionals } = parseArgs({ args: ['--', ...args], allowPositionals: true });
  const [recipient, ...rest] = positionals;
  const text = rest.join(' ');
  return recipient && text ? { recipient, text, ...(thread ? { thread } : {}) } : undefined;
}

/** As the program says, else the one this plugin lies in, else the one we stand in. */
function findWorkspace() {
  const is = (folder) => fs.existsSync(path.join(folder, 'guild.yaml')) || fs.existsSync(path.join(folder, 'tasks'));
  if (process.env.GUILD_WORKSPACE) return process.env.GUILD_WORKSPACE;
  const home = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..', '..');
  if (is(home)) return home;
  for (let at = process.cwd(); ; at = path.dirname(at)) {
    if (is(at)) return at;
    if (path.dirname(at) === at) return undefined;
  }
}
