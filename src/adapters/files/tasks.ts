/**
 * Tasks as files. The folder is the state. A claim is a rename into `active` under a name that
 * contains the owner. Everything else that happens under a claim is a line of the journal first,
 * and its file follows.
 */
import path from 'node:path';
import { defined } from '../../domain/defined.js';
import { hasPage, pageMark, pagePlace } from '../../domain/task/result-page.js';
import type { EndedState, Task } from '../../domain/task/task.js';
import { sameContent } from '../../domain/stamp.js';
import type { Disk } from '../../ports/disk.js';
import type { Claim, Tasks } from '../../ports/store/tasks.js';
import { printTask } from '../../text/records/task.js';
import type { AtomicWrite } from './base/atomic-write.js';
import { contentSum } from './base/content-sum.js';
import { agentInClaim, claimName, type ClaimName, type Layout } from './base/layout.js';
import { claimOf, hasEnded } from './base/where-now.js';
import { sweepClaims } from './claims.js';
import type { Journal } from './journal/journal.js';
import { pageKey, taskKey } from './journal/step.js';
import type { Entry } from './open-index.js';
import type { OpenTasks } from './open-tasks.js';
import type { Placer } from './place/placer.js';
import type { Placing } from './place/operation.js';
import type { Presence } from './base/presence.js';
import type { Quarantine } from './quarantine.js';
import { taskView, type TaskItem, type TaskView } from './task-view.js';
import { resultPage } from './records/result-page.js';
import type { TaskLookup } from './task-lookup.js';
import { twinOf } from './twins.js';

interface Dependencies {
  disk: Disk;
  layout: Layout;
  write: AtomicWrite;
  tasks: OpenTasks;
  lookup: TaskLookup;
  presence: Presence;
  quarantine: Quarantine;
  journal: Journal;
  placer: Placer;
}

/** Synchronous within the adapter, so that nothing runs between a claim and its bookkeeping. */
interface TaskVerbs extends Pick<Tasks, 'create' | 'ended' | 'release' | 'park' | 'settle' | 'reopen'> {
  claim(id: string, agent: string): Claim | undefined;
  takeOver(id: string): Claim | undefined;
  sweep(): void;
  /** Asks the disk: another process may have created or moved the task since the last scan. */
  isOpenOnDisk(id: string): boolean;
}

export function taskVerbs(dependencies: Dependencies): TaskVerbs & TaskView {
  const { disk, layout, write, tasks, lookup, presence, quarantine, journal, placer } = dependencies;
  const me = presence.peer.id;
  const queued = (id: string): TaskItem | undefined => placer.get(taskKey(id));
  const isKnown = (id: string): boolean => tasks.byId.has(id) || queued(id) !== undefined;
  const view = taskView({ disk, layout, tasks, lookup, presence, queued });

  return {
    ...view,
    create: (task, { durable = true } = {}) =>
      durable && !presence.isJoined() ? createUnclaimed(task) : createChild(task, durable),
    async ended(options = {}) {
      await placer.flush();
      return lookup.ended(options);
    },
    claim(id, agent) {
      const entry = tasks.byId.get(id);
      if (entry === undefined || entry.state === 'active') return undefined;
      return take(entry, agent, false);
    },
    takeOver(id) {
      const entry = tasks.byId.get(id);
      if (entry?.state !== 'active' || view.isHeld(entry)) return undefined;
      return take(entry, entry.task.to ?? entry.owner?.agent ?? 'nobody', true);
    },
    release: (claim, task) => putBack(claim, task, 'pending', true),
    park: (claim, task, { durable = true } = {}) => putBack(claim, task, 'waiting', durable),
    settle,
    reopen,
    sweep: () => sweepClaims(disk, layout, presence.isAlive),
    isOpenOnDisk: (id) => !isEnded(id) && existsAnywhere(id),
  };

  /** Not under a claim and without a journal: durable under its name when resolved. */
  async function createUnclaimed(task: Task): Promise<boolean> {
    if (existsAnywhere(task.id)) return false;
    const file = layout.task('pending', task.id);
    const tmp = await write.writeTemp(printTask(task));
    // Checked again: another process may have created and moved it meanwhile.
    const isCreated = !existsAnywhere(task.id) && disk.link(tmp, file);
    disk.remove(tmp);
    if (!isCreated) return false;
    await disk.syncFolder(path.dirname(file));
    tasks.add({ id: task.id, state: 'pending', file, stamp: disk.stamp(file) ?? '', task });
    return true;
  }

  async function createChild(task: Task, durable: boolean): Promise<boolean> {
    if (durable ? existsAnywhere(task.id) : isKnown(task.id)) return false;
    const file = layout.task('pending', task.id);
    // A person may be writing that file.
    if (disk.stamp(file) !== undefined) return false;
    const text = printTask(task);
    journal.put({ task: task.id, state: 'pending', text });
    const entry: Entry = { id: task.id, state: 'pending', file, stamp: '', task, sum: contentSum(text) };
    // Only this process can create a stage of a task that it holds. Other tasks may be created by
    // several processes at once; they can be claimed when they have their names.
    if (!durable) tasks.add(entry);
    view.hasCreated(task);
    const isElsewhere = durable ? () => claimOf(disk, layout, task.id) !== undefined : undefined;
    const item = send(task.id, { to: file, text, others: unclaimedNames(task.id), isElsewhere });
    if (!durable) return true;
    const placing = await placer.placed(item);
    if (placing.kind !== 'placed') return false;
    if (!tasks.byId.has(task.id)) tasks.add({ ...entry, stamp: placing.stamp ?? '' });
    return true;
  }

  /** The rename is the claim. The cached task is used only if the content has not changed since. */
  function take(entry: Entry, agent: string, recovered: boolean): Claim | undefined {
    const from = entry.state;
    const { id } = entry;
    const file = layout.claimed(id, agent, me);
    tasks.remove(entry);
    const item = queued(id);
    if (item !== undefined) {
      // No other process can see it: it has no name on the disk yet, or is still under our claim.
      journal.put({ task: id, state: 'active', agent, ...baseOf(entry) });
      send(id, { to: file });
      tasks.add({ ...entry, state: 'active', file, owner: ownName(id, agent) });
      const claim: Claim = { id, agent, task: entry.task, from, recovered };
      if (item.from === undefined) view.isUnshared(id);
      return claim;
    }
    if (!disk.rename(entry.file, file)) return undefined;
    if (isEnded(id)) {
      disk.remove(file);
      return undefined;
    }
    const stamp = disk.stamp(file);
    if (stamp === undefined) return undefined;
    let mine: Entry = { ...entry, state: 'active', file, stamp, owner: ownName(id, agent) };
    if (!sameContent(stamp, entry.stamp)) {
      const loaded = tasks.load('active', file);
      if (loaded === undefined || 'code' in loaded) {
        disk.rename(file, entry.file); // a person is editing it: put it back where they expect it
        return undefined;
      }
      mine = loaded;
    } else {
      tasks.add(mine);
    }
    journal.put({ task: id, state: 'active', agent, text: printTask(mine.task), ...baseOf(mine) }, file);
    return { id, agent, task: mine.task, from, recovered };
  }

  function ownName(id: string, agent: string): ClaimName {
    return { id, agent: agentInClaim(agent), peer: me, leaving: false };
  }

  /**
   * Without `durable` the record stays as it is on the disk: the next reader derives the change.
   */
  async function putBack(claim: Claim, task: Task, state: 'pending' | 'waiting', durable: boolean): Promise<boolean> {
    const { id } = claim;
    const before = tasks.byId.get(id);
    if (!isStillMine(claim)) return leave(id);
    const to = layout.task(state, id);
    const text = durable ? printTask(task) : undefined;
    journal.put(defined({ task: id, state, text, ...baseOf(before) }));
    forget(id);
    const sum = text === undefined ? before?.sum : contentSum(text);
    const stamp = text === undefined ? (before?.stamp ?? '') : '';
    tasks.add(defined({ id, state, file: to, stamp, task, sum }));
    const item = send(id, { from: layout.claimed(id, claim.agent, me), to, text });
    return durable ? isPlaced(await placer.placed(item)) : true;
  }

  async function settle(
    claim: Claim,
    task: Task,
    state: EndedState,
    { durable = true }: { durable?: boolean } = {},
  ): Promise<boolean> {
    const { id } = claim;
    const text = printTask(task);
    const evidence = `${layout.evidence}${path.sep}${claimName(id, claim.agent, me)}`;
    if (!isStillMine(claim)) {
      leave(id);
      write.show(evidence, text);
      return false;
    }
    const page = hasPage(task) ? pageOf(task) : undefined;
    if (page !== undefined) journal.put({ page: id, ...page });
    journal.put({ task: id, state, text, ...baseOf(tasks.byId.get(id)) });
    leave(id);
    const to = layout.task(state, id);
    const others = [layout.task(state === 'failed' ? 'completed' : 'failed', id)];
    const end = { task, state };
    const item = send(id, {
      from: layout.claimed(id, claim.agent, me),
      to,
      text,
      others,
      evidence,
      page: page && inWorkspace(page),
      isEnd: true,
      end,
    });
    return durable ? isPlaced(await placer.placed(item, { isAlone: true })) : true;
  }

  async function reopen(id: string, task: Task): Promise<boolean> {
    await placer.flush();
    for (const state of ['failed', 'completed'] as const) {
      const file = layout.task(state, id);
      if (disk.stamp(file) === undefined) continue;
      const text = printTask(withPageMark(task, lookup.read(file, id)));
      await write.replace(file, text);
      const target = layout.task('pending', id);
      if (!disk.rename(file, target)) return false;
      await Promise.all([disk.syncFolder(layout.tasks('pending')), disk.syncFolder(layout.tasks(state))]);
      tasks.load('pending', target);
      // Journal lines from before the task was reopened must not end it again.
      if (journal.isUsed()) journal.put({ task: id, state: 'pending', text }, target);
      return true;
    }
    return false;
  }

  /** Notes that the page of the last end is ours, so that the next end may replace it. */
  function withPageMark(task: Task, ended: Task | undefined): Task {
    const page = disk.read(layout.result(task.id));
    const text = page.kind === 'file' ? page.bytes.toString('utf8') : undefined;
    if (ended === undefined || text === undefined || text !== resultPage(ended)) return task;
    return { ...task, extra: { ...task.extra, ...pageMark(text) } };
  }

  /** Queues a new state of the task's file. States that are already queued keep their place. */
  function send(id: string, change: Partial<TaskItem> & { to: string }): TaskItem {
    const key = taskKey(id);
    const line = journal.line();
    const before = queued(id);
    if (before !== undefined) {
      const { from: _, text = before.text, ...rest } = change;
      return Object.assign(before, rest, { text, line });
    }
    const item: TaskItem = { ...change, key, line, done: (placing) => done(item, id, placing) };
    placer.put(item);
    return item;
  }

  function done(item: TaskItem, id: string, placing: Placing): boolean | void {
    const { to, end, from, key } = item;
    if (placing.kind === 'placed') {
      journal.placed(key, to);
      if (item.page !== undefined) journal.placed(pageKey(id), item.page.file);
      if (end !== undefined) return lookup.remember(to, end.task, placing.stamp);
      const entry = tasks.byId.get(id);
      if (entry?.state !== 'active') view.isShared(id);
      if (entry === undefined || entry.file !== to || placing.stamp === undefined) return;
      if (item.text !== undefined || sameContent(placing.stamp, entry.stamp)) entry.stamp = placing.stamp;
      else tasks.load(entry.state, entry.file); // a person edited it meanwhile
      return;
    }
    if (placing.kind === 'taken' && from !== undefined && end === undefined) {
      // A second file has the target's name: it goes to quarantine, and ours is placed.
      quarantine(to, twinOf(layout, id, to));
      return true;
    }
    journal.drop(key);
    if (item.page !== undefined) journal.drop(pageKey(id));
    leave(id);
  }

  /** The name is the fence: if it is gone, another process or a person has the task. */
  function isStillMine({ id, agent }: Claim): boolean {
    return queued(id) !== undefined || disk.stamp(layout.claimed(id, agent, me)) !== undefined;
  }

  /** A page that a person wrote stays where it is, and ours gets another name. */
  function pageOf(task: Task): { file: string; text: string; was?: string } {
    const text = resultPage(task);
    const usual = layout.result(task.id);
    // Usually the page does not exist yet, and a stamp costs a tenth of a failing read.
    const there = disk.stamp(usual) === undefined ? undefined : disk.read(usual);
    const file = pagePlace(task, text, there?.kind === 'file' ? there.bytes.toString('utf8') : undefined);
    const isUsual = path.join(layout.root, file) === usual;
    const was = isUsual && there === undefined ? undefined : disk.stamp(path.join(layout.root, file));
    return defined({ file, text, was });
  }

  function inWorkspace({ file, text }: { file: string; text: string }): { file: string; text: string } {
    return { file: path.join(layout.root, file), text };
  }

  /** The content that the next version replaces, so that a replay recognises it. */
  function baseOf(entry: Entry | undefined): { base?: string } {
    return entry?.sum === undefined ? {} : { base: entry.sum };
  }

  function unclaimedNames(id: string): string[] {
    return (['completed', 'failed', 'pending', 'waiting'] as const).map((state) => layout.task(state, id));
  }

  /** The task has ended, or another process or a person has it. */
  function leave(id: string): false {
    view.isShared(id);
    return forget(id);
  }

  function forget(id: string): false {
    const entry = tasks.byId.get(id);
    if (entry === undefined) return false;
    tasks.remove(entry);
    // A second file of the task was found meanwhile, and it is still there.
    if (entry.state !== 'active' || entry.owner?.peer !== me) tasks.relist();
    return false;
  }

  function isEnded(id: string): boolean {
    return queued(id)?.end !== undefined || hasEnded(disk, layout, id);
  }

  function existsAnywhere(id: string): boolean {
    return isKnown(id) || lookup.has(id);
  }
}

function isPlaced({ kind }: Placing): boolean {
  return kind === 'placed';
}
