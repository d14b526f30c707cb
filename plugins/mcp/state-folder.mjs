/** The user's own state folder: outside every workspace, and no sandbox shows it to a command. */
import * as os from 'node:os';
import * as path from 'node:path';

/** `GUILD_STATE`, else `guild` in the state folder of the user. */
export function stateFolder(env) {
  return path.resolve(env.GUILD_STATE || path.join(statesOf(env), 'guild'));
}

export function statesOf(env) {
  return env.XDG_STATE_HOME || path.join(env.HOME || os.homedir(), '.local', 'state');
}
