/** Where a task lies on the disk, whatever its state; what memory knows is not asked here. */
import path from 'node:path';
import { problem, type Problem } from '../../domain/problem.js';
import type { EndedState, Placed, Task } from '../../domain/task/task.js';
import { writtenAt } from '../../domain/stamp.js';
import type { Disk } from '../../ports/disk.js';
import { parseTask, type TaskParsed } from '../../text/records/task.js';
import { parseClaimName, type Layout } from './base/layout.js';

export interface Shelves {
  hasEnded(id: string): boolean;
  /** In any state, under any name of ours. */
  has(id: string): boolean;
  /** Undefined if there is no such file, or it does not parse. */
  read(file: string, id: string): Task | undefined;
  /** This lies in this file now. */
  remember(file: string, task: Task): void;
  /** Newest first. `skipped` is called for each that cannot be read. */
  ended(options: EndedOptions): Placed[];
}

interface EndedOptions {
  state?: EndedState;
  limit?: number;
  skipped?: (one: Problem) => void;
}

/** Parts that ended a moment ago, which their parents will ask for. */
const MOST_KNOWN = 200;

export function shelves(disk: Disk, l: Layout, now: () => Date): Shelves {
  const known = new Map<string, { stamp: string; task: Task }>();
  return { hasEnded, has, read, remember, ended };

  function remember(file: string, task: Task): void {
    const stamp = disk.stamp(file);
    if (stamp === undefined) return;
    known.set(file, { stamp, task });
    if (known.size > MOST_KNOWN) known.delete(known.keys().next().value!);
  }

  function hasEnded(id: string): boolean {
    return disk.stamp(l.task('completed', id)) !== undefined || disk.stamp(l.task('failed', id)) !== undefined;
  }

  function has(id: string): boolean {
    if (hasEnded(id)) return true;
    if (disk.stamp(l.task('pending', id)) !== undefined || disk.stamp(l.task('waiting', id)) !== undefined) return true;
    return disk.list(l.tasks('active')).some((name) => name.startsWith(`${id}_`) && parseClaimName(name)?.id === id);
  }

  function read(file: string, name: string): Task | undefined {
    const stamp = disk.stamp(file);
    if (stamp === undefined) return undefined; // a stamp costs a tenth of an open that fails
    const last = known.get(file);
    if (last?.stamp === stamp) return last.task;
    const parsed = parse(file, name);
    return parsed?.kind === 'task' ? parsed.task : undefined;
  }

  function parse(file: string, name: string): TaskParsed | undefined {
    const found = disk.read(file);
    if (found.kind !== 'file') return undefined;
    return parseTask(found.bytes, { file: path.relative(l.root, file), name, now: now().toISOString() });
  }

  function ended({ state, limit = Infinity, skipped }: EndedOptions): Placed[] {
    const found: { file: string; state: EndedState; at: bigint }[] = [];
    for (const one of state ? [state] : (['completed', 'failed'] as const)) {
      for (const name of disk.list(l.tasks(one))) {
        if (!name.endsWith('.json') || name.startsWith('.')) continue;
        const file = path.join(l.tasks(one), name);
        const stamp = disk.stamp(file);
        if (stamp !== undefined) found.push({ file, state: one, at: writtenAt(stamp) });
      }
    }
    found.sort((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : 0));
    const placed: Placed[] = [];
    for (const one of found) {
      if (placed.length >= limit) break;
      const task = read(one.file, path.basename(one.file, '.json'));
      if (task) placed.push({ task, state: one.state });
      else skipped?.(whyNot(one.file));
    }
    return placed;
  }

  function whyNot(file: string): Problem {
    const shown = path.relative(l.root, file);
    const parsed = parse(file, path.basename(file, '.json'));
    const hint = 'it counts as ended and is not shown: mend it, or move it out of tasks/';
    if (parsed === undefined || parsed.kind === 'task')
      return problem('bad_file', `${shown} cannot be read`, { where: { file: shown }, hint });
    return { ...parsed.problem, hint };
  }
}
