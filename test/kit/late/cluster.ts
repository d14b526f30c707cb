/**
 * A story on a slow store in memory: every verb waits for a random time before and after it takes
 * effect, like a store on another machine. Boards, ballot and mailboxes stay on the simulated disk.
 */
import path from 'node:path';
import { removeAbandonedFiles } from '../../../src/adapters/disk/temp-files.js';
import { folders, layout } from '../../../src/adapters/files/base/layout.js';
import { memory, world, type World } from '../memory/store.js';
import type { Event } from '../../../src/domain/event.js';
import type { Peer } from '../../../src/domain/peer.js';
import type { Session } from '../../../src/domain/session/session.js';
import type { Placed } from '../../../src/domain/task/task.js';
import type { Disk } from '../../../src/ports/disk.js';
import type { Store, StorePorts } from '../../../src/ports/store/index.js';
import type { Tasks } from '../../../src/ports/store/tasks.js';
import { parseTask, printTask } from '../../../src/text/records/task.js';
import { printHeader, printMessages } from '../../../src/text/session/print.js';
import { cluster, ROOT, type Cluster, type Proc, type StartOptions } from '../cluster.js';
import { simDisk, type SimDisk } from '../sim-disk.js';
import { writeStory, type Story } from '../stories.js';

export interface LateCluster {
  disk: SimDisk;
  world: World;
  procs: Cluster;
  /** Starts a process on the workspace. It dies at its `dies`th call of the store. */
  start(options?: StartOptions & { dies?: number }): Proc;
  /** The story with people who see the tasks and conversations as files. */
  story: Story;
  /** Writes tasks and conversations to the disk, where the outcome is judged. */
  reflect(): void;
}

export function lateCluster(given: Story, random: () => number): LateCluster {
  const disk = simDisk();
  writeStory(disk, given);
  for (const folder of folders(layout(ROOT))) disk.makeFolder(folder);
  const buried = new Set<string>();
  const w = { ...world(), alive: livingPeers(buried) };
  const procs = cluster(given.script, given.asks);
  const show = (): void => reflect(w, disk);
  const human = given.human;
  return {
    disk,
    world: w,
    procs,
    reflect: show,
    story: { ...given, ...(human ? { human: (on: SimDisk) => (show(), human(on)) } : {}) },
    start({ dies = Infinity, ...options } = {}) {
      const life = mortal(dies);
      const proc = procs.start(life.disk(disk), {
        ...options,
        store: (given) => life.store(takingIn(memory(w, { ...given, random }), disk)),
      });
      life.onDeath(() => {
        buried.add(proc.store.presence.peer.id);
        w.alive.delete(proc.store.presence.peer.id);
      });
      return { ...proc, die: life.die };
    },
  };
}

/** A process that dies while it joins is not alive, even if its call takes effect later. */
function livingPeers(buried: ReadonlySet<string>): World['alive'] {
  return new (class extends Map<string, Peer> {
    override set(id: string, peer: Peer): this {
      return buried.has(id) ? this : super.set(id, peer);
    }
  })();
}

/**
 * A scan takes in the task files that people dropped on the disk, and a sweep removes what dead
 * processes left there.
 */
export function takingIn(store: Store, disk: Disk): Store {
  const pending = path.join(ROOT, 'tasks/pending');
  const { tasks } = store;
  const scan: Tasks['scan'] = async (full) => {
    for (const file of disk.list(pending)) {
      const read = disk.read(path.join(pending, file));
      if (read.kind !== 'file') continue;
      const name = file.slice(0, -'.json'.length);
      const parsed = parseTask(read.bytes, { file, name, now: '2026-01-01T00:00:00.000Z' });
      if (parsed.kind === 'task') await tasks.create(parsed.task);
      disk.remove(path.join(pending, file));
    }
    return tasks.scan(full);
  };
  const sweep = async (): Promise<void> => removeAbandonedFiles(disk, path.join(ROOT, '.guild/tmp'));
  return { ...store, tasks: { ...tasks, scan }, presence: { ...store.presence, sweep } };
}

interface Life {
  store(store: Store): Store;
  disk(disk: Disk): Disk;
  onDeath(bury: () => void): void;
  die(): void;
}

/**
 * A process that dies at a certain call: half of the time the call took effect, and only its answer
 * is lost.
 */
function mortal(dies: number): Life {
  let calls = 0;
  let dead = false;
  let bury = (): void => undefined;
  const die = (): void => {
    dead = true;
    bury();
  };
  const alive = (): void => {
    if (dead) throw new Error('the process is gone');
  };
  return {
    store: (store) => wrappedStore(store, step),
    disk: (disk) =>
      wrapped(disk, ON_DISK, (call) => {
        alive();
        return call();
      }),
    onDeath: (then) => void (bury = then),
    die,
  };

  function step(call: () => unknown): unknown {
    alive();
    if (++calls < dies) return after(call());
    if (calls % 2 === 0) void Promise.resolve(call()).catch(() => undefined);
    die();
    return alive();
  }

  /** An answer that arrives after the process died is ignored. */
  function after(answer: unknown): unknown {
    if (!(answer instanceof Promise)) return answer;
    return answer.then((value: unknown) => {
      alive();
      return value;
    });
  }
}

/** Verbs that answer at once; all others return promises. */
const AT_ONCE: { [P in keyof StorePorts]?: readonly (keyof StorePorts[P])[] } = {
  tasks: ['open', 'openCount', 'openUnderRoot', 'getOpen', 'isOpen', 'unreadable', 'version', 'changedSince'],
  sessions: ['known'],
  presence: ['version', 'rank', 'ringOthers'],
  events: ['append'],
  views: ['write'],
};

function wrappedStore({ flush, close, stats, ...ports }: Store, around: (call: () => unknown) => unknown): Store {
  const names = Object.keys(ports) as (keyof StorePorts)[];
  const all = names.map((name) => [name, wrapped(ports[name], new Set<string>(AT_ONCE[name]), around)]);
  return { ...(Object.fromEntries(all) as StorePorts), ...wrapped({ flush, close }, new Set(), around), stats };
}

const SYNCED: ReadonlySet<string> = new Set<keyof Disk>(['createSynced', 'sync', 'syncFolder']);
const ON_DISK = { has: (name: string): boolean => !SYNCED.has(name) };

/**
 * Every method goes through `around`. Those that return promises reject instead of throwing, as
 * async functions do.
 */
function wrapped<T extends object>(
  target: T,
  inPlace: { has(name: string): boolean },
  around: (call: () => unknown) => unknown,
): T {
  const methods = Object.entries(target).map(([name, value]: [string, unknown]) => {
    if (typeof value !== 'function') return [name, value];
    const run = (args: unknown[]): unknown => around(() => value.apply(target, args) as unknown);
    const method = inPlace.has(name) ? (...args: unknown[]) => run(args) : async (...args: unknown[]) => run(args);
    return [name, method];
  });
  return Object.fromEntries(methods) as T;
}

/** The content of a store, as the files of a workspace show it. */
interface Held {
  rows: Iterable<readonly [id: string, placed: Placed]>;
  sessions: Iterable<readonly [id: string, session: Session]>;
  events: readonly Event[];
}

export function reflect({ rows, sessions, events }: Held, disk: SimDisk): void {
  for (const [id, { task, state }] of rows) {
    for (const other of ['pending', 'active', 'waiting', 'completed', 'failed'])
      if (other !== state) disk.remove(path.join(ROOT, 'tasks', other, `${id}.json`));
    disk.save(path.join(ROOT, 'tasks', state, `${id}.json`), printTask(task));
    disk.save(path.join(ROOT, 'results', `${id}.md`), task.result ?? task.error?.message ?? '');
  }
  for (const [id, { header, messages }] of sessions)
    disk.save(path.join(ROOT, 'sessions', `${id}.session.yaml`), printHeader(header) + printMessages(messages));
  const lines = events.map((event) => `${JSON.stringify(event)}\n`);
  disk.save(path.join(ROOT, 'events/2026-01-01.jsonl'), lines.join(''));
}
