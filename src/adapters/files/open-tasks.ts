/**
 * The open tasks of a workspace: an index in memory that scans of three folders keep up to date.
 * Ended tasks are never looked at, so they cost nothing. A full scan can rebuild all of it.
 */
import path from 'node:path';
import { defined } from '../../domain/defined.js';
import { fenced, isUnreadable } from '../../domain/fence.js';
import { compareText } from '../../domain/order.js';
import { problem, type Problem } from '../../domain/problem.js';
import { sameContent, writtenAt } from '../../domain/stamp.js';
import { OPEN_STATES, type OpenState } from '../../domain/task/task.js';
import type { Disk } from '../../ports/disk.js';
import { parseTask } from '../../text/records/task.js';
import { contentSum } from './base/content-sum.js';
import { isSettled, isTaskFile, LEAVING, parseClaimName, withoutLeaving, type Layout } from './base/layout.js';
import { readableStamp, whereNow } from './base/where-now.js';
import { endedTasks } from './ended-tasks.js';
import { fileIndex, type Entry, type FileIndex } from './open-index.js';
import type { Quarantine } from './quarantine.js';
import { strays } from './strays.js';
import { twinProblem, twins } from './twins.js';
import { unreadableFiles } from './unreadable.js';

export interface OpenTasks extends Pick<
  FileIndex,
  'byId' | 'changes' | 'changedSince' | 'ofRoot' | 'add' | 'remove' | 'withWaits'
> {
  /**
   * A full scan compares the stamp of every file; otherwise only folders that changed are listed.
   * Tasks whose files are queued for writing are skipped: memory is newer than the disk.
   */
  scan(full: boolean, isQueued: (id: string) => boolean): { problems: Problem[]; gone: string[] };
  /**
   * A file event. False if the index agrees with the disk, for example because this process made
   * the change. Otherwise the next scan compares this file, even if its folder looks unchanged.
   */
  doubt(file: string): boolean;
  /** The next scan lists every folder: the index may lack a file that has not changed since. */
  relist(): void;
  /**
   * For a reader that looks once and shows `max` tasks: of a crowd of pending files only the oldest
   * are read. `unread` is the number of the others.
   */
  glance(max: number): { problems: Problem[]; unread: number };
  /** Files in task folders that are not tasks, found since the last call. */
  strays(): Problem[];
  /** Reads one file again. On a problem the file is kept as unreadable or quarantined. */
  load(state: OpenState, file: string): Entry | Problem | undefined;
  claimed(): Entry[];
  /** The problem with the file of this open task, if it could not be read and is still there. */
  unreadable(id: string): Problem | undefined;
  /** The number of files and ids that are kept in memory besides the open tasks. */
  remembered(): number;
}

/** With more files than this, `glance` does not read all, and `scan` lists ended tasks first. */
const CROWD = 1000;

/** Generous: a record is small, but a person may drop a long text. */
const MAX_TASK_BYTES = 1024 * 1024;

/** While file events name the changed files of a folder, it is listed only this often. */
const LIST_MS = 1000;

export function openTasks(disk: Disk, layout: Layout, quarantine: Quarantine, now: () => Date): OpenTasks {
  const index = fileIndex();
  const { byId, byFile, filesOf, add, remove } = index;
  const unreadable = unreadableFiles(disk, index.touch);
  const pairs = twins(disk);
  const strayFiles = strays(disk, layout);
  const doubted = new Set<string>();
  /** Folders whose files had events since the last scan. */
  const watched = new Set<OpenState>();
  const stateOf = new Map(OPEN_STATES.map((state) => [layout.tasks(state), state]));
  const folderStamps = new Map<OpenState, string | undefined>();
  const listedAt = new Map<OpenState, number>();
  /** Twins quarantined in favour of a file that was read after them; reported by the next scan. */
  const quarantinedTwins: Problem[] = [];
  const heldFolders = reportOnce();
  const ended = endedTasks(disk, layout);

  return {
    byId,
    ofRoot: index.ofRoot,
    get changes() {
      return index.changes;
    },
    changedSince: index.changedSince,
    withWaits: index.withWaits,
    add,
    remove,
    scan,
    doubt,
    relist,
    glance,
    strays: strayFiles.take,
    load,
    claimed: () => [...filesOf.active].flatMap((file) => byFile.get(file) ?? []),
    unreadable: (id) => (byId.has(id) ? undefined : unreadable.problemOf(id)),
    remembered: () => unreadable.size() + pairs.size() + index.cachedWaits(),
  };

  function scan(full: boolean, isQueued: (id: string) => boolean): { problems: Problem[]; gone: string[] } {
    const problems: Problem[] = [];
    const gone: string[] = [];
    const doubts = full ? [] : [...doubted];
    doubted.clear();
    // Claims first: the record of a task that another process took is known from its old name.
    const known = doubts.filter((file) => byFile.has(file));
    for (const file of doubts) if (!byFile.has(file)) compare(file, isQueued, problems, gone);
    for (const file of known) if (byFile.has(file)) compare(file, isQueued, problems, gone);
    for (const state of OPEN_STATES) scanFolder(state, full, isQueued, problems, gone);
    watched.clear();
    // The folders are listed one after the other: a task that another process moves against that
    // order is in none of the lists, and is still open.
    const left = [...new Set(gone)].filter((id) => {
      const place = byId.has(id) ? undefined : whereNow(disk, layout, id);
      if (typeof place === 'object') report(problems, load(place.state, place.file));
      return place !== 'completed' && !byId.has(id);
    });
    pairs.prune((id) => byId.has(id));
    strayFiles.look(full);
    return { problems: [...problems, ...quarantinedTwins.splice(0)], gone: left };
  }

  function relist(): void {
    folderStamps.clear();
    listedAt.clear();
  }

  function glance(max: number): { problems: Problem[]; unread: number } {
    const problems: Problem[] = [];
    const folder = layout.tasks('pending');
    const names = listFolder('pending', problems) ?? [];
    const taskFiles = names.filter(isTaskFile);
    strayFiles.meet(
      'pending',
      names.filter((name) => !isTaskFile(name)),
    );
    strayFiles.look(true);
    const shown = taskFiles.length > CROWD ? oldest(folder, taskFiles, max) : taskFiles;
    for (const name of shown) report(problems, load('pending', folder + path.sep + name));
    const never = (): boolean => false;
    for (const state of ['active', 'waiting'] as const) scanFolder(state, true, never, problems, []);
    return { problems: [...problems, ...quarantinedTwins.splice(0)], unread: taskFiles.length - shown.length };
  }

  /** Sorts by the time of the last write, which costs a tenth of reading the files. */
  function oldest(folder: string, names: readonly string[], max: number): string[] {
    const times = new Map<string, number>();
    for (const name of names) {
      const stamp = stampOf(folder + path.sep + name);
      times.set(name, stamp === undefined ? 0 : Number(writtenAt(stamp)));
    }
    return [...names].sort((a, b) => times.get(a)! - times.get(b)! || compareText(a, b)).slice(0, max);
  }

  function scanFolder(
    state: OpenState,
    full: boolean,
    isQueued: (id: string) => boolean,
    problems: Problem[],
    gone: string[],
  ): void {
    const folder = layout.tasks(state);
    const stamp = stampOf(folder);
    if (!full && folderStamps.has(state) && folderStamps.get(state) === stamp) return;
    const at = now();
    if (!full && watched.has(state) && at.getTime() - (listedAt.get(state) ?? -Infinity) < LIST_MS) return;
    listedAt.set(state, at.getTime());
    const names = listFolder(state, problems);
    if (names === undefined) return; // the index keeps its tasks
    folderStamps.set(state, isSettled(stamp, at) ? stamp : undefined);
    unreadable.deleteMissing(folder, names);
    const unread = names.length - filesOf[state].size;
    if (unread > CROWD) ended.list(unread);
    let unchanged = 0;
    const others: string[] = [];
    for (const name of names) {
      const file = folder + path.sep + name;
      const entry = byFile.get(file);
      // A claim that is being settled, unless its task is indexed under another name.
      const isNewClaim = name.endsWith(LEAVING) && (entry !== undefined || !byId.has(idIn(name)));
      if (!isTaskFile(name) && !(state === 'active' && isNewClaim)) {
        others.push(name);
        continue;
      }
      if (entry !== undefined && (!full || stampOf(file) === entry.stamp)) {
        unchanged++;
        continue;
      }
      if (isQueued(entry?.id ?? idIn(name))) continue;
      if (entry === undefined && unreadable.isUnchanged(file, full)) continue;
      const before = unreadable.problemIn(file);
      const loaded = load(state, file);
      // A file that the system still does not let us read is tried again and not reported again.
      if (before === undefined || !isSame(before, loaded)) report(problems, loaded);
    }
    ended.forget();
    strayFiles.meet(state, others);
    if (unchanged !== filesOf[state].size) removeMissing(state, new Set(names), isQueued, gone);
  }

  function removeMissing(
    state: OpenState,
    names: ReadonlySet<string>,
    isQueued: (id: string) => boolean,
    gone: string[],
  ): void {
    for (const file of filesOf[state]) {
      const name = path.basename(file);
      if (names.has(name) || names.has(name + LEAVING)) continue;
      const entry = byFile.get(file)!;
      if (isQueued(entry.id)) continue;
      remove(entry);
      gone.push(entry.id);
    }
  }

  function doubt(file: string): boolean {
    const state = stateOf.get(path.dirname(file));
    const name = path.basename(file);
    if (state === undefined || (!isTaskFile(name) && !name.endsWith(LEAVING))) return true;
    watched.add(state);
    const known = byFile.has(file) ? file : withoutLeaving(file);
    if (doubted.has(known)) return true;
    if (stampOf(known) === byFile.get(known)?.stamp) return false;
    doubted.add(known);
    return true;
  }

  function compare(file: string, isQueued: (id: string) => boolean, problems: Problem[], gone: string[]): void {
    const entry = byFile.get(file);
    if (isQueued(entry?.id ?? idIn(path.basename(file)))) return;
    const stamp = stampOf(file);
    if (stamp === entry?.stamp) return;
    if (stamp !== undefined) {
      if (entry === undefined && isMoved(file, stamp)) return;
      const isKnownBad = entry === undefined && unreadable.isUnchanged(file, false);
      return isKnownBad ? undefined : report(problems, load(stateOf.get(path.dirname(file))!, file));
    }
    // Its owner is settling it: the task counts as open until the file has its next name.
    if (stampOf(file + LEAVING) !== undefined) return void doubted.add(file);
    remove(entry!);
    gone.push(entry!.id);
  }

  /** Another process claimed a task of the index: its file has a new name and the same content. */
  function isMoved(file: string, stamp: string): boolean {
    const owner = stateOf.get(path.dirname(file)) === 'active' ? parseClaimName(path.basename(file)) : undefined;
    const before = owner && byId.get(owner.id);
    if (before === undefined || before.state === 'active' || !sameContent(before.stamp, stamp)) return false;
    remove(before);
    add({ ...before, state: 'active', file, stamp, owner: owner! });
    return true;
  }

  function load(state: OpenState, file: string): Entry | Problem | undefined {
    const old = byFile.get(file);
    if (old) remove(old);
    unreadable.delete(file);
    const name = path.basename(file, '.json');
    const shown = path.relative(layout.root, file);
    const owner = state === 'active' ? parseClaimName(path.basename(file)) : undefined;
    const id = owner?.id ?? name;
    const read = fenced(shown, () => disk.read(file, MAX_TASK_BYTES));
    if (read.kind === 'missing') return undefined;
    if (read.kind === 'unreadable') {
      unreadable.add({ id, file, stamp: stampOf(file) ?? '', problem: read.problem, mayPass: true });
      return read.problem;
    }
    if (read.kind !== 'file') {
      const what =
        read.kind === 'too_big' ? `${read.size} bytes, more than a task may have` : `a ${read.what}, not a file`;
      return setAside(id, file, problem('bad_file', `${shown} is ${what}`, { where: { file: shown } }));
    }
    const parsed = fenced(shown, () => parseTask(read.bytes, { file: shown, name: id, now: now().toISOString() }));
    if (parsed.kind === 'unreadable' || parsed.kind === 'quarantine') return setAside(id, file, parsed.problem);
    if (parsed.kind === 'hold') {
      unreadable.add({ id, file, stamp: read.stamp, problem: parsed.problem });
      return parsed.problem;
    }
    const { task } = parsed;
    const sum = contentSum(read.bytes);
    return place(defined({ id: task.id, state, file, stamp: read.stamp, task, sum, owner }));
  }

  /** A file that cannot be moved to quarantine stays where it is and is held. */
  function setAside(id: string, file: string, why: Problem): Problem | undefined {
    const moved = quarantine(file, why);
    if (moved !== undefined && moved.movedTo === undefined)
      unreadable.add({ id, file, stamp: stampOf(file) ?? '', problem: moved });
    return moved;
  }

  /** Adds the entry, unless it or the entry that had its id is a twin. */
  function place(entry: Entry): Entry | Problem | undefined {
    const other = byId.get(entry.id);
    if (other !== undefined && other.file !== entry.file && stampOf(other.file) !== undefined) {
      const twin = pairs.pick(entry, other);
      remove(other);
      if (twin !== undefined) {
        const kept = twin === entry ? other : entry;
        const reported = quarantine(twin.file, twinProblem(layout, twin.file, entry.id, kept.file));
        if (twin === entry) {
          add(other);
          return reported;
        }
        if (reported !== undefined) quarantinedTwins.push(reported);
      }
    }
    const isEnded = entry.state !== 'active' && ended.has(entry.id);
    if (isUnreadable(isEnded)) {
      // It may have ended, and an ended task must not be worked on again.
      unreadable.add({ ...entry, problem: isEnded.problem, mayPass: true });
      return heldFolders('ended', isEnded.problem)[0];
    }
    if (isEnded) {
      return quarantine(entry.file, twinProblem(layout, entry.file, entry.id, 'an ended task'));
    }
    add(entry);
    return entry;
  }

  function stampOf(file: string): string | undefined {
    return readableStamp(disk, file);
  }

  /** Undefined if the folder cannot be listed, which is reported once while it lasts. */
  function listFolder(state: OpenState, problems: Problem[]): string[] | undefined {
    const folder = layout.tasks(state);
    const names = fenced(path.relative(layout.root, folder), () => disk.list(folder));
    const held = isUnreadable(names) ? names.problem : undefined;
    problems.push(...heldFolders(folder, held));
    return isUnreadable(names) ? undefined : names;
  }
}

/** The problem if it differs from the last one of the same place. */
function reportOnce(): (place: string, problem: Problem | undefined) => Problem[] {
  const last = new Map<string, string>();
  return (place, held) => {
    if (held === undefined) last.delete(place);
    if (held === undefined) return [];
    if (last.get(place) === held.message) return [];
    last.set(place, held.message);
    return [held];
  };
}

function isSame(before: Problem, loaded: Entry | Problem | undefined): boolean {
  return loaded !== undefined && 'code' in loaded && loaded.code === before.code && loaded.message === before.message;
}

function idIn(name: string): string {
  return parseClaimName(name)?.id ?? path.basename(name, '.json');
}

function report(problems: Problem[], loaded: Entry | Problem | undefined): void {
  if (loaded !== undefined && 'code' in loaded) problems.push(loaded);
}
