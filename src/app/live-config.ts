/**
 * Edits of guild.yaml while a process works. Most keys take effect at once, in the configuration
 * that the engine reads from. Keys that decide what may act (providers, plugins, commands) or that
 * are bound to something open (history, the connections to models) wait for the next start.
 */
import { isDeepStrictEqual } from 'node:util';
import path from 'node:path';
import { disk as realDisk } from '../adapters/disk/index.js';
import type { Config } from '../domain/config/config.js';
import type { Env } from '../domain/config/env.js';
import { asProblem, problem, type Problem } from '../domain/problem.js';
import { CONFIG_FILE, readConfig } from './readers/read-config.js';
import { openTrust, trustStamp } from './trust/trust.js';

/**
 * The name of a key in the file, and whether a running process takes it over: at once, as soon as a
 * person trusts it, or at the next start.
 */
const KEYS: Record<keyof Required<Config>, { name: string; isLive: boolean | 'trusted' }> = {
  model: { name: 'model', isLive: true },
  aliases: { name: 'models', isLive: true },
  prices: { name: 'prices', isLive: true },
  windows: { name: 'windows', isLive: true },
  limits: { name: 'limits', isLive: true },
  budget: { name: 'budget', isLive: true },
  defaultAgent: { name: 'default_agent', isLive: true },
  rescanMs: { name: 'watch', isLive: true },
  inbox: { name: 'inbox', isLive: true },
  planner: { name: 'planner', isLive: true },
  checkins: { name: 'checkins', isLive: true },
  coordination: { name: 'coordination', isLive: true },
  channels: { name: 'channels', isLive: true },
  schedules: { name: 'schedules', isLive: true },
  timezone: { name: 'timezone', isLive: true },
  webhooks: { name: 'webhooks', isLive: 'trusted' },
  notify: { name: 'notify', isLive: true },
  notifyBy: { name: 'notify.command, notify.webhook or notify.slack', isLive: false },
  providers: { name: 'providers', isLive: false },
  plugins: { name: 'plugins', isLive: false },
  sandbox: { name: 'sandbox', isLive: false },
  allowOutward: { name: 'allow_outward', isLive: false },
  timeouts: { name: 'timeouts', isLive: false },
  search: { name: 'search', isLive: false },
  store: { name: 'store', isLive: false },
  git: { name: 'git', isLive: false },
};

interface ConfigChange {
  taken: string[];
  later: string[];
  /** Keys that wait until a person trusts them. */
  untrusted: string[];
  /** The file cannot be used; everything stays as it is. */
  problem?: Problem;
}

/**
 * Returns a function that takes over the edit since its last call, if there is one. Cheap to call.
 * `config`: the configuration that the process works with, which is changed in place.
 */
export function liveConfig(root: string, env: Env, config: () => Config): () => ConfigChange | undefined {
  const disk = realDisk();
  const file = path.join(root, CONFIG_FILE);
  /** guild.yaml admits messages without a question, but no person has trusted that yet. */
  let isHeld = false;
  const stampOf = (): string | undefined =>
    isHeld ? `${disk.stamp(file)} ${trustStamp(root, env)}` : disk.stamp(file);
  const readTrusted = (): ReturnType<typeof readConfig> => {
    const read = readConfig(disk, root, env);
    if (read.unreadable !== undefined) return read;
    try {
      const { inbox } = read.config;
      const admit = openTrust(root, env, read.config).inForce.tightened?.admit ?? inbox.admit;
      isHeld = admit !== inbox.admit;
      return { ...read, config: { ...read.config, inbox: { ...inbox, admit } } };
    } catch (thrown) {
      return { ...read, unreadable: asProblem(thrown) };
    }
  };
  const started = readTrusted().config;
  let stamp = stampOf();
  let before = started;
  /** Keys that wait for the next start are reported once. */
  let said = new Set<string>();
  return () => {
    if (stampOf() === stamp) return undefined;
    const wasHeld = isHeld;
    const read = readTrusted();
    stamp = stampOf();
    if (read.unreadable !== undefined)
      return { taken: [], later: [], untrusted: [], problem: unusable(read.unreadable) };
    // An editor may be saving it; a missing file lifts no limit.
    if (!read.there) return undefined;
    const taken = takeOver(config(), before, read.config);
    before = read.config;
    const waiting = changed(started, before).filter(({ isLive }) => isLive !== true);
    const fresh = waiting.filter(({ name }) => !said.has(name));
    said = new Set(waiting.map(({ name }) => name));
    const namesOf = (kind: false | 'trusted'): string[] =>
      fresh.filter(({ isLive }) => isLive === kind).map(({ name }) => name);
    const untrusted = [...namesOf('trusted'), ...(isHeld && !wasHeld ? ['inbox.admit'] : [])];
    return taken.length + fresh.length + untrusted.length === 0
      ? undefined
      : { taken, later: namesOf(false), untrusted };
  };
}

/** Returns a function that names the keys that changed since and wait for the next start. */
export function keysOfNextStart(root: string, env: Record<string, string | undefined>): () => string[] {
  const disk = realDisk();
  const file = path.join(root, CONFIG_FILE);
  const started = readConfig(disk, root, env).config;
  let stamp = disk.stamp(file);
  let names: string[] = [];
  return () => {
    const before = stamp;
    stamp = disk.stamp(file);
    if (stamp === before) return names;
    const read = readConfig(disk, root, env);
    // An editor may be saving it.
    if (read.there && read.unreadable === undefined)
      names = changed(started, read.config).flatMap(({ name, isLive }) => (isLive === false ? [name] : []));
    return names;
  };
}

/** Changes `config`, and returns the names of the keys. */
function takeOver(config: Config, before: Config, now: Config): string[] {
  return changed(before, now).flatMap(({ key, name, isLive }) => {
    if (isLive !== true) return [];
    if (now[key] === undefined) delete (config as Partial<Config>)[key];
    else Object.assign(config, { [key]: now[key] });
    return [name];
  });
}

function changed(before: Config, now: Config): { key: keyof Config; name: string; isLive: boolean | 'trusted' }[] {
  const keys = Object.keys(KEYS) as (keyof Config)[];
  return keys.filter((key) => !isDeepStrictEqual(before[key], now[key])).map((key) => ({ key, ...KEYS[key] }));
}

function unusable({ message, where, hint }: Problem): Problem {
  return problem(
    'bad_file',
    `${CONFIG_FILE} changed and cannot be used, so the previous settings stay in force: ${message}`,
    {
      where,
      hint,
    },
  );
}

/** `guild.yaml changed: limits and budget are in effect; providers waits for the next start`. */
export function changeText({ taken, later, untrusted }: ConfigChange): string {
  const list = (names: readonly string[]): string =>
    names.length < 2 ? (names[0] ?? '') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
  const parts = [
    ...(taken.length > 0 ? [`${list(taken)} ${taken.length === 1 ? 'is' : 'are'} in effect`] : []),
    ...(later.length > 0 ? [`${list(later)} ${later.length === 1 ? 'needs' : 'need'} a new start of guild`] : []),
    ...(untrusted.length > 0
      ? [`${list(untrusted)} ${untrusted.length === 1 ? 'waits' : 'wait'} for guild trust`]
      : []),
  ];
  return `${CONFIG_FILE} changed: ${parts.join('; ')}`;
}
