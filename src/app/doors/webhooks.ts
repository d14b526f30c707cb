/**
 * Webhooks of a workspace: which sources guild.yaml names, what they sent, and what was refused. A
 * source lets strangers put work into the workspace, so it counts only as a person has trusted it.
 * A message is durable in the inbox before its sender gets an answer. Refusals are counted in the
 * event log, at most once a minute for each source, so that a flood of them costs little.
 */
import path from 'node:path';
import { disk as realDisk } from '../../adapters/disk/index.js';
import { inbox } from '../../adapters/inbox/index.js';
import type { Webhook } from '../../domain/config/config.js';
import type { Env } from '../../domain/config/env.js';
import { readEvents } from '../readers/log/open-events.js';
import { openReader } from '../readers/open-reader.js';
import { CONFIG_FILE, readConfig } from '../readers/read-config.js';
import { acceptNamed, peekTrust, trustStamp } from '../trust/trust.js';

interface Source extends Webhook {
  /** Undefined: the variable is not set, and every call is refused. */
  secret?: string;
  /** Nobody has trusted it, so every call is refused. */
  isHeld?: true;
}

export interface Webhooks {
  /** In the form that was trusted, as long as guild.yaml has it. */
  source(name: string): Source | undefined;
  sources(): Record<string, Source>;
  /** Durable when resolved. The same id of a source is one message. */
  accept(source: string, id: string, line: Record<string, unknown>): Promise<'accepted' | 'duplicate'>;
  refused(source: string, why: string): void;
  isWorkedOn(): Promise<boolean>;
  /** Writes the refusals that are not in the log yet. */
  close(): Promise<void>;
}

const REPORT_MS = 60_000;
/** Ids of this process; older ones are recognised by the inbox itself. */
const IDS_KEPT = 10_000;

export function openWebhooks(root: string, env: Env, onRefused: (source: string, why: string) => void): Webhooks {
  const disk = realDisk();
  const box = inbox({ root, disk });
  const store = openReader(root);
  const seen = new Set<string>();
  const counts = new Map<string, { count: number; why: string; reportedAt: number }>();
  let known: { stamp: string; all: Record<string, Source> } | undefined;
  const sources = (): Record<string, Source> => {
    const stamp = `${disk.stamp(path.join(root, CONFIG_FILE))} ${trustStamp(root, env)}`;
    // While a person is saving the file, the previous sources stay in force.
    if (known === undefined || known.stamp !== stamp) known = { stamp, all: sourcesOf(root, env) ?? known?.all ?? {} };
    return known.all;
  };

  return {
    sources,
    source: (name) => (Object.hasOwn(sources(), name) ? sources()[name] : undefined),
    async accept(source, id, line) {
      const key = `${source} ${id}`;
      if (seen.has(key)) return 'duplicate';
      await box.append(`${source}-webhook.jsonl`, line);
      seen.add(key);
      for (const oldest of seen) if (seen.size > IDS_KEPT) seen.delete(oldest);
      return 'accepted';
    },
    refused(source, why) {
      onRefused(source, why);
      const before = counts.get(source) ?? { count: 0, why, reportedAt: -Infinity };
      counts.set(source, { ...before, why, count: before.count + 1 });
      if (Date.now() - before.reportedAt >= REPORT_MS) report(source);
    },
    isWorkedOn: async () => (await store.presence.peers()).some(({ id }) => id !== store.presence.peer.id),
    async close() {
      for (const source of counts.keys()) report(source);
      await store.close();
    },
  };

  function report(source: string): void {
    const { count, why } = counts.get(source)!;
    if (count === 0) return;
    const at = new Date().toISOString();
    try {
      store.events.append({ at, name: 'webhook.refused', peer: store.presence.peer.id, source, count, why });
    } catch {
      return; // the disk is full or gone; the count is kept for the next attempt
    }
    counts.set(source, { count: 0, why, reportedAt: Date.now() });
  }
}

function sourcesOf(root: string, env: Env): Record<string, Source> | undefined {
  const { config, unreadable, there } = readConfig(realDisk(), root, env);
  if (unreadable !== undefined || !there) return undefined;
  const wanted = Object.entries(config.webhooks);
  if (wanted.length === 0) return {};
  const { webhooks = {} } = acceptNamed(peekTrust(root, env, config), env).inForce;
  return Object.fromEntries(
    wanted.map(([name, hook]): [string, Source] => {
      if (!Object.hasOwn(webhooks, name)) return [name, { ...hook, isHeld: true }];
      const trusted = webhooks[name]!;
      const secret = env[trusted.secretEnv] ?? '';
      return [name, secret === '' ? trusted : { ...trusted, secret }];
    }),
  );
}

interface WebhookView {
  source: string;
  kind?: Webhook['kind'];
  secretEnv?: string;
  isSecretSet?: boolean;
  isTrusted?: boolean;
  refused: number;
  lastRefused?: { at: string; why: string };
}

/** Every source with its refusals, and refused calls to names that are not a source. */
export async function listWebhooks(root: string, env: Env): Promise<WebhookView[]> {
  const views = new Map<string, WebhookView>();
  for (const [source, { kind, secretEnv, isHeld }] of Object.entries(sourcesOf(root, env) ?? {})) {
    const isSecretSet = (env[secretEnv] ?? '') !== '';
    views.set(source, { source, kind, secretEnv, isSecretSet, isTrusted: isHeld !== true, refused: 0 });
  }
  const log = await readEvents(root);
  for (const event of log.events((name) => name === 'webhook.refused')) {
    const source = String(event['source']);
    const view = views.get(source) ?? { source, refused: 0 };
    const refused = view.refused + Number(event['count'] ?? 1);
    views.set(source, { ...view, refused, lastRefused: { at: event.at, why: String(event['why']) } });
  }
  return [...views.values()];
}
