/**
 * Agents that cannot work as they are written until the workspace is trusted: they list a tool of a
 * plugin, or a model of a provider, that may not act yet. They wait, so that no task fails for it.
 */
import { disk as realDisk } from '../../adapters/disk/index.js';
import { roster } from '../../adapters/roster/index.js';
import type { Agent } from '../../domain/agent/agent.js';
import type { Config } from '../../domain/config/config.js';
import { splitModel } from '../../domain/config/providers.js';
import { visible } from '../../domain/consent/visible.js';
import { ProblemError } from '../../domain/problem.js';
import { resolveModels } from '../../rules/scheduling/models.js';
import { KNOWN_TOOLS } from '../../tools/toolbox.js';
import { readConfig } from '../readers/read-config.js';
import { trustedConfig } from './acting.js';
import { peekTrust, type Trust } from './trust.js';

type Trusted = Pick<Trust, 'acting' | 'inForce' | 'record' | 'state'>;

export function heldAgents(
  trust: Trusted,
  config: Config,
  agents: { all(): ReadonlyMap<string, Agent> },
  hasTool: (name: string) => boolean,
): ReadonlyMap<string, string> {
  const held = new Map<string, string>();
  const { acting, inForce } = trust;
  const plugins = missing(acting.plugins, inForce.plugins);
  const providers = missing(acting.providers, inForce.providers);
  if (plugins.length === 0 && providers.length === 0) return held;
  for (const agent of agents.all().values()) {
    const provider = providersOf(agent, config).find((name) => providers.includes(name));
    const tool = agent.tools.find((name) => !KNOWN_TOOLS.has(name) && !hasTool(name));
    if (provider !== undefined) held.set(agent.name, whyNot(trust, 'providers', [provider]));
    else if (tool !== undefined && plugins.length > 0)
      held.set(agent.name, `its tool ${visible(tool)} is missing: ${whyNot(trust, 'plugins', plugins)}`);
  }
  return held;
}

/**
 * The agents that a process would hold if it opened the workspace now. Starts no plugin and writes
 * nothing. The tools of a plugin that may act are unknown here, so an agent may be left out.
 */
export function heldNow(root: string, env: Readonly<Record<string, string | undefined>>): ReadonlyMap<string, string> {
  try {
    const disk = realDisk();
    const { config, unreadable } = readConfig(disk, root, env);
    if (unreadable !== undefined) return new Map();
    const trust = peekTrust(root, env, config);
    const agents = roster(disk, root);
    agents.refresh();
    const isUnknown = Object.keys(trust.inForce.plugins).length > 0;
    return heldAgents(trust, trustedConfig(config, trust), agents, () => isUnknown);
  } catch (thrown) {
    // Every command that works reports it.
    if (thrown instanceof ProblemError) return new Map();
    throw thrown;
  }
}

function missing(wanted: object, allowed: object): string[] {
  return Object.keys(wanted).filter((name) => !Object.hasOwn(allowed, name));
}

function providersOf(agent: Agent, config: Config): string[] {
  return ['work', 'check', 'bid'].flatMap((role) => {
    const resolved = resolveModels(agent, config, role);
    return 'code' in resolved ? [] : resolved.models.map((model) => splitModel(model)?.provider ?? model);
  });
}

/** Says whether the person or the person's own settings have not allowed these. */
function whyNot({ record, state }: Trusted, kind: 'plugins' | 'providers', names: readonly string[]): string {
  const isSeen = state === 'trusted' && names.every((name) => Object.hasOwn(record.trusted?.acting[kind] ?? {}, name));
  const what = `${kind === 'plugins' ? (names.length > 1 ? 'plugins' : 'plugin') : 'provider'} ${visible(names.join(', '))}`;
  return isSeen
    ? `your own settings do not allow ${what}`
    : `${what} must be trusted first: guild trust shows and asks`;
}
