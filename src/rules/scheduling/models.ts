/**
 * Which models an agent is to be asked with, in order: aliases are opened, lists flattened, and bare names that everybody
 * knows (`gpt-5`, `sonnet`, `llama3.2:3b`) given their provider. Whatever cannot be a model is a Problem before any call is made.
 */
import type { Agent, Mind, ModelSettings } from '../../domain/agent/agent.js';
import type { Config } from '../../domain/config/config.js';
import { nearestHint } from '../../domain/nearest.js';
import { problem, type Problem } from '../../domain/problem.js';
import { findProvider, providerNames, splitModel } from '../../domain/config/providers.js';
import { roleFacts, type Role } from '../../domain/task/role.js';

interface ResolvedModels {
  /** `provider/model`, at least one, none twice. */
  models: string[];
  /** The agent's own settings win over an alias's, an outer alias's over an inner one's, an earlier alias's over a later one's. */
  settings: ModelSettings;
}

type Names = Pick<Config, 'model' | 'aliases' | 'providers'>;

type Asked = Pick<Agent, 'name' | 'models' | 'settings' | 'file' | 'evaluator' | 'metacognition'>;

/** `role`: of the task that is worked on; without it, the models of the agent's own work. */
export function resolveModels(agent: Asked, config: Names, role?: Role): ResolvedModels | Problem {
  const mind = mindFor(agent, role);
  const own = mind?.model === undefined ? agent.models : [mind.model];
  const found = open(own.length > 0 ? own : [config.model], config, []);
  if ('code' in found) return { ...found, where: { file: own.length > 0 ? agent.file : 'guild.yaml' } };
  return {
    models: [...new Set(found.models)],
    // What the agent sets for its own model says nothing about another one.
    settings: { ...found.settings, ...(mind?.model === undefined ? agent.settings : {}), ...settingsOf(mind) },
  };
}

/** An agent works with its own models, judges with its metacognition, and weighs what is offered with its evaluator. */
export function mindFor(agent: Pick<Agent, 'evaluator' | 'metacognition'>, role: Role | undefined): Mind | undefined {
  const mind = role === undefined ? undefined : roleFacts(role).mind;
  return mind && agent[mind];
}

function settingsOf({ temperature, maxTokens }: Mind = {}): ModelSettings {
  return { ...(temperature === undefined ? {} : { temperature }), ...(maxTokens === undefined ? {} : { maxTokens }) };
}

function open(names: readonly string[], config: Names, via: string[]): ResolvedModels | Problem {
  const models: string[] = [];
  let settings: ModelSettings = {};
  for (const name of names) {
    const found = openOne(name.trim(), config, via);
    if ('code' in found) return found;
    models.push(...found.models);
    settings = { ...found.settings, ...settings };
  }
  return { models, settings };
}

function openOne(name: string, config: Names, via: string[]): ResolvedModels | Problem {
  if (via.includes(name))
    return problem('cycle', `the model alias ${name} leads back to itself: ${[...via, name].join(' → ')}`);
  if (Object.hasOwn(config.aliases, name)) {
    const alias = config.aliases[name]!;
    const inner = open(alias.models, config, [...via, name]);
    return 'code' in inner ? inner : { models: inner.models, settings: { ...inner.settings, ...alias.settings } };
  }
  if (isDefault(name)) {
    if (isDefault(config.model))
      return problem('unknown_model', 'no model is set', { hint: 'set "model:" in guild.yaml, such as openai/gpt-5' });
    return openOne(config.model.trim(), config, [...via, name]);
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
        `providers are ${providerNames(config.providers).join(', ')}; guild.yaml can name others`,
      ),
    );
  }
  const own = findProvider(name, config.providers);
  if (own?.kind === 'scripted') return `${name}/script`;
  if (own) return unknown(`${name} is a provider, not a model`, `name one of its models: ${name}/…`);
  const known = wellKnown(name);
  if (known) return known;
  const others = `name it as provider/model; providers are ${providerNames(config.providers).join(', ')}`;
  return unknown(
    `there is no model ${name}`,
    nearestHint(name, [...Object.keys(config.aliases), ...Object.keys(SHORT)], others),
  );
}

/** `openai:gpt-5`, as some tools write it; `llama3.2:3b` is not that. */
function splitAtColon(name: string, config: Names): { provider: string; model: string } | undefined {
  const [provider, ...model] = name.split(':');
  return model.join(':') !== '' && findProvider(provider!, config.providers)
    ? { provider: provider!, model: model.join(':') }
    : undefined;
}

/** Short names of Claude Code's agent files. */
const SHORT: Record<string, string> = {
  sonnet: 'anthropic/claude-sonnet-4-5',
  opus: 'anthropic/claude-opus-4-5',
  haiku: 'anthropic/claude-haiku-4-5',
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
