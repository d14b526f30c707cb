/**
 * Where the user's own state and settings are: outside every workspace, readable by the user alone.
 */
import os from 'node:os';
import path from 'node:path';

type Env = Readonly<Record<string, string | undefined>>;

/** `GUILD_STATE`, else `guild` in the state folder of the user. */
export function stateFolder(env: Env): string {
  const from = placesIn(env);
  if (from['GUILD_STATE']) return path.resolve(from['GUILD_STATE']);
  return path.resolve(from['XDG_STATE_HOME'] || `${home(from)}/.local/state`, 'guild');
}

/** `GUILD_CONFIG`, else `guild` in the configuration folder of the user. */
export function settingsFolder(env: Env): string {
  const from = placesIn(env);
  if (from['GUILD_CONFIG']) return path.resolve(from['GUILD_CONFIG']);
  return path.resolve(from['XDG_CONFIG_HOME'] || `${home(from)}/.config`, 'guild');
}

/** A program that opens a workspace may pass an environment without any of these. */
function placesIn(env: Env): Env {
  const isOwn = env['HOME'] || env['GUILD_STATE'] || env['GUILD_CONFIG'];
  return isOwn || env['XDG_STATE_HOME'] || env['XDG_CONFIG_HOME'] ? env : process.env;
}

function home(env: Env): string {
  return env['HOME'] || os.homedir();
}
