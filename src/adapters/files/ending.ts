/**
 * How a task ends here. What somebody asked for is told when the journal has it and its record and page lie where people look. A part is told at once, and its record
 * follows.
 */
import type { EndedState, Task } from '../../domain/task/task.js';
import type { Disk } from '../../ports/disk.js';
import type { Claim } from '../../ports/store/tasks.js';
import { printTask } from '../../text/records/task.js';
import { once, type Ahead } from './ahead.js';
import { keyOf, pageLine, type Journal, type Line, type PageLine } from './journal.js';
import { LEAVING, type Layout } from './base/layout.js';
import type { Placing } from './placing.js';
import { resultPage } from './result-page.js';
import type { Shelves } from './task-lookup.js';
import { syncIfThere, type Writing } from './base/atomic-write.js';

interface Ending {
  settle(claim: Claim, task: Task, state: EndedState): Promise<boolean>;
  settleBehind(claim: Claim, task: Task, state: EndedState): Promise<boolean>;
  /** What was said last is durable no later than the record that follows from it. */
  syncSession(task: Task): Promise<void>;
}

interface Parts {
  disk: Disk;
  l: Layout;
  writing: Writing;
  ahead: Ahead;
  journal: Pick<Journal, 'arrived' | 'settle' | 'keep'>;
  lying: Shelves;
  onItsWay: Placing;
  me: string;
}

export function ending({ disk, l, writing, ahead, journal, lying, onItsWay, me }: Parts): Ending {
  const { forget, keepAsEvidence } = onItsWay;
  return { settle, settleBehind, syncSession };

  /** Renaming our own claim first is the fence: if it is gone, somebody took the task from us, and our result is only evidence. */
  async function settle(claim: Claim, task: Task, state: EndedState): Promise<boolean> {
    const held = l.claimed(claim.id, claim.agent, me);
    const text = printTask(task);
    const was = isAcknowledged(task) ? disk.stamp(l.result(task.id)) : undefined;
    const page = isAcknowledged(task) ? pageLine(task.id, resultPage(task), was) : undefined;
    // The page first: an end whose page was torn off would be made without it.
    const lines: Line[] = page === undefined ? [] : [page, { id: task.id, state, text, of: disk.stamp(held) }];
    const [tmp] = await Promise.all([writing.aside(text), syncSession(task), onItsWay.safe(task.root, lines)]);
    forget(claim.id);
    const leaving = held + LEAVING;
    const isOurs = disk.rename(held, leaving);
    // Once the record is there, people and programs look for its page.
    if (isOurs && page !== undefined) writing.show(l.result(task.id), page.text);
    const isPlaced = isOurs && disk.link(tmp, l.task(state, claim.id));
    for (const { id } of lines) if (!isPlaced || id === task.id) journal.arrived(id);
    if (!isPlaced) {
      if (isOurs) disk.remove(leaving);
      keepAsEvidence(claim, tmp);
      // Nobody shall make it from there, whatever becomes of us.
      await journal.settle();
      if (lines.length > 0) await journal.keep([]);
      return false;
    }
    disk.remove(tmp);
    disk.removeSoon(leaving);
    lying.remember(l.task(state, claim.id), task);
    if (page !== undefined) keepPage(page, task.root);
    return true;
  }

  /** The journal has it until its file is durable. */
  function keepPage({ id, page }: PageLine, root: string): void {
    const file = l.result(page);
    const write = once(async () => {
      await syncIfThere(disk, file);
      return undefined;
    });
    ahead.put({ id, root, line: async () => undefined, write, arrive: () => undefined });
  }

  /** The same, but others see it in our hands until its record is there; the fence is met then. */
  async function settleBehind(claim: Claim, task: Task, state: EndedState): Promise<boolean> {
    const held = l.claimed(claim.id, claim.agent, me);
    const before = onItsWay.get(claim.id);
    forget(claim.id);
    const lies = before === undefined ? held : before.from;
    const text = printTask(task);
    const of = lies && disk.stamp(lies);
    if (lies !== undefined && of === undefined) {
      onItsWay.drop(claim.id);
      return keepAsEvidence(claim, await writing.aside(text));
    }
    const { id, parent, root } = task;
    const write = once(() => Promise.all([writing.aside(text), syncSession(task)]).then(([tmp]) => tmp));
    const line = (): Promise<Line> => syncSession(task).then(() => ({ id, state, text, of }));
    onItsWay.send({ id, parent, root, from: lies, write, line, end: { task, state } }, l.task(state, id));
    return true;
  }

  async function syncSession(task: Task): Promise<void> {
    if (task.session === undefined || ahead.get(keyOf(task.session)) !== undefined) return;
    await syncIfThere(disk, l.session(task.session));
  }
}

/**
 * Somebody outside was told, or will be: then the name is durable too. A child is wanted by its parent's rule or conversation,
 * and its end follows from its own; names lost in a power cut are made again from there, and later ones are never kept
 * without earlier ones.
 */
export function isAcknowledged(task: Task): boolean {
  return task.parent === undefined;
}
