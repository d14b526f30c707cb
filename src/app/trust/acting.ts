/**
 * The parts of a workspace that want to act, and the parts that may: at most what a person has seen
 * and the workspace still wants.
 */
import fs from 'node:fs';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { attempt } from '../../domain/attempt.js';
import { ALLOWLIST_FILE, POLICY_FILE } from '../../adapters/policy-files/index.js';
import { packageFolder } from '../../adapters/starter/package-folder.js';
import { hashTree } from '../../adapters/trust/plugin-tree.js';
import type { Config } from '../../domain/config/config.js';
import { stricterSandbox } from '../../domain/config/settings.js';
import type { Acting, Loosened, Tightened } from '../../domain/consent/trust.js';
import { defined } from '../../domain/defined.js';
import { namedByParts } from './named-files.js';
import { withProjectServers } from './project-servers.js';
import { textIn } from './text-file.js';

/** The settings of a workspace that can act. */
export type Acted = Pick<
  Config,
  'providers' | 'plugins' | 'sandbox' | 'allowOutward' | 'notifyBy' | 'store' | 'webhooks' | 'git' | 'inbox'
>;

/** Reads the parts that want to act. Runs nothing of the folder. */
export function actingIn(root: string, config: Acted): Acting {
  const { providers, plugins, notifyBy, webhooks } = config;
  const folder = path.join(root, 'plugins');
  const wanted = plugins['mcp'] === undefined ? plugins : withProjectServers(root, plugins);
  const isOwn = (name: string): boolean => !isBuiltIn(name) && fs.existsSync(path.join(folder, name, 'index.mjs'));
  return defined<Acting>({
    providers: Object.fromEntries(Object.entries(providers).filter(([, { kind }]) => kind !== 'scripted')),
    plugins: wanted,
    code: Object.keys(plugins).some(isOwn) ? hashTree(folder) : undefined,
    named: namedIn(root, wanted, notifyBy),
    rules: rulesIn(root),
    loosened: loosenedIn(config),
    notify: Object.keys(notifyBy).length === 0 ? undefined : notifyBy,
    store: config.store.startsWith('postgres') ? config.store : undefined,
    webhooks: Object.keys(webhooks).length === 0 ? undefined : webhooks,
    tightened: tightenedIn(config),
  });
}

function namedIn(root: string, plugins: Acting['plugins'], notify: Acted['notifyBy']): Acting['named'] {
  const isUsual = Object.keys(plugins).length === 0 && notify.command === undefined;
  return isUsual ? undefined : namedByParts(root, { ...plugins, notify });
}

/** The text of each rule file by its path. */
export function rulesIn(root: string): Record<string, string> {
  const rules = [ALLOWLIST_FILE, POLICY_FILE].flatMap((file) => {
    const text = textOf(path.join(root, file));
    return text === undefined ? [] : [[file, text] as const];
  });
  return Object.fromEntries(rules);
}

function loosenedIn({ sandbox, allowOutward, git }: Acted): Loosened | undefined {
  return ifAny<Loosened>({
    sandbox: sandbox === 'required' ? undefined : sandbox,
    outward: allowOutward.length === 0 ? undefined : [...allowOutward].sort(),
    branch: git.enabled && git.branch ? true : undefined,
  });
}

function tightenedIn({ sandbox, inbox }: Acted): Tightened | undefined {
  return ifAny<Tightened>({
    sandbox: sandbox === 'required' ? sandbox : undefined,
    admit: inbox.admit === 'ask' ? inbox.admit : undefined,
  });
}

function ifAny<T extends object>(fields: T): T | undefined {
  const present = defined<T>(fields);
  return Object.keys(present).length === 0 ? undefined : present;
}

/** The settings as far as they are trusted: no gate is looser than a person has seen it. */
export function trustedConfig<T extends Acted>(config: T, { inForce }: { inForce: Acting }): T {
  const { loosened, tightened } = inForce;
  const { sandbox, inbox, ...rest } = config;
  return defined({
    ...rest,
    allowOutward: loosened?.outward ?? [],
    sandbox: sandbox === 'required' ? sandbox : (tightened?.sandbox ?? loosened?.sandbox),
    inbox: { ...inbox, admit: tightened?.admit ?? inbox.admit },
  }) as T;
}

function isBuiltIn(plugin: string): boolean {
  return fs.existsSync(path.join(packageFolder('plugins'), plugin, 'index.mjs'));
}

type ModelConfig = Pick<Config, 'providers' | 'prices' | 'timeouts'>;

/** Only providers that may act, and scripted ones, which never act. */
export function withTrustedProviders(config: ModelConfig, trust: { inForce: Acting } | undefined): ModelConfig {
  const scripts = Object.entries(config.providers).filter(([, { kind }]) => kind === 'scripted');
  const providers = { ...trust?.inForce.providers, ...Object.fromEntries(scripts) };
  return {
    providers,
    timeouts: config.timeouts,
    /** Prices may change while the process runs. */
    get prices() {
      return config.prices;
    },
  };
}

/** Whether the files that the trusted command of this part names have their trusted content. */
export function isUnchanged(root: string, trusted: Acting, part: string): boolean {
  const { [part]: files = {} } = namedByParts(root, { [part]: settingsOf(trusted, part) }) ?? {};
  return isDeepStrictEqual(files, trusted.named?.[part] ?? {});
}

/** `part`: the name of a plugin, or `notify`. */
export function settingsOf({ notify, plugins }: Acting, part: string): unknown {
  return part === 'notify' ? notify : plugins[part];
}

/**
 * A removal takes effect at once: only trusted parts that the workspace still wants may act. A part
 * whose command names a changed file waits, because the trusted content is gone.
 */
export function shared(root: string, trusted: Acting, now: Acting): Acting {
  const kept = <T>(before: Record<string, T>, wanted: Record<string, unknown>): Record<string, T> =>
    Object.fromEntries(Object.entries(before).filter(([name]) => Object.hasOwn(wanted, name)));
  return defined<Acting>({
    ...trusted,
    providers: kept(trusted.providers, now.providers),
    plugins: Object.fromEntries(
      Object.entries(kept(trusted.plugins, now.plugins)).filter(([name]) => isUnchanged(root, trusted, name)),
    ),
    code: now.code && trusted.code,
    loosened: sharedLoosened(trusted.loosened, now.loosened),
    notify: now.notify && isUnchanged(root, trusted, 'notify') ? trusted.notify : undefined,
    named: now.named && trusted.named && kept(trusted.named, now.named),
    store: trusted.store === now.store ? trusted.store : undefined,
    webhooks: trusted.webhooks && now.webhooks && kept(trusted.webhooks, now.webhooks),
    // These settings tighten a gate, so removing one loosens it.
    tightened: ifAny({ ...trusted.tightened, ...now.tightened }),
  });
}

function sharedLoosened(trusted: Loosened | undefined, now: Loosened | undefined): Loosened | undefined {
  if (trusted === undefined || now === undefined) return undefined;
  const outward = (trusted.outward ?? []).filter((tool) => now.outward?.includes(tool));
  const both = trusted.sandbox !== undefined && now.sandbox !== undefined;
  return ifAny<Loosened>({
    sandbox: both ? (stricterSandbox(trusted.sandbox, now.sandbox) as Loosened['sandbox']) : undefined,
    outward: outward.length === 0 ? undefined : outward,
    branch: trusted.branch && now.branch,
  });
}

function textOf(file: string): string | undefined {
  // The gate is closed elsewhere if a file cannot be read. Here the file must not count as trusted.
  return attempt(() => textIn(file), '(cannot be read)');
}
