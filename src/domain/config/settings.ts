/**
 * The user's own settings, for every workspace. A workspace can tighten them, but not widen them.
 */
import { SANDBOX_SETTINGS, type SandboxSetting } from './config.js';

export interface UserSettings {
  /** Hosts that a well-known key may also be sent to, by the name of its variable. */
  keys: Record<string, string[]>;
  /** The plugins that may run anywhere; absent: the plugins of each trusted workspace. */
  plugins?: string[];
  /** The weakest setting that a workspace may have. */
  sandbox?: SandboxSetting;
}

/** The stricter of the two. If only one sets a limit, that limit counts. */
export function stricterSandbox(one?: SandboxSetting, two?: SandboxSetting): SandboxSetting | undefined {
  if (one === undefined || two === undefined) return one ?? two;
  return SANDBOX_SETTINGS.indexOf(one) <= SANDBOX_SETTINGS.indexOf(two) ? one : two;
}
