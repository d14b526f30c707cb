/**
 * `guild.yaml`: models, providers, limits. Every field has a default, so an empty or missing file is a good one. What is wrong is
 * reported and its default stands in, so that the rest of the program can always run far enough to show the report.
 */
import {
  DEFAULT_COORDINATION,
  DEFAULT_LIMITS,
  DEFAULT_NOTE_BYTES,
  type ChannelRules,
  type Config,
  type Coordination,
  type Limits,
  type ModelAlias,
  type Provider,
} from '../../domain/config/config.js';
import { type Price } from '../../domain/budget/price.js';
import { isSafeId } from '../../domain/task/id.js';
import { OWN_CHANNELS } from '../../domain/coordination/note.js';
import { problem, type Problem } from '../../domain/problem.js';
import { count } from '../lines/amounts.js';
import { YamlPlaces, loadYaml, wholeFile } from '../yaml/parse.js';
import { Fields, inOrder, isMapping, type Found } from '../yaml/fields.js';

export interface ConfigParsed {
  config: Config;
  problems: Problem[];
  warnings: Problem[];
}

type Env = Record<string, string | undefined>;

/** `env` only decides which provider's model is the default where the file names none. */
export function parseConfig(text: string, file: string, env: Env = {}): ConfigParsed {
  const config = defaultConfig(env);
  const source = wholeFile(file, text);
  const report = { places: new YamlPlaces(source), problems: [] as Problem[], warnings: [] as Problem[] };
  const yaml = loadYaml(source);
  if (!yaml.ok) report.problems.push(yaml.problem);
  else if (isMapping(yaml.value)) readConfig(new Fields(yaml.value, [], report), config);
  else if (yaml.value !== null) {
    const hint = 'write lines such as "model: openai/gpt-5"';
    report.problems.push(problem('bad_field', 'this file must be a mapping', { where: report.places.value([]), hint }));
  }
  return { config, problems: inOrder(report.problems), warnings: inOrder(report.warnings) };
}

export function defaultConfig(env: Env = {}): Config {
  return {
    model: DEFAULT_MODELS.find(([key]) => (env[key] ?? '') !== '')?.[1] ?? DEFAULT_MODELS[0]![1],
    aliases: {},
    providers: {},
    prices: {},
    windows: {},
    timeouts: { callMs: 600_000, stallMs: 60_000, tries: 4 },
    limits: { ...DEFAULT_LIMITS },
    budget: {},
    search: 'lexical',
    rescanMs: 4000,
    store: 'files',
    git: { enabled: true },
    inbox: { admit: 'auto' },
    plugins: {},
    coordination: { ...DEFAULT_COORDINATION },
    channels: {},
  };
}

/** The model for whoever has only set a key, or the address of a server. */
const DEFAULT_MODELS: [string, string][] = [
  ['OPENAI_BASE_URL', 'openai/gpt-5-mini'],
  ['OPENAI_API_KEY', 'openai/gpt-5-mini'],
  ['ANTHROPIC_API_KEY', 'anthropic/claude-sonnet-4-5'],
  ['GOOGLE_GENERATIVE_AI_API_KEY', 'google/gemini-2.5-flash'],
  ['GEMINI_API_KEY', 'google/gemini-2.5-flash'],
];

function readConfig(fields: Fields, config: Config): void {
  config.model = fields.text('model') ?? config.model;
  config.aliases = each(fields, ['models', 'aliases'], readAlias);
  config.providers = each(fields, ['providers'], readProvider);
  config.prices = each(fields, ['prices'], readPrice);
  config.windows = each(fields, ['windows'], readWindow);
  readTimeouts(fields.mapping('timeouts'), config);
  readLimits(fields.mapping('limits'), config.limits);
  config.budget = fields.budget();
  const agent = fields.text('default_agent');
  if (agent !== undefined) config.defaultAgent = agent;
  config.search = fields.choice('search', ['lexical', 'semantic']) ?? config.search;
  const watch = fields.mapping('watch');
  config.rescanMs = watch?.duration('rescan') ?? config.rescanMs;
  watch?.noMore();
  config.store = fields.choice('store', ['files']) ?? config.store;
  config.git = readGit(fields);
  const inbox = fields.mapping('inbox');
  const reader = inbox?.text('agent');
  config.inbox = { admit: inbox?.choice('admit', ['auto', 'ask']) ?? 'auto', ...(reader ? { agent: reader } : {}) };
  inbox?.noMore();
  config.plugins = readPlugins(fields);
  const planner = fields.text('planner');
  if (planner !== undefined) config.planner = planner;
  const checkins = fields.flag('checkins');
  if (checkins !== undefined) config.checkins = checkins;
  config.coordination = readCoordination(fields.mapping('coordination'));
  config.channels = each(fields, ['channels'], readChannel, true);
  fields.noMore();
}

/** A coordinator makes it hierarchical, unless the file says otherwise. */
function readCoordination(given: Fields | undefined): Coordination {
  const coordinator = given?.text('coordinator');
  const mode = given?.choice('mode', ['hierarchical', 'mesh']) ?? (coordinator ? 'hierarchical' : 'mesh');
  const offerMs = given?.duration('offer') ?? DEFAULT_COORDINATION.offerMs;
  const helpMs = given?.duration('help') ?? DEFAULT_COORDINATION.helpMs;
  const bidMs = given?.duration('bid') ?? DEFAULT_COORDINATION.bidMs;
  const voteMs = given?.duration('vote') ?? DEFAULT_COORDINATION.voteMs;
  given?.noMore();
  return { mode, ...(coordinator ? { coordinator } : {}), offerMs, helpMs, bidMs, voteMs };
}

function readChannel(found: Found, fields: Fields): ChannelRules | undefined {
  const name = String(found.path.at(-1));
  if (!isSafeId(name) || OWN_CHANNELS.some((own) => own === name) || name === 'team') {
    const why = isSafeId(name) ? 'is a channel of the program itself' : 'cannot be the name of a channel';
    fields.error(
      'bad_name',
      `"${name}" ${why}`,
      found.path,
      'key',
      'letters, digits, "-" and "_", and another name than the program\'s own',
    );
    return undefined;
  }
  const given = fields.mappingOf(found.value === null ? { ...found, value: {} } : found);
  if (given === undefined) return undefined;
  const writers = given.texts('writers');
  const readers = given.texts('readers');
  const ttlMs = given.duration('ttl');
  const maxBytes = given.whole('max_bytes', 1) ?? DEFAULT_NOTE_BYTES;
  given.noMore();
  return { ...(writers ? { writers } : {}), ...(readers ? { readers } : {}), ...(ttlMs ? { ttlMs } : {}), maxBytes };
}

const PLUGIN_NAME = /^[A-Za-z0-9][\w-]{0,63}$/;

/** `[slack]`, or `{slack: {…}}` with settings for each. */
function readPlugins(fields: Fields): Config['plugins'] {
  const found = fields.take('plugins');
  if (found === undefined) return {};
  const given: [string, Found][] = isMapping(found.value)
    ? Object.entries(found.value).map(([name, value]) => [name, { value, path: [...found.path, name] }])
    : (fields.textsOf(found) ?? []).map((name) => [name, { value: null, path: found.path }]);
  const plugins: [string, Record<string, unknown>][] = [];
  for (const [name, { value, path }] of given) {
    if (!PLUGIN_NAME.test(name)) fields.wrong({ value, path }, 'the name of a folder under plugins/');
    else if (value === null || value === true || isMapping(value)) plugins.push([name, isMapping(value) ? value : {}]);
    else if (value !== false) fields.wrong({ value, path }, 'a mapping of settings');
  }
  return Object.fromEntries(plugins);
}

/** `false` turns history off; a mapping says more. */
function readGit(fields: Fields): Config['git'] {
  const found = fields.take('git');
  if (found === undefined) return { enabled: true };
  if (typeof found.value === 'boolean') return { enabled: found.value };
  if (!isMapping(found.value)) fields.wrong(found, 'true, false, or a mapping with "enabled" and "author"');
  const given = isMapping(found.value) ? fields.mappingOf(found) : undefined;
  const enabled = given?.flag('enabled') ?? true;
  const author = given?.text('author');
  if (author !== undefined && !/^[^<>\n]+<[^<>\s]+>\s*$/.test(author))
    given?.wrong(
      { value: author, path: [...found.path, 'author'] },
      'a name and an address, such as "Ada <ada@example.org>"',
    );
  given?.noMore();
  return { enabled, ...(author === undefined ? {} : { author }) };
}

/** A mapping from names of the user's own to something that `read` understands; what it does not is left out. */
function each<T>(
  fields: Fields,
  keys: string[],
  read: (found: Found, fields: Fields) => T | undefined,
  empty = false,
): Record<string, T> {
  const all: [string, T][] = [];
  const mapping = fields.mapping(...keys);
  for (const [name, found] of mapping?.entries(empty) ?? []) {
    const value = read(found, mapping!);
    if (value !== undefined) all.push([name, value]);
  }
  return Object.fromEntries(all);
}

function readAlias(found: Found, fields: Fields): ModelAlias | undefined {
  if (!isMapping(found.value)) {
    const models = fields.textsOf(found);
    return models && { models, settings: {} };
  }
  const alias = new Fields(found.value, found.path, fields.report);
  const models = alias.texts('model', 'models');
  const settings = alias.modelSettings();
  alias.noMore();
  if (models === undefined) fields.wrong(found, 'a model, a list of models, or a mapping with "model"');
  return models && { models, settings };
}

const KINDS = ['openai', 'anthropic', 'google', 'openai-compatible', 'scripted'] as const;

function readProvider(found: Found, fields: Fields): Provider | undefined {
  const given = fields.mappingOf(found);
  if (given === undefined) return undefined;
  const baseUrl = given.text('base_url');
  const kind = given.choice('kind', KINDS) ?? (baseUrl === undefined ? undefined : 'openai-compatible');
  const provider: Partial<Provider> = { kind };
  if (baseUrl !== undefined) provider.baseUrl = baseUrl;
  const keyEnv = given.text('key_env', 'api_key_env');
  if (keyEnv !== undefined) provider.keyEnv = keyEnv;
  const script = given.text('script');
  if (script !== undefined) provider.script = script;
  const headers = each(given, ['headers'], (header, inner) =>
    typeof header.value === 'string' ? header.value : inner.wrong(header, 'text'),
  );
  if (Object.keys(headers).length > 0) provider.headers = headers;
  refuseKeys(given);
  given.noMore();
  if (kind === undefined) return given.wrong(found, `a mapping with "kind", one of: ${KINDS.join(', ')}`);
  if (kind === 'openai-compatible' && baseUrl === undefined)
    return given.wrong(found, 'a mapping with "base_url", because its kind has no address of its own');
  if (baseUrl !== undefined && !/^https?:\/\/[^\s/]/.test(baseUrl)) {
    return given.wrong(
      { value: baseUrl, path: [...found.path, 'base_url'] },
      'an address that begins with http:// or https://',
    );
  }
  if (kind === 'scripted') provider.script ??= 'script.yaml';
  return provider as Provider;
}

/** A key in a file ends in a repository. */
function refuseKeys(given: Fields): void {
  const found = given.take('key', 'api_key', 'token');
  if (found === undefined) return;
  const hint = 'put the key into an environment variable and name that: key_env: MY_KEY';
  given.error('bad_field', 'a key must not stand in a file', found.path, 'key', hint);
}

function readPrice(found: Found, fields: Fields): Price | undefined {
  const given = fields.mappingOf(found);
  if (given === undefined) return undefined;
  const input = given.number('input', { min: 0 });
  const output = given.number('output', { min: 0 });
  const cached = given.number('cached', { min: 0 });
  given.noMore();
  if (input === undefined || output === undefined)
    return given.wrong(found, 'a mapping with "input" and "output": dollars for a million tokens');
  return { input, output, ...(cached === undefined ? {} : { cached }) };
}

function readWindow(found: Found, fields: Fields): number | undefined {
  const tokens = count(found.value);
  return tokens === undefined || tokens < 1000 ? fields.wrong(found, 'tokens, at least 1000, such as 128k') : tokens;
}

function readTimeouts(given: Fields | undefined, config: Config): void {
  if (given === undefined) return;
  const { timeouts } = config;
  timeouts.callMs = given.duration('call') ?? timeouts.callMs;
  timeouts.stallMs = given.duration('stall') ?? timeouts.stallMs;
  timeouts.tries = given.whole('tries', 1) ?? timeouts.tries;
  given.noMore();
}

const LIMIT_KEYS: Record<string, keyof Limits> = {
  parallel: 'parallel',
  depth: 'depth',
  attempts: 'attempts',
  turns: 'turns',
  tasks_per_minute: 'tasksPerMinute',
  max_task_bytes: 'maxTaskBytes',
  max_result_bytes: 'maxResultBytes',
  children: 'children',
};

function readLimits(given: Fields | undefined, limits: Limits): void {
  if (given === undefined) return;
  for (const [key, name] of Object.entries(LIMIT_KEYS))
    limits[name] = given.whole(key, key === 'depth' ? 0 : 1) ?? limits[name];
  given.noMore();
}
