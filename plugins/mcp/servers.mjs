/**
 * The servers that a person named in guild.yaml. A server without "command" and "url" is defined in
 * the project's `.mcp.json`, which alone starts nothing. The program passes such a definition as
 * `project`, as a person has trusted it; the file itself is not read to start anything.
 */
import * as fs from 'node:fs';
import * as path from 'node:path';

const NAME = /^[A-Za-z][A-Za-z0-9_-]{0,31}$/;

/**
 * The servers to start or to connect to, by name. `wrong`: those whose settings are not valid, with
 * one sentence for a person; they do not affect the others.
 */
export function namedServers({ env, config }) {
  const servers = new Map();
  const wrong = new Map();
  for (const [name, settings] of Object.entries(config.servers ?? {})) {
    if (settings === false) continue;
    try {
      servers.set(name, settingsOf(name, settings, env));
    } catch (thrown) {
      wrong.set(name, thrown.message);
    }
  }
  return { servers, wrong };
}

function settingsOf(name, settings, env) {
  if (!NAME.test(name)) throw new Error(`${JSON.stringify(name)} is not a valid server name`);
  if (isDefined(settings)) return checked(name, settings);
  const { project, ...own } = settings === true ? {} : (settings ?? {});
  if (project === undefined || project === null)
    throw new Error(
      `the server ${name} needs either "command" (a list of words) or "url", or a definition in .mcp.json`,
    );
  return checked(name, { ...fromProject(project, env, name), ...own });
}

/** The servers of `.mcp.json` by name; none if the file is missing. */
export function projectServers(workspace) {
  let text;
  try {
    text = fs.readFileSync(path.join(workspace, '.mcp.json'), 'utf8');
  } catch {
    return {};
  }
  try {
    return JSON.parse(text).mcpServers ?? {};
  } catch (thrown) {
    throw new Error(`.mcp.json is not valid JSON: ${thrown.message}`, { cause: thrown });
  }
}

function isDefined(settings) {
  return settings?.command !== undefined || settings?.url !== undefined;
}

/** The command is a list of words; as in `.mcp.json` it may be one word with `args`. */
function checked(name, given) {
  const settings = typeof given.command === 'string' ? oneList(given) : given;
  const isCommand = Array.isArray(settings.command) && settings.command.length > 0;
  const isUrl = /^https?:\/\//.test(settings.url ?? '');
  if (isCommand === isUrl) throw new Error(`the server ${name} needs either "command" (a list of words) or "url"`);
  if (settings.env !== undefined && !Array.isArray(settings.env))
    throw new Error(`"env" of the server ${name} is a list of variable names; their values come from the environment`);
  return settings;
}

function oneList({ command, args = [], ...rest }) {
  return { ...rest, command: [command, ...args] };
}

/** `{command, args, env}` or `{type, url, headers}`, with `${NAME}` and `${NAME:-default}`. */
function fromProject({ command, args = [], env: values = {}, type, url, headers = {} }, env, name) {
  const fill = (text) =>
    String(text).replace(/\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}/g, (_, variable, otherwise) => {
      const value = env[variable] ?? otherwise;
      if (value === undefined) throw new Error(`.mcp.json: the server ${name} needs ${variable}, which is not set`);
      return value;
    });
  const filled = (map) => Object.fromEntries(Object.entries(map).map(([key, value]) => [key, fill(value)]));
  if (url !== undefined) return { url: fill(url), headers: filled(headers), ...(type === 'sse' ? { type } : {}) };
  return { command: [command, ...args].map(fill), values: filled(values) };
}
