/**
 * Where the user's own state and settings are: outside every workspace, readable by the user alone.
 */
import os from 'node:os';
import path from 'node:path';

type Env = Readonly<Record<string, string | undefined>>;

/** `GUILD_STATE`, else `guild` in the state folder of the user. */
export function stateFolder(env: Env): string {
  const given = firstOf(env, 'GUILD_STATE');
  if (given !== undefined) return path.resolve(given);
  return path.join(firstOf(env, 'XDG_STATE_HOME') ?? path.join(home(env), '.local', 'state'), 'guild');
}

/** `GUILD_CONFIG`, else `guild` in the configuration folder of the user. */
export function settingsFolder(env: Env): string {
  const given = firstOf(env, 'GUILD_CONFIG');
  if (given !== undefined) return path.resolve(given);
  return path.join(firstOf(env, 'XDG_CONFIG_HOME') ?? path.join(home(env), '.config'), 'guild');
}

/** A program that opens a workspace may pass an environment without any of these. */
function firstOf(env: Env, name: string): string | undefined {
  const isOwn = ['GUILD_STATE', 'GUILD_CONFIG', 'XDG_STATE_HOME', 'XDG_CONFIG_HOME', 'HOME'].some((one) => env[one]);
  return (isOwn ? env[name] : process.env[name]) || undefined;
}

function home(env: Env): string {
  return firstOf(env, 'HOME') ?? os.homedir();
}
