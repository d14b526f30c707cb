/**
 * A workspace that outlives failures of its disk. When the store fails under `watch`, the process
 * gives that store up, waits until the disk can be written again, and opens the workspace again
 * under another peer id. Its unfinished work is then recovered as if a process had died.
 */
import path from 'node:path';
import { clock as realClock } from '../adapters/clock/index.js';
import { disk as realDisk } from '../adapters/disk/index.js';
import { isStoreFault } from '../domain/fence.js';
import { INTERVALS } from '../domain/intervals.js';
import { asProblem, type Problem } from '../domain/problem.js';
import type { Clock } from '../ports/clock.js';
import type { Disk } from '../ports/disk.js';
import { farPartsOf } from './readers/open-reader.js';
import type { OpenOptions } from './open-options.js';
import { openWorkspace as openOnce, type Workspace } from './open-workspace.js';

export async function openWorkspace(folder: string, options: OpenOptions = {}): Promise<Workspace> {
  const clock = options.clock ?? realClock();
  const disk = options.disk ?? realDisk();
  const abandoned = new Set<string>();
  /** The person knows that the database is away. */
  let isAway = false;
  const given = { ...options, clock, watchers: { ...options.watchers, problem: report } };
  let current = await openOnce(folder, given, abandoned);
  const workspace = delegating(() => current);
  return options.tape === undefined ? Object.defineProperty(workspace, 'watch', { value: watch }) : workspace;

  function watch(signal: AbortSignal, onPass?: Parameters<Workspace['watch']>[1]): Promise<void> {
    signal.addEventListener('abort', () => hasten(current), { once: true });
    return reopenOnStoreFailure({
      clock,
      signal,
      // Each attempt has its own signal, so that its listeners are dropped with it.
      work: () =>
        current.watch(AbortSignal.any([signal]), (pass) => {
          if (pass.scanMs !== undefined) isAway = false;
          onPass?.(pass);
        }),
      probe: (failed) => probe(disk, current, failed),
      async reopen() {
        abandoned.add(current.store.presence.peer.id);
        await abandon(disk, current);
        current = await openOnce(folder, given, abandoned);
        if (signal.aborted) hasten(current);
      },
      report,
    });
  }

  /** Once: every connection, and every attempt to open the store again, would report it. */
  function report(problem: Problem): void {
    if (problem.code === 'store_away' && isAway) return;
    isAway ||= problem.code === 'store_away';
    options.watchers?.problem?.(problem);
  }
}

interface Reopening {
  clock: Pick<Clock, 'sleep' | 'monotonicMs'>;
  signal: AbortSignal;
  /** Works until the signal aborts. Rethrows the error of the store. */
  work(): Promise<void>;
  /** Resolves if the store can be written again; throws if not. `failed`: the path that failed. */
  probe(failed: string | undefined): Promise<void>;
  /** Gives up the failed store and opens it again. */
  reopen(): Promise<void>;
  report(problem: Problem): void;
}

/** Works through failures of the store. Reports once that it waits, and throws everything else. */
export async function reopenOnStoreFailure(given: Reopening): Promise<void> {
  const { clock, signal, work, probe, reopen, report } = given;
  let waitMs: number = INTERVALS.storeRetryMs;
  /** The last reported error. The same error at another path is not reported again. */
  let reported: string | undefined;
  for (;;) {
    const from = clock.monotonicMs();
    let thrown: unknown;
    try {
      return await work();
    } catch (error) {
      thrown = error;
    }
    // A store that fails again soon is tried less often: each try may cost a model call.
    const isAgain = reported !== undefined && clock.monotonicMs() - from < SOON_MS;
    if (isAgain) waitMs = Math.min(INTERVALS.storeRetryMaxMs, waitMs * 2);
    else [waitMs, reported] = [INTERVALS.storeRetryMs, undefined];
    for (let isOpen = false; !isOpen;) {
      if (!isStoreFault(thrown)) throw thrown;
      const code = (thrown as { code?: string }).code ?? asProblem(thrown).code;
      if (signal.aborted && code === 'store_away') return;
      if (code !== reported) report(waiting(thrown));
      reported = code;
      await clock.sleep(waitMs, signal);
      if (signal.aborted) return;
      try {
        await probe((thrown as { path?: string }).path);
        await reopen();
        isOpen = true;
      } catch (error) {
        thrown = error;
      }
    }
  }
}

const SOON_MS = 60_000;

function waiting(thrown: unknown): Problem {
  const problem = asProblem(thrown);
  if (problem.code === 'declared_dead') return { ...problem, hint: 'it starts again by itself, under a new name' };
  const next = 'it waits and tries again every few seconds; nothing that was acknowledged is lost';
  return { ...problem, message: `${problem.message}: work stops here until this is resolved`, hint: next };
}

/** The probe writes as much as a turn does, because a few bytes may fit on a full disk. */
const PROBE_BYTES = 256 * 1024;

async function probe(disk: Disk, { root, store }: Workspace, failed: string | undefined): Promise<void> {
  const own = path.join(root, '.guild', 'tmp');
  if (disk.stamp(root) === undefined) throw Object.assign(new Error(`${root} is gone`), { code: 'ENOENT', path: root });
  // Only inside the workspace: an error may name any path.
  const other = failed?.startsWith(root + path.sep) ? path.dirname(failed) : own;
  for (const folder of new Set([own, other])) {
    if (disk.stamp(folder) === undefined) continue; // it is created again when it is needed
    const file = path.join(folder, `.${store.presence.peer.id}-probe`);
    try {
      await disk.createSynced(file, Buffer.alloc(PROBE_BYTES));
    } finally {
      disk.remove(file);
    }
  }
}

/** A database that is away does not delay the end of this store. */
function hasten({ store }: Workspace): void {
  farPartsOf(store)?.ledger.hasten();
}

/** Stops the running work and removes the presence file, so that others see that the peer left. */
async function abandon(disk: Disk, workspace: Workspace): Promise<void> {
  hasten(workspace);
  try {
    await workspace.close();
  } catch (thrown) {
    if (!isStoreFault(thrown)) throw thrown;
  }
  disk.remove(path.join(workspace.root, 'agents', 'live', `${workspace.store.presence.peer.id}.json`));
}

/** Forwards every member to the workspace that is open now. */
function delegating(current: () => Workspace): Workspace {
  const members = Object.keys(current()) as (keyof Workspace)[];
  const getters = members.map((name) => [name, { enumerable: true, configurable: true, get: () => current()[name] }]);
  return Object.defineProperties({}, Object.fromEntries(getters) as PropertyDescriptorMap) as Workspace;
}
