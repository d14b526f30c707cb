/**
 * `settings.yaml` of the user. A mistake in it is reported: a limit that is silently ignored would
 * protect nothing.
 */
import type { UserSettings } from '../../domain/config/settings.js';
import { defined } from '../../domain/defined.js';
import type { Problem } from '../../domain/problem.js';
import { settingsYaml } from '../../schemas/settings.js';
import { readYaml } from '../schema/read-yaml.js';

export function parseSettings(text: string, file: string): { settings: UserSettings } | { problem: Problem } {
  const { value, problems } = readYaml(settingsYaml, file, text);
  if (value === undefined || problems[0] !== undefined) return { problem: problems[0]! };
  return {
    settings: defined<UserSettings>({ keys: value.keys ?? {}, plugins: value.plugins, sandbox: value.sandbox }),
  };
}
