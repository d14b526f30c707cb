/**
 * Tasks as files. The folder is the state; a claim is a rename into `active` under a name that carries the taker; an end
 * is an exclusive link into `completed` or `failed`. Every order of steps here was chosen so that a stop between any two
 * leaves either the state before or the state after, or a leftover that `sweep` recognises.
 */
import { certificateText } from '../../domain/certificate.js';
import type { Problem } from '../../domain/problem.js';
import { type EndedState, type OpenState, type Placed, type Task } from '../../domain/task.js';
import type { Disk } from '../../ports/disk.js';
import type { Claim, OpenTask, Store } from '../../ports/store.js';
import { printTask } from '../../text/task-json.js';
import path from 'node:path';
import type { Behind } from './behind.js';
import { claimName, LEAVING, parseClaimName, type ClaimName, type Layout } from './layout.js';
import type { Entry, OpenTasks } from './open-tasks.js';
import type { Presence } from './presence.js';
import type { Quarantine } from './quarantine.js';
import { shelves } from './shelves.js';
import type { Writing } from './writing.js';

type TaskVerbs = Pick<
  Store,
  | 'create'
  | 'scan'
  | 'open'
  | 'openCount'
  | 'changes'
  | 'isOpen'
  | 'openUnderRoot'
  | 'read'
  | 'ended'
  | 'claim'
  | 'takeOver'
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
  presence: Presence;
  quarantine: Quarantine;
  behind: Behind;
  now: () => Date;
}

/** A file on its way: it lies at `from`, and where it shall lie may still change. */
interface Move {
  from: string | Promise<string>;
  /** It has no name yet: it must not take one that exists. */
  isNew: boolean;
  to: string;
}

export function taskVerbs({
  disk,
  l,
  writing,
  tasks,
  presence,
  quarantine,
  behind,
  now,
}: Parts): TaskVerbs & { sweep(): void; liesOpen(id: string): boolean } {
  const me = presence.peer.id;
  /** Where memory is ahead of the disk: files on their way, and ends that are not written yet. */
  const moves = new Map<string, Move>();
  const ends = new Map<string, Placed>();
  let isScanned = false;
  const lying = shelves(disk, l, now);

  return {
    async create(task, haste = {}) {
      if (existsAnywhere(task.id)) return false;
      const text = printTask(task);
      const file = l.task('pending', task.id);
      if (haste.behind) {
        tasks.add({ id: task.id, state: 'pending', file, stamp: '', task });
        move(task.id, { from: writing.aside(text), isNew: true, to: file });
        return true;
      }
      const aside = await writing.aside(text);
      // Looked for again with no wait before the name is given: another process may have made it, and moved it on, since.
      const created = !existsAnywhere(task.id) && disk.link(aside, file);
      disk.remove(aside);
      if (!created) return false;
      if (isAcknowledged(task)) await disk.syncFolder(path.dirname(file));
      tasks.add({ id: task.id, state: 'pending', file, stamp: disk.stamp(file) ?? '', task });
      return true;
    },
    scan: async (full = false) => scan(full),
    *open() {
      for (const entry of tasks.byId.values()) yield shown(entry);
    },
    openCount: () => tasks.byId.size,
    changes: () => tasks.changes,
    isOpen: (id) => tasks.byId.has(id),
    openUnderRoot: (root) => tasks.ofRoot.get(root) ?? 0,
    async read(id) {
      return readPlaced(id);
    },
    async ended(options = {}) {
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
    orphans() {
      const ids: string[] = [];
      for (const entry of tasks.byId.values()) if (entry.state === 'active' && !isHeld(entry)) ids.push(entry.id);
      return ids;
    },
    release: (claim, task) => putBack(claim, task, 'pending'),
    park: (claim, task, haste = {}) => (haste.behind ? rest(claim, task) : putBack(claim, task, 'waiting')),
    settle: (claim, task, state, haste = {}) => (haste.behind ? settleBehind : settle)(claim, task, state),
    async reopen(id, task) {
      await behind.caughtUp();
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
    /** Looked up on the disk, for a task that another process may have made or moved since the last scan. */
    liesOpen: (id) => !isEnded(id) && existsAnywhere(id),
  };

  function scan(full: boolean): ReturnType<OpenTasks['scan']> {
    isScanned = true;
    return tasks.scan(full, (id) => moves.has(id) || ends.has(id));
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
    const onItsWay = moves.get(entry.id);
    if (onItsWay !== undefined) {
      // Nobody else can see it where it goes: on the disk it has no name yet, or is still under our claim.
      onItsWay.to = file;
      tasks.add({ ...entry, state: 'active', file, owner: ownName(entry.id, agent) });
      return { id: entry.id, agent, task: entry.task, from, recovered };
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
    return { id, agent: agent.replaceAll('_', '-'), peer: me, leaving: false };
  }

  /** Brings a file to its place when all before it are done. Where that is may change until then. */
  function move(id: string, one: Move): void {
    moves.set(id, one);
    if (one.from instanceof Promise) one.from.catch(() => undefined); // met where it is awaited
    behind.later(async () => {
      const from = await one.from;
      moves.delete(id);
      if (!arrive(id, from, one)) return forget(id); // somebody made or took it: ours is none
      const entry = tasks.byId.get(id);
      const stamp = disk.stamp(one.to);
      if (entry === undefined || stamp === undefined) return;
      if (one.isNew || sameContent(stamp, entry.stamp)) entry.stamp = stamp;
      else tasks.load(entry.state, entry.file);
    });
  }

  function arrive(id: string, from: string, { isNew, to }: Move): boolean {
    if (!isNew) {
      if (from === to) return true;
      if (disk.stamp(to) !== undefined) quarantine(to, twin(id, to));
      return disk.rename(from, to);
    }
    const created = !lying.has(id) && disk.link(from, to);
    disk.remove(from);
    return created;
  }

  /** Puts it among the waiting as it is. */
  async function rest(claim: Claim, task: Task): Promise<boolean> {
    const held = l.claimed(claim.id, claim.agent, me);
    const to = l.task('waiting', claim.id);
    const before = tasks.byId.get(claim.id);
    const onItsWay = moves.get(claim.id);
    forget(claim.id);
    if (onItsWay === undefined && disk.stamp(held) === undefined) return false;
    tasks.add({ id: claim.id, state: 'waiting', file: to, stamp: before?.stamp ?? '', task });
    if (onItsWay !== undefined) onItsWay.to = to;
    else move(claim.id, { from: held, isNew: false, to });
    return true;
  }

  async function putBack(claim: Claim, task: Task, state: 'pending' | 'waiting'): Promise<boolean> {
    const held = l.claimed(claim.id, claim.agent, me);
    const [tmp] = await Promise.all([writing.aside(printTask(task)), syncSession(task), behind.caughtUp()]);
    if (disk.stamp(held) === undefined) {
      disk.remove(tmp);
      forget(claim.id);
      return false;
    }
    const target = l.task(state, claim.id);
    if (disk.stamp(target) !== undefined) quarantine(target, twin(claim.id, target));
    disk.rename(tmp, held);
    disk.rename(held, target);
    forget(claim.id);
    tasks.add({ id: claim.id, state, file: target, stamp: disk.stamp(target) ?? '', task });
    // Only its place could be lost in a power cut, and then it is an orphan of a dead claim, to be looked at again.
    return true;
  }

  /** Renaming our own claim first is the fence: if it is gone, somebody took the task from us, and our result is only evidence. */
  async function settle(claim: Claim, task: Task, state: EndedState): Promise<boolean> {
    const held = l.claimed(claim.id, claim.agent, me);
    const page = task.parent === undefined ? resultPage(task) : undefined;
    const [tmp, pageTmp] = await Promise.all([
      writing.aside(printTask(task)),
      page === undefined ? undefined : writing.aside(page),
      syncSession(task),
      behind.caughtUp(),
    ]);
    forget(claim.id);
    const leaving = held + LEAVING;
    if (!disk.rename(held, leaving)) return keepAsEvidence(claim, tmp, pageTmp);
    // The page comes first: once the record is there, nobody would look whether its page is.
    if (pageTmp !== undefined) disk.rename(pageTmp, l.result(claim.id));
    if (!disk.link(tmp, l.task(state, claim.id))) {
      disk.remove(leaving);
      return keepAsEvidence(claim, tmp);
    }
    if (isAcknowledged(task)) await Promise.all([disk.syncFolder(l.tasks(state)), disk.syncFolder(l.results)]);
    disk.remove(tmp);
    disk.remove(leaving);
    return true;
  }

  /** The same, but only the fence is met at once, where there can be another owner at all. */
  async function settleBehind(claim: Claim, task: Task, state: EndedState): Promise<boolean> {
    const held = l.claimed(claim.id, claim.agent, me);
    const leaving = held + LEAVING;
    const written = Promise.all([writing.aside(printTask(task)), syncSession(task)]);
    written.catch(() => undefined); // met where it is awaited
    const isOnItsWay = moves.has(claim.id);
    forget(claim.id);
    if (!isOnItsWay && !disk.rename(held, leaving)) return keepAsEvidence(claim, (await written)[0]);
    ends.set(claim.id, { task, state });
    behind.later(async () => {
      const [tmp] = await written;
      ends.delete(claim.id);
      if (isOnItsWay && !disk.rename(held, leaving)) return void keepAsEvidence(claim, tmp);
      if (disk.link(tmp, l.task(state, claim.id))) disk.remove(tmp);
      else keepAsEvidence(claim, tmp);
      disk.remove(leaving);
    });
    return true;
  }

  function keepAsEvidence(claim: Claim, tmp: string, pageTmp?: string): false {
    disk.rename(tmp, path.join(l.evidence, claimName(claim.id, claim.agent, me)));
    if (pageTmp !== undefined) disk.remove(pageTmp);
    return false;
  }

  /** What was said last is durable no later than the record that follows from it. */
  async function syncSession(task: Task): Promise<void> {
    if (task.session === undefined) return;
    const file = l.session(task.session);
    if (disk.stamp(file) !== undefined) await disk.sync(file);
  }

  function forget(id: string): void {
    const entry = tasks.byId.get(id);
    if (entry) tasks.remove(entry);
  }

  function isEnded(id: string): boolean {
    return ends.has(id) || lying.hasEnded(id);
  }

  function existsAnywhere(id: string): boolean {
    return tasks.byId.has(id) || ends.has(id) || lying.has(id);
  }

  function readPlaced(id: string): Placed | undefined {
    const ahead = ends.get(id) ?? (moves.has(id) ? tasks.byId.get(id) : undefined);
    if (ahead !== undefined) return 'id' in ahead ? shown(ahead) : ahead;
    for (const state of ['completed', 'failed', 'pending', 'waiting'] as const) {
      const task = lying.read(l.task(state, id), id);
      if (task === undefined) continue;
      if (state === 'waiting' && !isScanned) scan(false); // its children say for what
      return { task: tasks.withWaits({ state, task }), state };
    }
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
      else if (claim.leaving) disk.rename(file, file.slice(0, -LEAVING.length));
    }
  }

  function twin(id: string, file: string): Problem {
    const shownFile = path.relative(l.root, file);
    return {
      code: 'duplicate',
      message: `${shownFile} has the id ${id} of a task that is being worked on`,
      where: { file: shownFile },
    };
  }
}

/**
 * Somebody outside was told, or will be: then the name is durable too. A child is wanted by its parent's rule or conversation,
 * and its end follows from its own; names lost in a power cut are made again from there, and later ones are never kept
 * without earlier ones.
 */
function isAcknowledged(task: Task): boolean {
  return task.parent === undefined;
}

function sameContent(a: string, b: string): boolean {
  // The last part is ctime, which a rename changes.
  return a.slice(0, a.lastIndexOf('.')) === b.slice(0, b.lastIndexOf('.'));
}

/** What people read. The record keeps the same text for programs. */
function resultPage(task: Task): string {
  const head = `# ${task.description.split('\n')[0]!.slice(0, 120)}\n\n`;
  if (task.error)
    return `${head}This task failed: ${task.error.message}\n${task.error.hint ? `\n${task.error.hint}\n` : ''}`;
  const certified = task.certificate && task.certificate.of > 1 ? `\n*${certificateText(task.certificate)}*\n` : '';
  return `${head}${(task.result ?? '').trimEnd()}\n${certified}`;
}
