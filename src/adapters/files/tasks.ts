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
import { parseTask, printTask } from '../../text/task-json.js';
import path from 'node:path';
import { claimName, LEAVING, parseClaimName, type ClaimName, type Layout } from './layout.js';
import type { Entry, OpenTasks } from './open-tasks.js';
import type { Presence } from './presence.js';
import type { Quarantine } from './quarantine.js';
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
  now: () => Date;
}

export function taskVerbs({
  disk,
  l,
  writing,
  tasks,
  presence,
  quarantine,
  now,
}: Parts): TaskVerbs & { sweep(): void; liesOpen(id: string): boolean } {
  const me = presence.peer.id;

  return {
    async create(task) {
      if (existsAnywhere(task.id)) return false;
      const text = printTask(task);
      const file = l.task('pending', task.id);
      const aside = await writing.aside(text);
      // Looked for again with no wait before the name is given: another process may have made it, and moved it on, since.
      const created = !existsAnywhere(task.id) && disk.link(aside, file);
      disk.remove(aside);
      if (!created) return false;
      if (isAcknowledged(task)) await disk.syncFolder(path.dirname(file));
      tasks.add({ id: task.id, state: 'pending', file, stamp: disk.stamp(file) ?? '', task });
      return true;
    },
    async scan(full = false) {
      return tasks.scan(full);
    },
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
      return listEnded(options);
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
    park: (claim, task) => putBack(claim, task, 'waiting'),
    settle,
    async reopen(id, task) {
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

  function isHeld(entry: Entry): boolean {
    return entry.owner !== undefined && presence.isAlive(entry.owner.peer);
  }

  function shown(entry: Entry): OpenTask {
    const held = entry.state === 'active' && isHeld(entry);
    const owner = entry.owner && { agent: entry.task.to ?? entry.owner.agent, peer: entry.owner.peer };
    return { task: entry.task, state: entry.state, held, ...(owner ? { owner } : {}) };
  }

  /** The rename is the whole claim. What was cached about the file is believed only if its content did not change since. */
  function take(entry: Entry, agent: string, recovered: boolean): Claim | undefined {
    const from = entry.state;
    const file = l.claimed(entry.id, agent, me);
    tasks.remove(entry);
    if (!disk.rename(entry.file, file)) return undefined;
    if (isEnded(entry.id)) {
      disk.remove(file);
      return undefined;
    }
    const owner: ClaimName = { id: entry.id, agent: agent.replaceAll('_', '-'), peer: me, leaving: false };
    const stamp = disk.stamp(file);
    if (stamp === undefined) return undefined;
    let mine: Entry = { ...entry, state: 'active', file, stamp, owner };
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

  async function putBack(claim: Claim, task: Task, state: 'pending' | 'waiting'): Promise<boolean> {
    const held = l.claimed(claim.id, claim.agent, me);
    const [tmp] = await Promise.all([writing.aside(printTask(task)), syncSession(task)]);
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
    return disk.stamp(l.task('completed', id)) !== undefined || disk.stamp(l.task('failed', id)) !== undefined;
  }

  function existsAnywhere(id: string): boolean {
    if (tasks.byId.has(id) || isEnded(id)) return true;
    if (disk.stamp(l.task('pending', id)) !== undefined || disk.stamp(l.task('waiting', id)) !== undefined) return true;
    return disk.list(l.tasks('active')).some((name) => name.startsWith(`${id}_`) && parseClaimName(name)?.id === id);
  }

  function readPlaced(id: string): Placed | undefined {
    for (const state of ['completed', 'failed', 'pending', 'waiting'] as const) {
      const task = readRecord(l.task(state, id), id);
      if (task !== undefined) return { task, state };
    }
    const entry = tasks.byId.get(id);
    const name = disk.list(l.tasks('active')).find((one) => parseClaimName(one)?.id === id);
    const file = name === undefined ? entry?.file : path.join(l.tasks('active'), name);
    const task = file === undefined ? undefined : readRecord(file, id);
    if (task === undefined) return undefined;
    const owner: ClaimName | undefined = name === undefined ? undefined : parseClaimName(name);
    const state: OpenState = name === undefined ? (entry?.state ?? 'pending') : 'active';
    return { task, state, ...(owner ? { owner: { agent: task.to ?? owner.agent, peer: owner.peer } } : {}) };
  }

  function readRecord(file: string, name: string): Task | undefined {
    if (disk.stamp(file) === undefined) return undefined; // a stamp costs a tenth of an open that fails
    const read = disk.read(file);
    if (read.kind !== 'file') return undefined;
    const parsed = parseTask(read.bytes, { file: path.relative(l.root, file), name, now: now().toISOString() });
    return parsed.kind === 'task' ? parsed.task : undefined;
  }

  function listEnded({ state, limit = Infinity }: { state?: EndedState; limit?: number }): Placed[] {
    const found: { file: string; state: EndedState; at: bigint }[] = [];
    for (const one of state ? [state] : (['completed', 'failed'] as const)) {
      for (const name of disk.list(l.tasks(one))) {
        if (!name.endsWith('.json') || name.startsWith('.')) continue;
        const file = path.join(l.tasks(one), name);
        const stamp = disk.stamp(file);
        if (stamp !== undefined) found.push({ file, state: one, at: BigInt(stamp.split('.')[2]!) });
      }
    }
    found.sort((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : 0));
    const placed: Placed[] = [];
    for (const one of found) {
      if (placed.length >= limit) break;
      const task = readRecord(one.file, path.basename(one.file, '.json'));
      if (task) placed.push({ task, state: one.state });
    }
    return placed;
  }

  /** Leftovers of peers that died between two steps of a settle. */
  function sweep(): void {
    for (const name of disk.list(l.tasks('active'))) {
      const claim = parseClaimName(name);
      if (claim === undefined || presence.isAlive(claim.peer)) continue;
      const file = path.join(l.tasks('active'), name);
      if (isEnded(claim.id)) disk.remove(file);
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
