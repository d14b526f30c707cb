/** The workspace's history as configured: kept in git, or off with a reason to show. */
import path from 'node:path';
import { git } from '../../adapters/git/index.js';
import { clock as realClock } from '../../adapters/clock/index.js';
import { disk as realDisk } from '../../adapters/disk/index.js';
import { processes as realProcesses } from '../../adapters/processes/index.js';
import { isBranchTrusted } from '../../adapters/trust/trusted-parts.js';
import { parseClaimName } from '../../adapters/files/base/layout.js';
import type { Config } from '../../domain/config/config.js';
import type { Env } from '../../domain/config/env.js';
import type { Clock } from '../../ports/clock.js';
import type { History } from '../../ports/history.js';
import type { Ledger } from '../../ports/ledger.js';
import type { Processes } from '../../ports/processes.js';
import { parseConfig } from '../../text/config/config.js';
import { folderName, historyIsElsewhere, isAt, readHistoryDesk } from '../far/history-desk.js';
import { isShared } from '../far/open-store.js';
import { isUndoneInStore } from '../far/undone-files.js';
import { requireWorkspace } from './no-workspace.js';
import { openFarReader } from './open-reader.js';

export interface HistoryOptions {
  root: string;
  config: Pick<Config, 'git'>;
  env: Env;
  clock?: Clock;
  processes?: Processes | undefined;
  /** Gives way to other work on a busy machine. */
  background?: boolean;
  /** The folder mirrors a store, which an undo changes. */
  isMirror?: boolean;
}

export function history(options: HistoryOptions): History {
  const { root, config, env, clock = realClock(), processes = realProcesses(), background = false } = options;
  const { enabled, author, branch = false } = config.git;
  if (!enabled) return off('guild.yaml says `git: false`');
  return git({
    root,
    env,
    clock,
    processes,
    background,
    branch: branch && isBranchTrusted(realDisk(), root, env),
    nameAfterUndo: orphaned,
    author: author || undefined,
    ...(options.isMirror ? { mayUndo: isUndoneInStore } : {}),
  });
}

/** For commands that read history or undo. */
export async function openHistory(folder: string, env: Env): Promise<History> {
  const root = path.resolve(folder);
  const disk = realDisk();
  requireWorkspace(disk, root);
  const read = disk.read(path.join(root, 'guild.yaml'));
  const { config } = parseConfig(read.kind === 'file' ? read.bytes.toString('utf8') : '', 'guild.yaml', env);
  if (!isShared(config, env)) return history({ root, config, env });
  const store = openFarReader(disk, root, env)!;
  try {
    return await mirrorHistory({ root, config, env }, store.far.ledger);
  } finally {
    await store.close();
  }
}

/** On at the desk that keeps the history of the store; elsewhere off, naming that desk. */
export async function mirrorHistory(options: HistoryOptions, ledger: Pick<Ledger, 'get'>): Promise<History> {
  const named = await readHistoryDesk(ledger);
  const { host } = (options.processes ?? realProcesses()).me();
  if (named === undefined || !isAt(named.desk, { host, folder: folderName(options.root) }))
    return off(historyIsElsewhere(named));
  return history({ ...options, isMirror: true });
}

/**
 * A claim that an undo restores is not held, even if the process in its name is alive. It gets a
 * name that no process has, so the next pass recovers it as an orphan and repairs its conversation.
 */
function orphaned(file: string): string {
  const folder = 'tasks/active/';
  if (!file.startsWith(folder)) return file;
  const claim = parseClaimName(file.slice(folder.length));
  return claim === undefined ? file : `${folder}${claim.id}_${claim.agent}-undone.json`;
}

function off(why: string): History {
  const nothing = { commit: { id: '', at: '', subject: '', body: '' }, files: [] };
  return {
    state: () => ({ on: false, why }),
    changing: () => undefined,
    changed: () => undefined,
    hurry: () => undefined,
    tend: async () => undefined,
    commit: async () => false,
    log: async () => [],
    changes: async () => ({ ...nothing, left: [] }),
    undo: async () => ({ commit: '', files: [] }),
    close: async () => undefined,
  };
}
