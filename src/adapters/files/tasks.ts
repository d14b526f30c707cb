/**
 * Tasks as files. The folder is the state; a claim is a rename into `active` under a name that carries the taker; an end
 * is an exclusive link into `completed` or `failed`. Every order of steps here was chosen so that a stop between any two
 * leaves either the state before or the state after, or a leftover that `sweep` recognises.
 */
import { isEnded as isOver, type OpenState, type Placed, type Task } from '../../domain/task/task.js';
import { sameContent } from '../../domain/stamp.js';
import type { Disk } from '../../ports/disk.js';
import type { Claim, OpenTask, Tasks } from '../../ports/store/tasks.js';
import { printTask } from '../../text/records/task.js';
import path from 'node:path';
import { once, type Ahead } from './ahead.js';
import { placing, twin } from './placing.js';
import { ending, isAcknowledged } from './ending.js';
import type { Journal } from './journal.js';
import { agentInClaim, LEAVING, parseClaimName, type ClaimName, type Layout } from './base/layout.js';
import type { Entry, OpenTasks } from './open-tasks.js';
import type { Presence } from './presence.js';
import type { Quarantine } from './quarantine.js';
import type { Shelves } from './task-lookup.js';
import type { Writing } from './base/atomic-write.js';

type TaskVerbs = Pick<
  Tasks,
  | 'create'
  | 'scan'
  | 'open'
  | 'openCount'
  | 'version'
  | 'isOpen'
  | 'getOpen'
  | 'openUnderRoot'
  | 'read'
  | 'readChild'
  | 'ended'
  | 'orphans'
  | 'release'
  | 'park'
  | 'settle'
  | 'reopen'
>;

interface Parts {
  disk: Disk;
  l: Layout;
  writing: Writing;
  tasks: OpenTasks;
  lying: Shelves;
  presence: Presence;
  quarantine: Quarantine;
  ahead: Ahead;
  journal: Pick<Journal, 'arrived' | 'settle' | 'keep'>;
}

/** Synchronous inside of the adapter, so that nothing comes between a claim and what is noted about it. */
interface TaskKeeping {
  claim(id: string, agent: string): Claim | undefined;
  takeOver(id: string): Claim | undefined;
  sweep(): void;
  /** Looked up on the disk, for a task that another process may have made or moved since the last scan. */
  liesOpen(id: string): boolean;
}

const NOTHING = { problems: [], gone: [] };

export function taskVerbs({
  disk,
  l,
  writing,
  tasks,
  lying,
  presence,
  quarantine,
  ahead,
  journal,
}: Parts): TaskVerbs & TaskKeeping {
  const me = presence.peer.id;
  let isScanned = false;
  /** Found by a look that nobody asked for; told with the next. */
  let untold: ReturnType<OpenTasks['scan']> = NOTHING;
  const naming = inOrder<string>();
  const keeping = inOrder<void>();
  const onItsWay = placing({ disk, l, tasks, lying, quarantine, ahead, me });
  const { forget } = onItsWay;
  const { settle, settleBehind, syncSession } = ending({ disk, l, writing, ahead, journal, lying, onItsWay, me });
  /** Claims on what nobody else can have had in hand since we had it: who else could have made parts of it? */
  const unshared = new WeakSet<Claim>();

  return {
    async create(task, { durable = true } = {}) {
      const file = l.task('pending', task.id);
      if (!durable) {
        if (isKnown(task.id) || disk.stamp(file) !== undefined) return false; // a person may be writing in it
        tasks.add({ id: task.id, state: 'pending', file, stamp: '', task });
        onItsWay.send(
          {
            id: task.id,
            parent: task.parent,
            root: task.root,
            from: undefined,
            write: once(() => writing.aside(printTask(task))),
          },
          file,
        );
        return true;
      }
      if (existsAnywhere(task.id)) return false;
      const aside = await naming(writing.aside(printTask(task)));
      // Looked for again with no wait before the name is given: another process may have made it, and moved it on, since.
      const created = !existsAnywhere(task.id) && disk.link(aside, file);
      disk.remove(aside);
      if (!created) return false;
      await keeping(isAcknowledged(task) ? disk.syncFolder(path.dirname(file)) : Promise.resolve());
      tasks.add({ id: task.id, state: 'pending', file, stamp: disk.stamp(file) ?? '', task });
      return true;
    },
    scan: async (full = false) => scan(full),
    *open() {
      for (const entry of tasks.byId.values()) yield shown(entry);
    },
    openCount: () => tasks.byId.size,
    version: () => tasks.changes,
    isOpen: (id) => tasks.byId.has(id),
    getOpen(id) {
      const entry = tasks.byId.get(id);
      return entry && shown(entry);
    },
    openUnderRoot: (root) => tasks.ofRoot.get(root) ?? 0,
    async read(id) {
      return readPlaced(id);
    },
    async readChild(id, parent) {
      const entry = tasks.byId.get(id);
      if (entry !== undefined && (isMine(entry) || onItsWay.get(id) !== undefined)) return shown(entry);
      if (onItsWay.get(id)?.end !== undefined) return onItsWay.get(id)!.end;
      if (entry === undefined && unshared.has(parent)) return readEnded(id);
      const placed = readPlaced(id);
      // It came while folders were listed, and was missed: whoever asks next must not be told that it is nowhere.
      if (entry === undefined && placed !== undefined && !isOver(placed.state)) untold = scan(false);
      return placed;
    },
    async ended(options = {}) {
      await onItsWay.caughtUp();
      return lying.ended(options);
    },
    claim(id, agent) {
      const entry = tasks.byId.get(id);
      if (entry === undefined || entry.state === 'active') return undefined;
      return take(entry, agent, false);
    },
    takeOver(id) {
      const entry = tasks.byId.get(id);
      if (entry?.state !== 'active' || isHeld(entry)) return undefined;
      return take(entry, entry.task.to ?? entry.owner?.agent ?? 'nobody', true);
    },
    async orphans() {
      const ids: string[] = [];
      for (const entry of tasks.byId.values()) if (entry.state === 'active' && !isHeld(entry)) ids.push(entry.id);
      return ids;
    },
    release: (claim, task) => putBack(claim, task, 'pending'),
    park: (claim, task, { durable = true } = {}) => (durable ? putBack(claim, task, 'waiting') : rest(claim, task)),
    settle: (claim, task, state, { durable = true } = {}) => (durable ? settle : settleBehind)(claim, task, state),
    async reopen(id, task) {
      // What is left of its end would have the name of what is left of the next.
      await Promise.all([onItsWay.caughtUp(), disk.removed?.()]);
      await journal.settle();
      for (const state of ['failed', 'completed'] as const) {
        const file = l.task(state, id);
        if (disk.stamp(file) === undefined) continue;
        await writing.replace(file, printTask(task));
        const target = l.task('pending', id);
        if (!disk.rename(file, target)) return false;
        await Promise.all([disk.syncFolder(l.tasks('pending')), disk.syncFolder(l.tasks(state))]);
        tasks.load('pending', target);
        return true;
      }
      return false;
    },
    sweep,
    liesOpen: (id) => !isEnded(id) && existsAnywhere(id),
  };

  function scan(full: boolean): ReturnType<OpenTasks['scan']> {
    isScanned = true;
    const found = tasks.scan(full, (id) => onItsWay.get(id) !== undefined);
    const all = { problems: [...untold.problems, ...found.problems], gone: [...untold.gone, ...found.gone] };
    untold = NOTHING;
    return all;
  }

  function isHeld(entry: Entry): boolean {
    return entry.owner !== undefined && presence.isAlive(entry.owner.peer);
  }

  function shown(entry: Entry): OpenTask {
    const held = entry.state === 'active' && isHeld(entry);
    const owner = entry.owner && { agent: entry.task.to ?? entry.owner.agent, peer: entry.owner.peer };
    return { task: tasks.withWaits(entry), state: entry.state, held, ...(owner ? { owner } : {}) };
  }

  /** The rename is the whole claim. What was cached about the file is believed only if its content did not change since. */
  function take(entry: Entry, agent: string, recovered: boolean): Claim | undefined {
    const from = entry.state;
    const file = l.claimed(entry.id, agent, me);
    tasks.remove(entry);
    const placement = onItsWay.get(entry.id);
    if (placement !== undefined) {
      // Nobody else can see it where it goes: on the disk it has no name yet, or is still under our claim.
      onItsWay.redirect(placement, file, false);
      tasks.add({ ...entry, state: 'active', file, owner: ownName(entry.id, agent) });
      const claim: Claim = { id: entry.id, agent, task: entry.task, from, recovered };
      unshared.add(claim);
      return claim;
    }
    if (!disk.rename(entry.file, file)) return undefined;
    if (isEnded(entry.id)) {
      disk.remove(file);
      return undefined;
    }
    const stamp = disk.stamp(file);
    if (stamp === undefined) return undefined;
    let mine: Entry = { ...entry, state: 'active', file, stamp, owner: ownName(entry.id, agent) };
    if (!sameContent(stamp, entry.stamp)) {
      const loaded = tasks.load('active', file);
      if (loaded === undefined || 'code' in loaded) {
        disk.rename(file, entry.file); // a person is editing it: it stays where they see it
        return undefined;
      }
      mine = loaded;
    } else {
      tasks.add(mine);
    }
    return { id: entry.id, agent, task: mine.task, from, recovered };
  }

  function ownName(id: string, agent: string): ClaimName {
    return { id, agent: agentInClaim(agent), peer: me, leaving: false };
  }

  /** Puts it among the waiting as it is. */
  async function rest(claim: Claim, task: Task): Promise<boolean> {
    const held = l.claimed(claim.id, claim.agent, me);
    const to = l.task('waiting', claim.id);
    const before = tasks.byId.get(claim.id);
    const placement = onItsWay.get(claim.id);
    forget(claim.id);
    if (placement === undefined && disk.stamp(held) === undefined) return false;
    tasks.add({ id: claim.id, state: 'waiting', file: to, stamp: before?.stamp ?? '', task });
    if (placement !== undefined) onItsWay.redirect(placement, to, true);
    else onItsWay.send({ id: claim.id, parent: task.parent, root: task.root, from: held, rests: true }, to);
    return true;
  }

  async function putBack(claim: Claim, task: Task, state: 'pending' | 'waiting'): Promise<boolean> {
    const held = l.claimed(claim.id, claim.agent, me);
    // Whoever finds it where it goes looks for its parts, and makes those that are nowhere.
    const [tmp] = await Promise.all([writing.aside(printTask(task)), syncSession(task), onItsWay.named(claim.id)]);
    if (disk.stamp(held) === undefined) {
      disk.remove(tmp);
      forget(claim.id);
      return false;
    }
    const target = l.task(state, claim.id);
    if (disk.stamp(target) !== undefined) quarantine(target, twin(l, claim.id, target));
    disk.rename(tmp, held);
    disk.rename(held, target);
    forget(claim.id);
    tasks.add({ id: claim.id, state, file: target, stamp: disk.stamp(target) ?? '', task });
    // Only its place could be lost in a power cut, and then it is an orphan of a dead claim, to be looked at again.
    return true;
  }

  function isEnded(id: string): boolean {
    return onItsWay.get(id)?.end !== undefined || lying.hasEnded(id);
  }

  function isKnown(id: string): boolean {
    return tasks.byId.has(id) || onItsWay.get(id) !== undefined;
  }

  function existsAnywhere(id: string): boolean {
    return isKnown(id) || lying.has(id);
  }

  function isMine({ state, owner }: Entry): boolean {
    return state === 'active' && owner?.peer === me;
  }

  function readEnded(id: string): Placed | undefined {
    for (const state of ['completed', 'failed'] as const) {
      const task = lying.read(l.task(state, id), id);
      if (task !== undefined) return { task, state };
    }
    return undefined;
  }

  function readPlaced(id: string): Placed | undefined {
    const placement = onItsWay.get(id);
    const known = placement && tasks.byId.get(id);
    if (placement?.end ?? known) return placement?.end ?? shown(known!);
    return findPlaced(id);
  }

  /** Folders are looked at one after the other, and another process may move it meanwhile: so it is looked for once more where it may have gone. */
  function findPlaced(id: string): Placed | undefined {
    return (
      readEnded(id) ??
      readOpen('pending', id) ??
      readOpen('waiting', id) ??
      readActive(id) ??
      readOpen('waiting', id) ??
      readOpen('pending', id) ??
      readEnded(id)
    );
  }

  function readOpen(state: 'pending' | 'waiting', id: string): Placed | undefined {
    const task = lying.read(l.task(state, id), id);
    if (task === undefined) return undefined;
    if (state === 'waiting' && !isScanned) untold = scan(false); // its children say for what
    return { task: tasks.withWaits({ state, task }), state };
  }

  function readActive(id: string): Placed | undefined {
    const entry = tasks.byId.get(id);
    const name = disk.list(l.tasks('active')).find((one) => parseClaimName(one)?.id === id);
    const file = name === undefined ? entry?.file : path.join(l.tasks('active'), name);
    const task = file === undefined ? undefined : lying.read(file, id);
    if (task === undefined) return undefined;
    const owner: ClaimName | undefined = name === undefined ? undefined : parseClaimName(name);
    const state: OpenState = name === undefined ? (entry?.state ?? 'pending') : 'active';
    return { task, state, ...(owner ? { owner: { agent: task.to ?? owner.agent, peer: owner.peer } } : {}) };
  }

  /** Leftovers of peers that died between two steps of a settle. */
  function sweep(): void {
    for (const name of disk.list(l.tasks('active'))) {
      const claim = parseClaimName(name);
      if (claim === undefined || presence.isAlive(claim.peer)) continue;
      const file = path.join(l.tasks('active'), name);
      if (lying.hasEnded(claim.id)) disk.remove(file);
      else if (claim.leaving) goBack(file, claim.id);
    }
  }

  /** If it lies elsewhere, it had ended and was opened again. */
  function goBack(leaving: string, id: string): void {
    const isPlaced = (): boolean =>
      disk.stamp(l.task('pending', id)) !== undefined || disk.stamp(l.task('waiting', id)) !== undefined;
    const isClaimed = (): boolean =>
      disk.list(l.tasks('active')).some((name) => {
        const claim = parseClaimName(name);
        return claim?.id === id && !claim.leaving;
      });
    if (isPlaced() || isClaimed() || isPlaced()) disk.remove(leaving);
    else disk.rename(leaving, leaving.slice(0, -LEAVING.length));
  }
}

/** What is made together is named and known in the order it was asked for, whichever the device has first. */
function inOrder<T>(): (one: Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (one) => {
    const mine = Promise.all([one, last]).then(([value]) => value);
    last = mine.catch(() => undefined);
    return mine;
  };
}
