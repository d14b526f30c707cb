/**
 * Runs an action: parses its arguments, finds the workspace, acts and prints the outcome. Exit
 * codes: 0 success, 1 failure, 2 wrong usage.
 */
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

export async function act(action, usage) {
  const request = parseRequest();
  const workspace = findWorkspace();
  if (request === undefined || workspace === undefined) {
    console.error(request === undefined ? `usage: ${usage}` : 'not inside a workspace; set GUILD_WORKSPACE');
    process.exitCode = 2;
    return;
  }
  const { success, content } = await action({ workspace, env: process.env, config: {} }, request);
  (success ? console.log : console.error)(content);
  process.exitCode = success ? 0 : 1;
}

/** A message may start with a dash, so after the recipient only --thread is an option. */
function parseRequest() {
  const args = process.argv.slice(2);
  const at = args.indexOf('--thread');
  const thread = at >= 2 ? args.splice(at, 2)[1] : undefined;
  const { positionals } = parseArgs({ args: ['--', ...args], allowPositionals: true });
  const [recipient, ...rest] = positionals;
  const text = rest.join(' ');
  return recipient && text ? { recipient, text, ...(thread ? { thread } : {}) } : undefined;
}

/**
 * GUILD_WORKSPACE, else the workspace that contains this plugin, else that of the current folder.
 */
function findWorkspace() {
  const isWorkspace = (folder) =>
    fs.existsSync(path.join(folder, 'guild.yaml')) || fs.existsSync(path.join(folder, 'tasks'));
  if (process.env.GUILD_WORKSPACE) return process.env.GUILD_WORKSPACE;
  const home = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..', '..');
  if (isWorkspace(home)) return home;
  for (let folder = process.cwd(); ; folder = path.dirname(folder)) {
    if (isWorkspace(folder)) return folder;
    if (path.dirname(folder) === folder) return undefined;
  }
}
