/** Whether an agent's models can be called from here, before work is created for it or claimed. */
import { endpointOf } from '../../adapters/models/ai-sdk/endpoint.js';
import type { Agent } from '../../domain/agent/agent.js';
import type { Config } from '../../domain/config/config.js';
import type { Env } from '../../domain/config/env.js';
import { findProvider, splitModel } from '../../domain/config/providers.js';
import { problem, type Problem } from '../../domain/problem.js';
import { resolveModels } from '../../rules/scheduling/models.js';

interface Models {
  config: Pick<Config, 'model' | 'aliases' | 'providers'>;
  /** Agents that wait until the workspace is trusted. */
  held: ReadonlyMap<string, string>;
}

const OTHER_KEYS = 'if guild.yaml names no model, ANTHROPIC_API_KEY and GEMINI_API_KEY work too';

/** The problem of a new task if no model of its agent has a key. */
export function missingKey(agent: Agent, models: Models, env: Env): Problem | undefined {
  const missing = missingFor(agent, models, env);
  if (missing === undefined) return undefined;
  const file = agent.models.length > 0 ? agent.file : 'guild.yaml';
  return problem('model_failed', `${missing}: export it, or choose another model for ${agent.name} in ${file}`, {
    hint: `no task was created; ${OTHER_KEYS}`,
  });
}

/** For each missing key a problem that names the agents whose tasks wait for it. */
export function waitingForKeys(agents: Iterable<Agent>, models: Models, env: Env): Problem[] {
  const waiting = new Map<string, string[]>();
  for (const agent of agents) {
    const missing = missingFor(agent, models, env);
    if (missing !== undefined) waiting.set(missing, [...(waiting.get(missing) ?? []), agent.name]);
  }
  return [...waiting].map(([missing, names]) => {
    const others = names.length > MAX_NAMES ? ` and ${names.length - MAX_NAMES} more` : '';
    const whose = `${names.slice(0, MAX_NAMES).join(', ')}${others}`;
    return problem('model_failed', `${missing}, so this process leaves the tasks of ${whose} alone`, {
      hint: `export it and start again, or choose another model; ${OTHER_KEYS}`,
    });
  });
}

const MAX_NAMES = 3;

/**
 * What is missing for an agent, by its name. The answer is kept until the agent's file or the
 * models of `guild.yaml` change, because every pass asks.
 */
export function missingKeys(
  agents: { all(): ReadonlyMap<string, Agent> },
  models: Models,
  env: Env,
): (name: string) => string | undefined {
  const { config } = models;
  const kept = new WeakMap<Agent, Pick<Config, 'model' | 'aliases'> & { missing: string | undefined }>();
  return (name) => {
    const agent = agents.all().get(name);
    if (agent === undefined) return undefined;
    const { model, aliases } = config;
    const before = kept.get(agent);
    if (before?.model === model && before.aliases === aliases) return before.missing;
    const missing = missingFor(agent, models, env);
    kept.set(agent, { model, aliases, missing });
    return missing;
  };
}

/**
 * Undefined if a model of the agent has a key, or needs none. A provider that is not trusted yet
 * does not count: its key is not asked for.
 */
function missingFor(agent: Agent, { config, held }: Models, env: Env): string | undefined {
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
  return first;
}
