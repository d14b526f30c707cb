/** The notifier of a workspace: its ledger, and the channels that may act. */
import path from 'node:path';
import { notifyByCommand, notifyByWebhook, notifyDesktop } from '../../adapters/notify/index.js';
import type { Plugins } from '../../adapters/plugins/index.js';
import type { Config } from '../../domain/config/config.js';
import type { Env } from '../../domain/config/env.js';
import type { NoticeMessage, NotifyChannels, NotifyRules } from '../../domain/config/notify.js';
import { problem, type Problem } from '../../domain/problem.js';
import type { Task } from '../../domain/task/task.js';
import type { Watchers } from '../../engine/core/context.js';
import type { PumpReport } from '../../engine/pass/pump.js';
import type { Notices } from '../../ports/store/notices.js';
import type { Store } from '../../ports/store/index.js';
import { isAsTrusted, type Trust } from '../trust/trust.js';
import { notifier, type Notifier } from '../../adapters/notify/notifier.js';
import { openNotices } from './open-notices.js';

interface Parts {
  root: string;
  env: Env;
  config: Config;
  store: Store;
  announce(task: Task): { from?: string | undefined; title: string };
  plugins: Plugins;
  /** Absent in a replay, which notifies nobody. */
  trust: Pick<Trust, 'inForce' | 'record'> | undefined;
  ring: ((message: NoticeMessage) => void) | undefined;
  report(problem: Problem): void;
}

export function openNotifier(parts: Parts): Notifier {
  const { root, config, store, announce, env } = parts;
  let notices: Notices | undefined;
  return notifier({
    rules: () => config.notify,
    workspace: path.basename(root),
    store,
    announce,
    notices: () => (notices ??= openNotices(root, store)),
    ring: parts.ring ?? (() => undefined),
    send: (message, rules) => send(message, rules, parts, env),
    report: parts.report,
  });
}

const CHANGED = problem('not_allowed', 'a file that notify.command names has changed, so the command did not run', {
  where: { file: 'guild.yaml' },
  hint: 'guild trust shows the change and asks',
});

async function send(
  message: NoticeMessage,
  { desktop }: NotifyRules,
  { root, config, trust, plugins }: Parts,
  env: Parts['env'],
): Promise<Problem[]> {
  // A channel that was removed from the file is off at once; a new one waits for trust and a
  // restart.
  const { command, webhook, plugin } = config.notifyBy;
  const trusted: NotifyChannels = trust?.inForce.notify ?? {};
  const sent = await Promise.all([
    desktop ? notifyDesktop(message, env) : undefined,
    command !== undefined && trusted.command !== undefined
      ? isAsTrusted(trust!, env, 'notify')
        ? notifyByCommand(trusted.command, message, env, root)
        : CHANGED
      : undefined,
    webhook !== undefined && trusted.webhook !== undefined ? notifyByWebhook(trusted.webhook, message, env) : undefined,
    plugin !== undefined && trusted.plugin !== undefined
      ? plugins.notify(trusted.plugin.name, trusted.plugin.to, message)
      : undefined,
  ]);
  return sent.filter((problem) => problem !== undefined);
}

/** The watchers of the caller, and the notifier once it is open. */
export function withNotices(given: Partial<Watchers> = {}, notices: () => Notifier | undefined): Partial<Watchers> {
  return {
    ...given,
    event(event) {
      given.event?.(event);
      notices()?.event(event);
    },
  };
}

/** After the first pass, when the open tasks are known, it looks for missed notices. */
export function caughtUp(
  notices: Notifier | undefined,
  onPass?: (report: PumpReport) => void,
): (report: PumpReport) => void {
  let isFirst = true;
  return (report) => {
    if (isFirst) void notices?.catchUp().catch(() => undefined);
    isFirst = false;
    onPass?.(report);
  };
}
