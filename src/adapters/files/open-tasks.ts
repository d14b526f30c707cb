/**
 * The open tasks of a workspace, kept in memory and brought up to date by looking at three folders. Ended tasks are
 * never looked at, so they cost nothing. Everything in here can be thrown away at any time: a scan rebuilds it.
 */
import path from 'node:path';
import { compareText } from '../../domain/order.js';
import { problem, type Problem } from '../../domain/problem.js';
import { roleFacts } from '../../domain/task/role.js';
import { OPEN_STATES, type OpenState, type Task, type TaskState } from '../../domain/task/task.js';
import { writtenAt } from '../../domain/stamp.js';
import type { Disk } from '../../ports/disk.js';
import { parseTask } from '../../text/records/task.js';
import { isSettled, isTaskFile, parseClaimName, type ClaimName, type Layout } from './base/layout.js';
import type { Quarantine } from './quarantine.js';
import { strays } from './strays.js';

export interface Entry {
  id: string;
  state: OpenState;
  file: string;
  stamp: string;
  task: Task;
  owner?: ClaimName;
}

export interface OpenTasks {
  byId: Map<string, Entry>;
  /** How often an entry came or went. */
  changes: number;
  /** Of which tasks something came, went or changed since there were so many changes; undefined: that is too long ago. */
  changedSince(changes: number): readonly string[] | undefined;
  /** How many there are of each root. */
  ofRoot: Map<string, number>;
  /** `full` compares every file's stamp; otherwise only folders that changed are listed. What is `onItsWay` is not looked at: memory knows better. */
  scan(full: boolean, onItsWay: (id: string) => boolean): { problems: Problem[]; gone: string[] };
  /** Something happened to this file. The next scan compares it, also if it is not full: it may have gone and come again in between. */
  doubt(file: string): void;
  /** The same for somebody who looks once and shows so many: of a crowd of pending files only the oldest are read. How many are not is told. */
  glance(most: number): { problems: Problem[]; unread: number };
  /** Files met since this was last asked that lie where tasks lie and are none. */
  strays(): Problem[];
  /** Reads one file again; an entry, or what is wrong with it (then it is held or quarantined, and reported once). */
  load(state: OpenState, file: string): Entry | Problem | undefined;
  add(entry: Entry): void;
  remove(entry: Entry): void;
  /** One among the waiting that does not say for what waits for its open parts. */
  withWaits(one: { state: TaskState; task: Task }): Task;
  /** What is wrong with the file of this open task, if it could not be read when last looked at and is still there. */
  heldFile(id: string): Problem | undefined;
  /** Of how many files and ids it knows something beside the open tasks. */
  remembered(): number;
}

/** A file that was looked at and could not be used, with the stamp it had. */
interface Held {
  id: string;
  file: string;
  stamp: string;
  problem: Problem;
}

export function openTasks(disk: Disk, l: Layout, quarantine: Quarantine, now: () => Date): OpenTasks {
  const byId = new Map<string, Entry>();
  const byFile = new Map<string, Entry>();
  /** Parts of a pattern, by what they are parts of. */
  const children = new Map<string, Set<string>>();
  /** What `withWaits` said, until children come or go: whoever compares sees that nothing changed. */
  const resting = new Map<string, { of: Task; shown: Task }>();
  const held = new Map<string, Held>();
  const heldById = new Map<string, Held>();
  /** Two files with one id, as they were last met. */
  const pairs = new Map<string, string>();
  const doubted = new Set<Entry>();
  const listed = new Map<OpenState, { stamp: string | undefined; at: number }>();
  const filesOf: Record<OpenState, Set<string>> = { pending: new Set(), active: new Set(), waiting: new Set() };

  /** Twins that were set aside in favour of a file that was read after them; told by the next scan. */
  const aside: Problem[] = [];

  const ofRoot = new Map<string, number>();
  /** The ids of the latest changes. */
  const touched: string[] = [];
  const odd = strays(disk, l);
  const self: OpenTasks = {
    byId,
    ofRoot,
    changes: 0,
    changedSince,
    scan,
    doubt,
    glance,
    strays: odd.take,
    load,
    add,
    remove,
    withWaits,
    heldFile,
    remembered,
  };
  return self;

  function changedSince(changes: number): readonly string[] | undefined {
    const from = touched.length - (self.changes - changes);
    return from < 0 ? undefined : touched.slice(from);
  }

  function touch(id: string): void {
    self.changes++;
    touched.push(id);
    if (touched.length > 2 * MOST_TOUCHED) touched.splice(0, MOST_TOUCHED);
  }

  function remembered(): number {
    return held.size + heldById.size + pairs.size + resting.size;
  }

  function withWaits({ state, task }: { state: TaskState; task: Task }): Task {
    if (state !== 'waiting' || task.waits !== undefined) return task;
    const before = resting.get(task.id);
    if (before?.of === task) return before.shown;
    const shown = { ...task, waits: { tasks: [...(children.get(task.id) ?? [])] } };
    // Of one that was only read, nobody would tell when it is open no longer.
    if (byId.get(task.id)?.task === task) resting.set(task.id, { of: task, shown });
    return shown;
  }

  function add(entry: Entry): void {
    touch(entry.id);
    const other = byId.get(entry.id);
    if (other !== undefined) countRoot(other, -1);
    countRoot(entry, 1);
    byId.set(entry.id, entry);
    const { parent, role } = entry.task;
    if (parent !== undefined && roleFacts(role).isStage) {
      children.set(parent, (children.get(parent) ?? new Set()).add(entry.id));
      if (resting.delete(parent)) touch(parent);
    }
    byFile.set(entry.file, entry);
    filesOf[entry.state].add(entry.file);
  }

  function remove(entry: Entry): void {
    touch(entry.id);
    if (byId.get(entry.id) === entry) {
      byId.delete(entry.id);
      resting.delete(entry.id);
      forgetChild(entry);
      countRoot(entry, -1);
    }
    if (byFile.get(entry.file) === entry) byFile.delete(entry.file);
    filesOf[entry.state].delete(entry.file);
  }

  function countRoot({ task: { root } }: Entry, by: 1 | -1): void {
    const count = (ofRoot.get(root) ?? 0) + by;
    if (count > 0) ofRoot.set(root, count);
    else ofRoot.delete(root);
  }

  function forgetChild({ id, task }: Entry): void {
    if (task.parent === undefined) return;
    const siblings = children.get(task.parent);
    siblings?.delete(id);
    if (resting.delete(task.parent)) touch(task.parent);
    if (siblings?.size === 0) children.delete(task.parent);
  }

  function scan(full: boolean, onItsWay: (id: string) => boolean): { problems: Problem[]; gone: string[] } {
    const problems: Problem[] = [];
    const left: string[] = [];
    const news = full ? [] : [...doubted].filter(hasChanged).filter((entry) => !onItsWay(entry.id));
    doubted.clear();
    for (const { state, file } of news) tell(problems, load(state, file));
    for (const state of OPEN_STATES) scanFolder(state, full, onItsWay, problems, left);
    for (const id of pairs.keys()) if (!byId.has(id)) pairs.delete(id);
    odd.look(full);
    return { problems: [...problems, ...aside.splice(0)], gone: left.filter((id) => !byId.has(id)) };
  }

  function doubt(file: string): void {
    const known = byFile.get(file);
    if (known !== undefined) doubted.add(known);
  }

  function glance(most: number): { problems: Problem[]; unread: number } {
    const problems: Problem[] = [];
    const names = disk.list(l.tasks('pending'));
    const crowd = names.filter(isTaskFile);
    const others = names.filter((name) => !isTaskFile(name));
    odd.meet('pending', others);
    odd.look(true);
    const shown = crowd.length > CROWD ? oldest(l.tasks('pending'), crowd, most) : crowd;
    for (const name of shown) {
      tell(problems, load('pending', l.tasks('pending') + path.sep + name));
    }
    const never = (): boolean => false;
    for (const state of ['active', 'waiting'] as const) scanFolder(state, true, never, problems, []);
    return { problems: [...problems, ...aside.splice(0)], unread: crowd.length - shown.length };
  }

  /** By when they were last written: that takes a tenth of what reading them would. */
  function oldest(folder: string, names: readonly string[], most: number): string[] {
    const times = new Map<string, number>();
    for (const name of names) {
      const stamp = disk.stamp(folder + path.sep + name);
      times.set(name, stamp === undefined ? 0 : Number(writtenAt(stamp)));
    }
    return [...names].sort((a, b) => times.get(a)! - times.get(b)! || compareText(a, b)).slice(0, most);
  }

  function scanFolder(
    state: OpenState,
    full: boolean,
    onItsWay: (id: string) => boolean,
    problems: Problem[],
    left: string[],
  ): void {
    const folder = l.tasks(state);
    const stamp = disk.stamp(folder);
    const last = listed.get(state);
    if (!full && last !== undefined && last.stamp === stamp) return;
    const at = now().getTime();
    const names = disk.list(folder);
    listed.set(state, { stamp: isSettled(stamp, new Date(at)) ? stamp : undefined, at });
    let unchanged = 0;
    if (held.size > 0) forgetHeld(folder, new Set(names));
    const others: string[] = [];
    for (const name of names) {
      if (!isTaskFile(name)) {
        others.push(name);
        continue;
      }
      const file = folder + path.sep + name;
      const known = byFile.get(file);
      if (known !== undefined && (!full || disk.stamp(file) === known.stamp)) {
        unchanged++;
        continue;
      }
      if (onItsWay(known?.id ?? parseClaimName(name)?.id ?? path.basename(name, '.json'))) continue;
      if (known === undefined && held.has(file) && held.get(file)!.stamp === disk.stamp(file)) continue;
      tell(problems, load(state, file));
    }
    odd.meet(state, others);
    if (unchanged === filesOf[state].size) return; // as it is most of the time: nothing came and nothing went
    const there = new Set(names);
    for (const file of filesOf[state]) {
      if (there.has(path.basename(file))) continue;
      const entry = byFile.get(file)!;
      if (onItsWay(entry.id)) continue;
      remove(entry);
      left.push(entry.id);
    }
  }

  /** Not if it went: that the folder tells. */
  function hasChanged(entry: Entry): boolean {
    if (byFile.get(entry.file) !== entry) return false;
    const stamp = disk.stamp(entry.file);
    return stamp !== undefined && stamp !== entry.stamp;
  }

  function load(state: OpenState, file: string): Entry | Problem | undefined {
    const old = byFile.get(file);
    if (old) remove(old);
    letGo(file);
    const name = path.basename(file, '.json');
    const shown = path.relative(l.root, file);
    const read = disk.read(file, MAX_TASK_BYTES);
    if (read.kind === 'missing') return undefined;
    if (read.kind !== 'file') {
      const what =
        read.kind === 'too_big' ? `${read.size} bytes, more than a task may have` : `a ${read.what}, not a file`;
      return quarantine(file, problem('bad_file', `${shown} is ${what}`, { where: { file: shown } }));
    }
    const owner = state === 'active' ? parseClaimName(path.basename(file)) : undefined;
    const parsed = parseTask(read.bytes, { file: shown, name: owner?.id ?? name, now: now().toISOString() });
    if (parsed.kind === 'quarantine') return quarantine(file, parsed.problem);
    if (parsed.kind === 'hold') {
      hold({ id: owner?.id ?? name, file, stamp: read.stamp, problem: parsed.problem });
      return parsed.problem;
    }
    return place({
      id: parsed.task.id,
      state,
      file,
      stamp: read.stamp,
      task: parsed.task,
      ...(owner ? { owner } : {}),
    });
  }

  function hold(one: Held): void {
    touch(one.id);
    held.set(one.file, one);
    heldById.set(one.id, one);
  }

  function letGo(file: string): void {
    const one = held.get(file);
    if (one === undefined) return;
    touch(one.id);
    held.delete(file);
    if (heldById.get(one.id) === one) heldById.delete(one.id);
  }

  function forgetHeld(folder: string, there: ReadonlySet<string>): void {
    for (const file of held.keys()) if (path.dirname(file) === folder && !there.has(path.basename(file))) letGo(file);
  }

  function heldFile(id: string): Problem | undefined {
    const one = heldById.get(id);
    if (one === undefined || byId.has(id)) return undefined;
    if (disk.stamp(one.file) !== undefined) return one.problem;
    letGo(one.file); // it went since: whoever asks must not wait for a file that is not there
    return undefined;
  }

  /**
   * One id, one open task. A second file with the same id under a name that none of ours has is a twin, and is set aside. Two
   * names of ours are nearly always one task on its way from folder to folder, met twice: what was read last counts, and
   * nothing is touched. Only two plain names that do not move between two looks are two files of a person's.
   */
  function place(entry: Entry): Entry | Problem | undefined {
    const other = byId.get(entry.id);
    if (other !== undefined && other.file !== entry.file && disk.stamp(other.file) !== undefined) {
      const twin = !isOurs(entry) ? entry : !isOurs(other) || stoodStill(entry, other) ? other : undefined;
      remove(other);
      if (twin !== undefined) {
        const told = quarantine(twin.file, twinProblem(l, twin.file, entry.id, (twin === entry ? other : entry).file));
        if (twin === entry) {
          add(other);
          return told;
        }
        if (told !== undefined) aside.push(told);
      }
    }
    if (entry.state !== 'active' && endedTwin(entry.id)) {
      return quarantine(entry.file, twinProblem(l, entry.file, entry.id, 'an ended task'));
    }
    add(entry);
    return entry;
  }

  /** Both under their plain names, and both as they were when they were met before. */
  function stoodStill(entry: Entry, other: Entry): boolean {
    if (entry.state === 'active' || other.state === 'active') return false;
    const pair = [entry, other]
      .map((one) => `${one.file} ${disk.stamp(one.file)}`)
      .sort(compareText)
      .join('\n');
    const before = pairs.get(entry.id);
    pairs.set(entry.id, pair);
    return before === pair;
  }

  function endedTwin(id: string): boolean {
    return disk.stamp(l.task('completed', id)) !== undefined || disk.stamp(l.task('failed', id)) !== undefined;
  }
}

function tell(problems: Problem[], loaded: Entry | Problem | undefined): void {
  if (loaded !== undefined && 'code' in loaded) problems.push(loaded);
}

/** So many pending files nobody reads to show a few of them. */
const CROWD = 1000;
/** Whoever looks more seldom than this looks at all. */
const MOST_TOUCHED = 5000;

/** The plain name, or a claim's: names that the program itself gives. */
function isOurs({ id, state, file, owner }: Entry): boolean {
  return state === 'active' ? owner !== undefined : path.basename(file) === `${id}.json`;
}

/** Generous: a record is small, but a person may drop a long text. */
const MAX_TASK_BYTES = 1024 * 1024;

function twinProblem(l: Layout, file: string, id: string, other: string): Problem {
  const shown = path.relative(l.root, file);
  const stays = other.startsWith(l.root) ? path.relative(l.root, other) : other;
  return problem('duplicate', `${shown} has the id ${id}, which ${stays} has already`, {
    where: { file: shown },
    hint: 'give it another id and file name and put it back into tasks/pending',
  });
}
