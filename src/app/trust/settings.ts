/**
 * The user's own settings (`settings.yaml` and `policy.yaml` in the configuration folder), and the
 * rights that they remove from a workspace. They hold in every workspace, trusted or not.
 */
import path from 'node:path';
import { settingsFolder } from '../../adapters/trust/state-folder.js';
import type { Acting } from '../../domain/consent/trust.js';
import { misdirectedKey } from '../../domain/config/key-hosts.js';
import type { UserSettings } from '../../domain/config/settings.js';
import { problem, type Problem, ProblemError, problemError } from '../../domain/problem.js';
import { parseSettings } from '../../text/config/settings.js';
import { refuseForeign } from './own-places.js';
import { textIn } from './text-file.js';

type Env = Readonly<Record<string, string | undefined>>;

export interface OwnSettings extends UserSettings {
  /** The text of the user's own `policy.yaml`. */
  policy?: string;
}

/**
 * Throws a ProblemError if a file cannot be read, or is not the user's own: nothing is opened
 * without the user's limits.
 */
export function readSettings(root: string, env: Env): OwnSettings {
  const folder = settingsFolder(env);
  const file = path.join(folder, 'settings.yaml');
  const text = textOf(file);
  const read = text === undefined ? { settings: { keys: {} } } : parseSettings(text, file);
  if ('problem' in read) throw new ProblemError(read.problem);
  const policy = textOf(path.join(folder, 'policy.yaml'));
  if (text !== undefined || policy !== undefined) refuseForeign(root, folder, 'settings folder', 'GUILD_CONFIG');
  return { ...read.settings, policy };
}

/**
 * Narrows the rights of a workspace to the user's settings, and reports each right that it removed.
 */
export function withinSettings(inForce: Acting, settings: OwnSettings): { inForce: Acting; problems: Problem[] } {
  const problems: Problem[] = [];
  const plugins = Object.entries(inForce.plugins).filter(([name]) => {
    if (settings.plugins === undefined || settings.plugins.includes(name)) return true;
    problems.push(
      problem('not_allowed', `your own settings do not let the plugin ${name} run`, {
        where: { file: 'guild.yaml' },
        hint: 'add it to plugins in your settings.yaml, or remove it here',
      }),
    );
    return false;
  });
  const providers = Object.entries(inForce.providers).filter(([name, provider]) => {
    const wrong = misdirectedKey(provider, settings.keys);
    if (wrong === undefined) return true;
    const line = `keys: {${wrong.key}: [${wrong.host}]}`;
    problems.push(
      problem('not_allowed', `provider ${name} would send ${wrong.key} to ${wrong.host}, where it does not belong`, {
        where: { file: 'guild.yaml' },
        hint: `use a key of its own (key_env); or write in your own settings.yaml: ${line}`,
      }),
    );
    return false;
  });
  return {
    inForce: { ...inForce, plugins: Object.fromEntries(plugins), providers: Object.fromEntries(providers) },
    problems,
  };
}

function textOf(file: string): string | undefined {
  try {
    return textIn(file);
  } catch (thrown) {
    const { message } = thrown as Error;
    throw problemError('bad_file', `${file} cannot be read: ${message}`, { where: { file } });
  }
}
