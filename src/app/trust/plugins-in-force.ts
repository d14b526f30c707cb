/** The plugins that may be loaded. Every place that loads plugins takes them from here. */
import { packageFolder } from '../../adapters/starter/package-folder.js';
import { defined } from '../../domain/defined.js';
import { isAsTrusted, type Trust } from './trust.js';

type Env = Readonly<Record<string, string | undefined>>;

interface PluginsInForce {
  root: string;
  /** By name, with the settings that a person has trusted. */
  plugins: Record<string, Record<string, unknown>>;
  builtIn: string;
  /** The kept copy of the workspace's own code. */
  own?: string;
  /** Whether the files that the plugin's commands name are those that a person has trusted. */
  isUnchanged: (plugin: string) => boolean;
}

/** `trust` undefined: a replay, which loads none. */
export function pluginsInForce(root: string, env: Env, trust: Trust | undefined): PluginsInForce {
  return defined({
    root,
    plugins: trust?.inForce.plugins ?? {},
    builtIn: packageFolder('plugins'),
    own: trust?.code,
    isUnchanged: (plugin: string) => trust === undefined || isAsTrusted(trust, env, plugin),
  });
}
