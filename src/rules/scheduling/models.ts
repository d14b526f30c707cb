/**
 * Resolves the models of an agent, in order of preference: expands aliases, flattens lists and adds
 * the provider to well-known bare names (`gpt-5`, `sonnet`, `llama3.2:3b`). An invalid name is a
 * Problem before any call is made.
 */
import { defined } from '../../domain/defined.js';
import {
  isForeignFormat,
  type Agent,
  type AgentFormat,
  type Mind,
  type ModelSettings,
} from '../../domain/agent/agent.js';
import type { Config } from '../../domain/config/config.js';
import { nearestHint } from '../../domain/nearest.js';
import { problem, type Problem } from '../../domain/problem.js';
import { findProvider, providerNames, splitModel } from '../../domain/config/providers.js';
import { roleFacts, type Role } from '../../domain/task/role.js';

interface ResolvedModels {
  /** `provider/model`, at least one, without duplicates. */
  models: string[];
  /**
   * Precedence: the agent, then outer aliases over inner ones, then earlier aliases over later
   * ones.
   */
  settings: ModelSettings;
}

type Names = Pick<Config, 'model' | 'aliases' | 'providers'>;

type ModelUser = Pick<Agent, 'name' | 'models' | 'settings' | 'file' | 'evaluator' | 'metacognition'> & {
  format?: AgentFormat;
};

/** `role`: the role of the task; without it, the models for the agent's own work. */
export function resolveModels(agent: ModelUser, config: Names, role?: Role): ResolvedModels | Problem {
  const mind = mindFor(agent, role);
  const named = mind?.model === undefined ? agent.models : [mind.model];
  const own = unknownModel(agent, config) === undefined ? named : [];
  const resolved = expandAll(own.length > 0 ? own : [config.model], config, []);
  if ('code' in resolved) return { ...resolved, where: { file: own.length > 0 ? agent.file : 'guild.yaml' } };
  return {
    models: [...new Set(resolved.models)],
    // The agent's settings are for its own model and do not apply to another one.
    settings: { ...resolved.settings, ...(mind?.model === undefined ? agent.settings : {}), ...settingsOf(mind) },
  };
}

/**
 * Reports the model name of an agent that was written for another program. The name has a meaning
 * there, so the agent uses the default of the workspace here. Undefined for every other agent.
 */
export function unknownModel({ format, models, file }: ModelUser, config: Names): Problem | undefined {
  if (format === undefined || !isForeignFormat(format) || models.length === 0) return undefined;
  const resolved = expandAll(models, config, []);
  return 'code' in resolved && resolved.code === 'unknown_model' ? { ...resolved, where: { file } } : undefined;
}

/**
 * The evaluator for bids, the metacognition for goal checks; undefined for the agent's own work.
 */
export function mindFor(agent: Pick<Agent, 'evaluator' | 'metacognition'>, role: Role | undefined): Mind | undefined {
  const mind = role === undefined ? undefined : roleFacts(role).mind;
  return mind && agent[mind];
}

function settingsOf({ temperature, maxTokens }: Mind = {}): ModelSettings {
  return defined<ModelSettings>({ temperature, maxTokens });
}

function expandAll(names: readonly string[], config: Names, via: string[]): ResolvedModels | Problem {
  const models: string[] = [];
  let settings: ModelSettings = {};
  for (const name of names) {
    const expanded = expand(name.trim(), config, via);
    if ('code' in expanded) return expanded;
    models.push(...expanded.models);
    settings = { ...expanded.settings, ...settings };
  }
  return { models, settings };
}

function expand(name: string, config: Names, via: string[]): ResolvedModels | Problem {
  if (via.includes(name))
    return problem('cycle', `the model alias ${name} leads back to itself: ${[...via, name].join(' → ')}`);
  if (Object.hasOwn(config.aliases, name)) {
    const alias = config.aliases[name]!;
    const inner = expandAll(alias.models, config, [...via, name]);
    return 'code' in inner ? inner : { models: inner.models, settings: { ...inner.settings, ...alias.settings } };
  }
  if (isDefault(name)) {
    if (isDefault(config.model))
      return problem('unknown_model', 'no model is set', { hint: 'set "model:" in guild.yaml, such as openai/gpt-5' });
    return expand(config.model.trim(), config, [...via, name]);
  }
  const full = withProvider(name, config);
  return typeof full === 'string' ? { models: [full], settings: {} } : full;
}

function isDefault(name: string): boolean {
  return name === '' || name === 'inherit' || name === 'default';
}

function withProvider(name: string, config: Names): string | Problem {
  const parts = splitModel(name) ?? splitAtColon(name, config);
  if (parts) {
    if (findProvider(parts.provider, config.providers)) return `${parts.provider}/${parts.model}`;
    return unknown(
      `there is no provider ${parts.provider}`,
      nearestHint(
        parts.provider,
        providerNames(config.providers),
        `providers are ${providerNames(config.providers).join(', ')}; guild.yaml can add others`,
      ),
    );
  }
  const own = findProvider(name, config.providers);
  if (own?.kind === 'scripted') return `${name}/script`;
  if (own) return unknown(`${name} is a provider, not a model`, `add one of its models: ${name}/…`);
  const full = wellKnown(name);
  if (full) return full;
  const others = `name it as provider/model; providers are ${providerNames(config.providers).join(', ')}`;
  return unknown(
    `there is no model ${name}`,
    nearestHint(name, [...Object.keys(config.aliases), ...Object.keys(SHORT)], others),
  );
}

/** Splits `openai:gpt-5`, as some tools write it, but not `llama3.2:3b`. */
function splitAtColon(name: string, config: Names): { provider: string; model: string } | undefined {
  const [provider, ...model] = name.split(':');
  return model.join(':') !== '' && findProvider(provider!, config.providers)
    ? { provider: provider!, model: model.join(':') }
    : undefined;
}

/** Short names in the agent files of Claude Code, as that program resolves them (November 2026). */
const SHORT: Record<string, string> = {
  fable: 'anthropic/claude-fable-5-1',
  opus: 'anthropic/claude-opus-5-5',
  sonnet: 'anthropic/claude-sonnet-5-5',
  haiku: 'anthropic/claude-haiku-5-5',
};

function wellKnown(name: string): string | undefined {
  if (Object.hasOwn(SHORT, name)) return SHORT[name];
  if (/^(gpt-|chatgpt-|codex-|o\d(-|$))/.test(name)) return `openai/${name}`;
  // Anthropic's ids have no dots: claude-sonnet-4.5 is claude-sonnet-4-5.
  if (/^claude-/.test(name)) return `anthropic/${name.replaceAll('.', '-')}`;
  if (/^(gemini|gemma)-/.test(name)) return `google/${name}`;
  if (/^[a-z0-9._-]+:[a-z0-9._-]+$/i.test(name)) return `ollama/${name}`;
  return undefined;
}

function unknown(message: string, hint: string | undefined): Problem {
  return problem('unknown_model', message, hint === undefined ? {} : { hint });
}
