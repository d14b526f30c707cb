/**
 * Agents that cannot work as they are written until the workspace is trusted: they list a tool of a
 * plugin, or a model of a provider, that may not act yet. They wait, so that no task fails for it.
 */
import type { Agent } from '../../domain/agent/agent.js';
import type { Config } from '../../domain/config/config.js';
import { splitModel } from '../../domain/config/providers.js';
import { resolveModels } from '../../rules/scheduling/models.js';
import { KNOWN_TOOLS } from '../../tools/toolbox.js';
import type { Trust } from './trust.js';

const WHY = 'it needs a plugin or provider that may not act: guild trust, or your own settings';

export function heldAgents(
  { acting, inForce }: Pick<Trust, 'acting' | 'inForce'>,
  config: Config,
  agents: { all(): ReadonlyMap<string, Agent> },
  pluginTools: readonly string[],
): ReadonlyMap<string, string> {
  const isMissing = Object.keys(acting.plugins).some((name) => !Object.hasOwn(inForce.plugins, name));
  const isLess = Object.keys(acting.providers).some((name) => !Object.hasOwn(inForce.providers, name));
  if (!isMissing && !isLess) return new Map();
  const tools = new Set([...KNOWN_TOOLS, ...pluginTools]);
  const isTaken = (model: string): boolean => {
    const provider = splitModel(model)?.provider ?? model;
    return Object.hasOwn(acting.providers, provider) && !Object.hasOwn(inForce.providers, provider);
  };
  const isHeld = (agent: Agent): boolean =>
    (isMissing && agent.tools.some((tool) => !tools.has(tool))) ||
    ['work', 'check', 'bid'].some((role) => {
      const resolved = resolveModels(agent, config, role);
      return !('code' in resolved) && resolved.models.some(isTaken);
    });
  return new Map([...agents.all().values()].filter(isHeld).map(({ name }) => [name, WHY]));
}
