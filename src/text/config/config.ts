/**
 * `guild.yaml`. Every key has a default, so an empty or missing file is valid. A wrong value is
 * reported and replaced by its default, so that the program can always run far enough to report it.
 */
import {
  DEFAULT_COORDINATION,
  DEFAULT_LIMITS,
  DEFAULT_NOTE_BYTES,
  type ChannelRules,
  type Config,
  type ConfiguredSchedule,
  type Coordination,
  type ModelAlias,
  type Provider,
  type Webhook,
} from '../../domain/config/config.js';
import type { Env } from '../../domain/config/env.js';
import type { Problem } from '../../domain/problem.js';
import { readPriority } from '../../domain/task/priority.js';
import { budgetOf, count, durationMs } from '../../schemas/amounts.js';
import { guildYaml, type GuildYaml } from '../../schemas/guild-yaml.js';
import { readYaml } from '../schema/read-yaml.js';
import { defined } from '../../domain/defined.js';
import { toNotify, toNotifyChannels } from './notify.js';
import { eachOf, modelSettings, textList, textOf } from '../schema/values.js';

export interface ConfigParsed {
  config: Config;
  problems: Problem[];
}

/** `env` decides which provider's model is the default if the file names none. */
export function parseConfig(text: string, file: string, env: Env = {}): ConfigParsed {
  const { value, problems } = readYaml(guildYaml, file, text);
  return { config: value === undefined ? defaultConfig(env) : toConfig(value, env), problems };
}

function defaultConfig(env: Env = {}): Config {
  return toConfig({}, env);
}

function toConfig(file: GuildYaml, env: Env): Config {
  const { timeouts = {}, limits = {}, inbox = {} } = file;
  const config: Config = {
    model: textOf(file.model) ?? defaultModel(env),
    aliases: eachOf(file.models, toAlias),
    providers: eachOf(file.providers, toProvider),
    prices: file.prices ?? {},
    windows: eachOf(file.windows, (tokens) => count(tokens)!),
    timeouts: {
      callMs: durationMs(timeouts.call) ?? 600_000,
      stallMs: durationMs(timeouts.stall) ?? 60_000,
      tries: count(timeouts.tries) ?? 4,
    },
    limits: {
      parallel: count(limits.parallel) ?? DEFAULT_LIMITS.parallel,
      depth: count(limits.depth) ?? DEFAULT_LIMITS.depth,
      attempts: count(limits.attempts) ?? DEFAULT_LIMITS.attempts,
      turns: count(limits.turns) ?? DEFAULT_LIMITS.turns,
      maxTaskBytes: count(limits.max_task_bytes) ?? DEFAULT_LIMITS.maxTaskBytes,
      maxResultBytes: count(limits.max_result_bytes) ?? DEFAULT_LIMITS.maxResultBytes,
      children: count(limits.children) ?? DEFAULT_LIMITS.children,
      tasksPerMinute: count(limits.tasks_per_minute) ?? DEFAULT_LIMITS.tasksPerMinute,
      calls: count(limits.calls) ?? DEFAULT_LIMITS.calls,
      argumentBytes: count(limits.argument_bytes) ?? DEFAULT_LIMITS.argumentBytes,
      requests: count(limits.requests) ?? DEFAULT_LIMITS.requests,
    },
    budget: budgetOf(file.budget),
    search: file.search ?? 'lexical',
    allowOutward: textList(file.allow_outward) ?? [],
    rescanMs: durationMs(file.watch?.rescan) ?? 4000,
    store: file.store ?? 'files',
    git: toGit(file.git),
    inbox: defined({ admit: inbox.admit ?? 'auto', agent: textOf(inbox.agent) }),
    plugins: toPlugins(file.plugins),
    coordination: toCoordination(file.coordination),
    channels: eachOf(file.channels, toChannel),
    webhooks: eachOf(file.webhooks, toWebhook),
    schedules: eachOf(file.schedules, (schedule) => toSchedule(schedule, file.timezone)),
    notifyBy: toNotifyChannels(file.notify),
  };
  return {
    ...config,
    ...defined({
      sandbox: file.sandbox,
      defaultAgent: textOf(file.default_agent),
      planner: textOf(file.planner),
      checkins: file.checkins,
      timezone: file.timezone,
      notify: file.notify === undefined ? undefined : toNotify(file.notify, file.timezone),
    }),
  };
}

/** The default model: that of the first listed variable that is set, or the first in the list. */
function defaultModel(env: Env): string {
  return DEFAULT_MODELS.find(([key]) => (env[key] ?? '') !== '')?.[1] ?? DEFAULT_MODELS[0]![1];
}

const DEFAULT_MODELS: [string, string][] = [
  ['OPENAI_BASE_URL', 'openai/gpt-6.1-terra'],
  ['OPENAI_API_KEY', 'openai/gpt-6.1-terra'],
  ['ANTHROPIC_API_KEY', 'anthropic/claude-sonnet-5-5'],
  ['GOOGLE_GENERATIVE_AI_API_KEY', 'google/gemini-3.8-flash'],
  ['GEMINI_API_KEY', 'google/gemini-3.8-flash'],
];

type Entry<K extends keyof GuildYaml> = NonNullable<GuildYaml[K]>[string & keyof NonNullable<GuildYaml[K]>];

function toAlias(alias: Entry<'models'>): ModelAlias {
  if (typeof alias === 'string' || Array.isArray(alias)) return { models: textList(alias)!, settings: {} };
  return { models: textList(alias.model)!, settings: modelSettings(alias) };
}

function toProvider({ kind = 'openai-compatible', ...file }: Entry<'providers'>): Provider {
  return defined<Provider>({
    kind,
    baseUrl: file.base_url,
    keyEnv: textOf(file.key_env),
    api: file.api,
    script: textOf(file.script) ?? (kind === 'scripted' ? 'script.yaml' : undefined),
    headers: Object.keys(file.headers ?? {}).length === 0 ? undefined : file.headers,
  });
}

/** `false` turns history off. */
function toGit(git: GuildYaml['git'] = true): Config['git'] {
  if (typeof git === 'boolean') return { enabled: git };
  return defined({ enabled: git.enabled ?? true, author: git.author, branch: git.branch });
}

/** `[slack]`, or `{slack: {…}}` with settings for each; `false` leaves one out. */
function toPlugins(plugins: GuildYaml['plugins'] = []): Config['plugins'] {
  if (typeof plugins === 'string' || Array.isArray(plugins))
    return Object.fromEntries(textList(plugins)!.map((name) => [name, {}]));
  const used = Object.entries(plugins).filter(([, settings]) => settings !== false);
  return Object.fromEntries(
    used.map(([name, settings]) => [name, typeof settings === 'object' ? (settings ?? {}) : {}]),
  );
}

/** A coordinator makes it hierarchical, unless the file says otherwise. */
function toCoordination(file: GuildYaml['coordination'] = {}): Coordination {
  return defined<Coordination>({
    mode: file.mode ?? (file.coordinator === undefined ? 'mesh' : 'hierarchical'),
    coordinator: textOf(file.coordinator),
    offerMs: durationMs(file.offer) ?? DEFAULT_COORDINATION.offerMs,
    helpMs: durationMs(file.help) ?? DEFAULT_COORDINATION.helpMs,
    bidMs: durationMs(file.bid) ?? DEFAULT_COORDINATION.bidMs,
    voteMs: durationMs(file.vote) ?? DEFAULT_COORDINATION.voteMs,
    leaseMs: durationMs(file.lease) ?? DEFAULT_COORDINATION.leaseMs,
  });
}

function toSchedule(file: Entry<'schedules'>, zone: string | undefined): ConfiguredSchedule {
  return defined<ConfiguredSchedule>({
    cron: file.schedule,
    timezone: file.timezone ?? zone,
    missed: file.missed === 'once' ? 'once' : undefined,
    task: file.task,
    to: textOf(file.agent),
    priority: readPriority(file.priority),
  });
}

function toWebhook({ kind = 'standard', secret_env: secretEnv, agent }: Entry<'webhooks'>): Webhook {
  return defined<Webhook>({ kind, secretEnv, agent: textOf(agent) });
}

function toChannel(file: Entry<'channels'>): ChannelRules {
  return defined<ChannelRules>({
    writers: textList(file?.writers),
    readers: textList(file?.readers),
    ttlMs: durationMs(file?.ttl),
    maxBytes: count(file?.max_bytes) ?? DEFAULT_NOTE_BYTES,
  });
}
