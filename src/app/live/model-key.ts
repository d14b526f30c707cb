/** Whether an agent's models can be called from here, before any work is created for it. */
import { endpointOf } from '../../adapters/models/ai-sdk/endpoint.js';
import type { Agent } from '../../domain/agent/agent.js';
import type { Config } from '../../domain/config/config.js';
import type { Env } from '../../domain/config/env.js';
import { findProvider, splitModel } from '../../domain/config/providers.js';
import { problem, type Problem } from '../../domain/problem.js';
import { resolveModels } from '../../rules/scheduling/models.js';

/**
 * The problem if no model of the agent has a key; undefined if one has, or needs none. A provider
 * that is not trusted yet does not count: its key is not asked for.
 */
export function missingKey(
  agent: Agent,
  { config, held }: { config: Pick<Config, 'model' | 'aliases' | 'providers'>; held: ReadonlyMap<string, string> },
  env: Env,
): Problem | undefined {
  if (held.has(agent.name)) return undefined;
  const resolved = resolveModels(agent, config);
  if ('code' in resolved) return undefined;
  let first: string | undefined;
  for (const model of resolved.models) {
    const provider = findProvider(splitModel(model)?.provider ?? model, config.providers);
    if (provider === undefined || provider.kind === 'scripted') return undefined;
    const { key, keyless, missing } = endpointOf(provider, env);
    if (key !== undefined || keyless) return undefined;
    first ??= missing;
  }
  const file = agent.models.length > 0 ? agent.file : 'guild.yaml';
  return problem('model_failed', `${first}: export it, or choose another model for ${agent.name} in ${file}`, {
    hint: 'no task was created; if guild.yaml names no model, ANTHROPIC_API_KEY and GEMINI_API_KEY work too',
  });
}
