/**
 * Settles tasks. The end of a root is reported once it is in the journal and its record and result
 * page are in place. The end of a child is reported at once, and its record follows through the
 * write-behind queue.
 */
import path from 'node:path';
import { pagePlace } from '../../domain/task/result-page.js';
import type { EndedState, Task } from '../../domain/task/task.js';
import type { Disk } from '../../ports/disk.js';
import type { Claim } from '../../ports/store/tasks.js';
import { printTask } from '../../text/records/task.js';
import { once, type Ahead } from './ahead.js';
import { keyOf, pageLine, type Journal, type Line, type PageLine } from './journal.js';
import { LEAVING, type Layout } from './base/layout.js';
import type { Placing } from './placing.js';
import { resultPage } from './records/result-page.js';
import type { TaskLookup } from './task-lookup.js';
import { syncIfThere, type AtomicWrite } from './base/atomic-write.js';

interface Ending {
  settle(claim: Claim, task: Task, state: EndedState): Promise<boolean>;
  settleBehind(claim: Claim, task: Task, state: EndedState): Promise<boolean>;
  /** Makes the conversation durable before the record that depends on it. */
  syncSession(task: Task): Promise<void>;
}

interface Parts {
  disk: Disk;
  layout: Layout;
  write: AtomicWrite;
  ahead: Ahead;
  journal: Pick<Journal, 'arrived' | 'settle' | 'keep'>;
  lookup: TaskLookup;
  onItsWay: Placing;
  me: string;
}

export function ending({ disk, layout, write, ahead, journal, lookup, onItsWay, me }: Parts): Ending {
  const { forget, keepAsEvidence } = onItsWay;
  return { settle, settleBehind, syncSession };

  /**
   * Renaming our own claim is the fence: if it is gone, another process took the task, and our
   * result is only evidence.
   */
  async function settle(claim: Claim, task: Task, state: EndedState): Promise<boolean> {
    const held = layout.claimed(claim.id, claim.agent, me);
    const text = printTask(task);
    const was = isAcknowledged(task) ? disk.stamp(layout.result(task.id)) : undefined;
    const shown = isAcknowledged(task) ? pageFor(task) : undefined;
    // A page that a person wrote stays where it is; ours gets another name and is not kept.
    const page = shown?.isFree ? pageLine(task.id, shown.text, was) : undefined;
    // The page first: if the journal is cut after the end, the record would be rebuilt without its
    // page.
    const end: Line = { id: task.id, state, text, of: disk.stamp(held) };
    const lines: Line[] = shown === undefined ? [] : page === undefined ? [end] : [page, end];
    const [tmp] = await Promise.all([write.writeTemp(text), syncSession(task), onItsWay.safe(task.root, lines)]);
    forget(claim.id);
    const leaving = held + LEAVING;
    const isOurs = disk.rename(held, leaving);
    // People and programs look for the page as soon as the record exists.
    if (isOurs && shown !== undefined) write.show(path.join(layout.root, shown.file), shown.text);
    const isPlaced = isOurs && disk.link(tmp, layout.task(state, claim.id));
    for (const { id } of lines) if (!isPlaced || id === task.id) journal.arrived(id);
    if (!isPlaced) {
      if (isOurs) disk.remove(leaving);
      keepAsEvidence(claim, tmp);
      // The journal must not rebuild this end, even if we crash now.
      await journal.settle();
      if (lines.length > 0) await journal.keep([]);
      return false;
    }
    disk.remove(tmp);
    disk.removeSoon(leaving);
    lookup.remember(layout.task(state, claim.id), task);
    if (page !== undefined) keepPage(page, task.root);
    return true;
  }

  function pageFor(task: Task): { file: string; text: string; isFree: boolean } {
    const text = resultPage(task);
    const read = disk.read(layout.result(task.id));
    const { file } = pagePlace(task, text, read.kind === 'file' ? read.bytes.toString('utf8') : undefined);
    return { file, text, isFree: path.join(layout.root, file) === layout.result(task.id) };
  }

  /** Keeps the page in the journal until its file is durable. */
  function keepPage({ id, page }: PageLine, root: string): void {
    const file = layout.result(page);
    const write = once(async () => {
      await syncIfThere(disk, file);
      return undefined;
    });
    ahead.put({ id, root, line: async () => undefined, write, arrive: () => undefined });
  }

  /**
   * Settles in memory. Others see the task as claimed until its record is written; the fence is
   * checked then.
   */
  async function settleBehind(claim: Claim, task: Task, state: EndedState): Promise<boolean> {
    const held = layout.claimed(claim.id, claim.agent, me);
    const before = onItsWay.get(claim.id);
    forget(claim.id);
    const current = before === undefined ? held : before.from;
    const text = printTask(task);
    const of = current && disk.stamp(current);
    if (current !== undefined && of === undefined) {
      onItsWay.drop(claim.id);
      return keepAsEvidence(claim, await write.writeTemp(text));
    }
    const { id, parent, root } = task;
    const writeRecord = once(() => Promise.all([write.writeTemp(text), syncSession(task)]).then(([tmp]) => tmp));
    const line = (): Promise<Line> => syncSession(task).then(() => ({ id, state, text, of }));
    onItsWay.send(
      { id, parent, root, from: current, write: writeRecord, line, end: { task, state } },
      layout.task(state, id),
    );
    return true;
  }

  async function syncSession(task: Task): Promise<void> {
    if (task.session === undefined || ahead.get(keyOf(task.session)) !== undefined) return;
    await syncIfThere(disk, layout.session(task.session));
  }
}

/**
 * The end of a root is acknowledged to the outside, so its name must be durable. A child can be
 * derived again from its parent's rule or conversation, so its name may be lost in a power cut.
 */
export function isAcknowledged(task: Task): boolean {
  return task.parent === undefined;
}
