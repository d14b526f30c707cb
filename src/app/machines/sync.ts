/**
 * `guild sync`: a folder for people on a workspace whose store is elsewhere. A mirror shows records
 * and takes in what people change; an engine without agents of its own reads the ballot, boards and
 * inboxes of the folder, as in any workspace.
 */
import type { Env } from '../../domain/config/env.js';
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { clock } from '../../adapters/clock/index.js';
import { INTERVALS } from '../../domain/intervals.js';
import { asProblem, problem as problemOf, type Problem } from '../../domain/problem.js';
import type { Ledger } from '../../ports/ledger.js';
import type { Store } from '../../ports/store/index.js';
import { mirror, type Mirror } from './mirror/index.js';
import { disk } from '../../adapters/disk/index.js';
import { deskName } from '../../adapters/machine/desk-name.js';
import { folderName, takeHistory } from '../far/history-desk.js';
import { sharedName } from '../far/shared-name.js';
import { farPartsOf } from '../readers/open-reader.js';
import { readConfig } from '../readers/read-config.js';
import { deskHistory, type DeskHistory } from './desk-history.js';
import { ownMirror } from './own-mirror.js';
import { ledgerFor, storeAddress } from './store-address.js';

interface SyncOptions {
  env: Env;
  /** Opens the folder as a workspace. */
  open(root: string, options: DeskOptions): Promise<Desk>;
  /** Whether this desk keeps the history of the store. */
  history?: boolean;
  signal: AbortSignal;
  /** Reports to the person at the folder. */
  note(text: string): void;
  problem(problem: Problem): void;
  /** After the first look, when the folder shows the store. */
  ready(): void;
}

interface DeskOptions {
  agents: string[];
  watchers: { problem(problem: Problem): void };
  onWrite?: ((file: string) => void) | undefined;
}

/** The part of a workspace that a desk needs. */
interface Desk {
  /** Replaced by a new one after the process was declared dead. */
  readonly store: Store;
  watch(signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

/** Works until the signal aborts. */
export async function sync(root: string, options: SyncOptions): Promise<void> {
  const { env, open, signal, note, problem, ready } = options;
  const address = storeAddress(root, env);
  const history = options.history ? deskHistory(root, env, problem) : undefined;
  const ledger = ledgerFor(address);
  const shown = mirrorOf(root, env, ledger, { note, history });
  const workspace = await open(root, { agents: [], watchers: { problem }, onWrite: history?.changed });
  const stop = new AbortController();
  const until = AbortSignal.any([signal, stop.signal]);
  const hasten = (): void => [ledger, farPartsOf(workspace.store)?.ledger].forEach((each) => each?.hasten());
  signal.addEventListener('abort', hasten, { once: true });
  const keep = history === undefined ? async () => undefined : keeper(root, ledger, workspace);
  let working: Promise<void> | undefined;
  try {
    await keep();
    working = workspace.watch(until);
    await shown.look();
    await history?.begin();
    ready();
    await Promise.race([
      working,
      looks(withHistory(withForms(shown, root, ledger), keep, history), {
        bell: ledger,
        everyMs: INTERVALS.folderCheckMs,
        signal: until,
      }),
    ]);
  } finally {
    stop.abort();
    await working?.catch(() => undefined);
    await workspace.close().catch(() => undefined);
    if (working !== undefined) await shown.look().catch(() => undefined);
    await history?.close();
    await ledger.close();
  }
}

/**
 * Records in the store that this desk keeps the history, again whenever its process gets another
 * name. A process that is gone frees the place, so this process must be known as alive first.
 */
function keeper(root: string, ledger: Ledger, workspace: Desk): () => Promise<void> {
  let named: string | undefined;
  return async () => {
    const { presence } = workspace.store;
    const { id: peer, host } = presence.peer;
    if (peer === named) return;
    await presence.join();
    await takeHistory(ledger, { by: deskName(), host, folder: folderName(root), peer }, randomUUID);
    named = peer;
  };
}

function withHistory(shown: Mirror, keep: () => Promise<void>, history: DeskHistory | undefined): Mirror {
  return {
    async look() {
      await keep();
      const counts = await shown.look();
      history?.looked();
      return counts;
    },
  };
}

/**
 * The engine of this folder reads boards, the ballot and mail, and waits for rings. A ring of this
 * ledger reaches it, because the engine has a separate ledger.
 */
function withForms(shown: Mirror, root: string, ledger: Ledger): Mirror {
  let last: string | undefined;
  return {
    async look() {
      const stamps = formStamps(root);
      if (last !== undefined && stamps !== last) ledger.ring();
      last = stamps;
      return shown.look();
    },
  };
}

function formStamps(root: string): string {
  const files = disk();
  return ['tasks', 'inbox']
    .flatMap((folder) => files.list(path.join(root, folder)).map((name) => path.join(root, folder, name)))
    .map((file) => (/\.(task\.md|jsonl)$/.test(file) ? `${file} ${files.stamp(file)}` : ''))
    .join('\n');
}

interface KeepOptions {
  ledger: Ledger;
  signal: AbortSignal;
  report: (problem: Problem) => void;
  /** The entry that this process's commits depend on. */
  guard: () => string | undefined;
}

/**
 * Keeps `memory/`, `context/` and `scratch/` of a worker's folder the same as on other machines,
 * until the signal aborts. A worker shows nothing else, because nobody looks at its folder. Returns
 * after the first look.
 */
export async function keepDocuments(
  root: string,
  env: Env,
  { ledger, signal, report, guard }: KeepOptions,
): Promise<{ look(): Promise<void>; ended: Promise<void> }> {
  const note = (text: string): void => report(problemOf('by_hand', text));
  const shown = mirrorOf(root, env, ledger, { note, guard, documentsOnly: true });
  const keep = async (): Promise<void> => {
    try {
      await looks(shown, { everyMs: INTERVALS.textCheckMs, signal });
      await shown.look();
    } catch (thrown) {
      // If the database refuses this, the engine ends too and reports it. It is reported here only
      // if the engine continues.
      await clock().sleep(INTERVALS.textCheckMs, signal);
      if (!signal.aborted) report(asProblem(thrown));
    }
  };
  // The next look reports the failure.
  const look = async (): Promise<void> => void (await shown.look().catch(() => undefined));
  await look();
  return { look, ended: keep() };
}

type MirrorParts = Pick<Parameters<typeof mirror>[0], 'note' | 'guard' | 'documentsOnly' | 'history'>;

function mirrorOf(root: string, env: Env, ledger: Ledger, parts: MirrorParts): Mirror {
  const workspace = sharedName(readConfig(disk(), root, env).config, env) ?? '';
  const record = ownMirror(root, env, { workspace, mustBeOwn: !parts.documentsOnly });
  return mirror({ root, ledger, workspace, record, now: () => new Date(), ...parts });
}

interface LooksOptions {
  /** Rings at each change. Absent for a worker, which looks when its scans find a changed text. */
  bell?: Pick<Ledger, 'onRing'>;
  everyMs: number;
  signal: AbortSignal;
}

/** Looks at intervals for people's changes, and after each ring of the ledger. */
async function looks(shown: Mirror, { bell, everyMs, signal }: LooksOptions): Promise<void> {
  let wake: () => void = () => undefined;
  const off = await bell?.onRing(() => wake());
  while (!signal.aborted) {
    const rung = new AbortController();
    wake = () => rung.abort();
    try {
      await shown.look();
    } catch (thrown) {
      // The engine of this process says that the database is away.
      if (asProblem(thrown).code !== 'store_away') throw thrown;
    }
    await clock().sleep(everyMs, AbortSignal.any([signal, rung.signal]));
  }
  await off?.();
}
