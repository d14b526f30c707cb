/**
 * Tasks in a mirrored folder. Out: the record of the store, in the folder of its state. In: files
 * that a person changed or moved, with the revision that the change was made from; a new file is a
 * new task. A deleted file is written again.
 */
import { defined } from '../../../domain/defined.js';
import type { Event } from '../../../domain/event.js';
import { pagePlace } from '../../../domain/task/result-page.js';
import type { Intent } from '../../../domain/task/intent.js';
import { HUMAN, isEnded, TASK_STATES, type Placed, type Task, type TaskState } from '../../../domain/task/task.js';
import { parseClaimName } from '../../../adapters/files/base/layout.js';
import { rowValue } from '../../../adapters/far/rows.js';
import { UNDONE } from '../../../adapters/far/undone.js';
import type { FileTaint } from '../../../ports/consent/file-taint.js';
import type { Entry, Ledger, Put } from '../../../ports/ledger.js';
import { parseTask } from '../../../text/records/task.js';
import { INTENT, resultFile, sumOf, TASK, taskFile, taskOf } from './rendered.js';
import type { Folder } from './folder.js';

interface TaskMirror {
  /** Takes in a person's changes. Returns the number of changed files. */
  takeIn(): Promise<number>;
  /** Shows the changes in the store. */
  show(entries: readonly Entry[]): number;
}

const ACTIVE = 'tasks/active/';

interface Found {
  file: string;
  state: TaskState;
  text: string;
}

export interface MirrorContext {
  folder: Folder;
  ledger: Ledger;
  /** A commit id that nobody else uses. */
  nextId(): string;
  /** The entry of the process that sends texts: a process that was declared dead sends none. */
  guard(): string | undefined;
  now(): Date;
  /** A note that is missing for this long was deleted. */
  deletedAfterMs: number;
  /** For the person who uses this folder. */
  note(text: string): void;
  /** Called for each event that the folder did not show before. */
  happened(event: Event): void;
  /** Says once that an entry of the store is not shown, because of its name. */
  refuse(file: string): void;
  /** Where files of this folder come from. */
  taint: Pick<FileTaint, 'of' | 'writes'>;
}

export function taskMirror({ folder, ledger, nextId, now, note, refuse }: MirrorContext): TaskMirror {
  const places = new Map<string, string>();
  for (const file of folder.shown('tasks/')) places.set(idOf(file), file);
  /** The last problem reported for a file, with the text that it had then. */
  const reported = new Map<string, string>();

  return { takeIn, show };

  async function takeIn(): Promise<number> {
    let count = 0;
    const seen = new Set<string>();
    for (const state of TASK_STATES) {
      for (const name of folder.list(`tasks/${state}`)) {
        if (!name.endsWith('.json')) continue;
        const file = `tasks/${state}/${name}`;
        const id = movedFrom(name) ?? idOf(file);
        const isMoved = folder.base(file) === undefined && !folder.exists(places.get(id) ?? '');
        if (folder.base(file) !== undefined || isMoved) seen.add(id);
        const text = folder.changed(file);
        if (text !== undefined && (await takeFile({ file, state, text }, id))) count++;
      }
    }
    for (const [id, file] of places) {
      if (seen.has(id) || folder.exists(file)) continue;
      places.delete(id);
      folder.forget(file);
      const entry = await ledger.get(TASK + id);
      if (entry === undefined || show([entry]) === 0) continue;
      note(`${file} was deleted and is back; cancel the task with guild task cancel ${id}`);
    }
    return count;
  }

  async function takeFile(found: Found, name: string): Promise<boolean> {
    const { file, state, text } = found;
    const fault = text.includes('\uFFFD') ? folder.notText(file) : undefined;
    const parsed =
      fault === undefined
        ? parseTask(Buffer.from(text), { file, name, now: now().toISOString() })
        : { kind: 'quarantine' as const, problem: fault };
    if (parsed.kind !== 'task') {
      if (parsed.kind === 'quarantine') noteOnce(found, `${file}: ${parsed.problem.message}`);
      return false; // perhaps in the middle of a save
    }
    const task = { ...parsed.task, id: movedFrom(`${parsed.task.id}.json`) ?? parsed.task.id };
    const shownAt = places.get(task.id);
    const isNew = shownAt === undefined;
    if (isNew && state !== 'pending') return false;
    if (!isNew && shownAt !== file && folder.exists(shownAt)) {
      noteOnce(found, `${file} is a copy of ${shownAt} and is ignored`);
      return false;
    }
    if (state === 'active' && shownAt === file) {
      const hint = `use guild task tell ${task.id}`;
      noteOnce(found, `${file} is being worked on, so a change of its record does not count; ${hint}`);
      return false;
    }
    if (shownAt?.startsWith(ACTIVE)) return moveActive(task.id, found, shownAt);
    const base = isNew ? undefined : folder.base(shownAt);
    // A file that was only moved says nothing about the record, which may have changed meanwhile.
    const current = base !== undefined && sumOf(text) === base.sum ? await ledger.get(TASK + task.id) : undefined;
    const record = (current && taskOf(current.value)?.task) ?? task;
    const rev = isNew ? await make(record) : await put({ task: record, state }, current?.rev ?? base?.rev ?? 0);
    if (rev === undefined) return refused(file, task.id);
    if (shownAt !== undefined && shownAt !== file) folder.forget(shownAt);
    folder.accept(file, text, rev);
    reported.delete(file);
    places.set(task.id, file);
    return true;
  }

  function noteOnce({ file, text }: Found, message: string): void {
    if (reported.get(file) !== message + text) note(message);
    reported.set(file, message + text);
  }

  /** The id of the task whose claimed file has this name, in whatever folder it is now. */
  function movedFrom(name: string): string | undefined {
    const id = parseClaimName(name)?.id;
    return id !== undefined && places.get(id) === ACTIVE + name ? id : undefined;
  }

  /**
   * A process works on the task, so it is asked to stop: a task that is taken from a live process
   * could be done twice. Until it has stopped, the file is shown where the task is.
   */
  async function moveActive(id: string, { file, state }: Found, shownAt: string): Promise<boolean> {
    if (state !== 'failed') {
      folder.move(file, shownAt);
      note(`${shownAt} is back, because a process works on it; to cancel the task, move its file to tasks/failed`);
      return false;
    }
    const intent: Intent = {
      kind: 'cancel',
      id: `moved-${id}`,
      task: id,
      reason: 'cancelled: its file was moved to tasks/failed',
      by: HUMAN,
      at: now().toISOString(),
    };
    const put = { key: INTENT + intent.id, value: JSON.stringify(intent), live: true };
    await ledger.commit(nextId(), { puts: [put], adds: [] });
    folder.move(file, shownAt);
    return true;
  }

  /** An undo may have removed a task of this id. */
  async function make(task: Task): Promise<number | undefined> {
    const entry = await ledger.get(TASK + task.id);
    if (entry === undefined || taskOf(entry.value) !== undefined) return put({ task, state: 'pending' }, 0);
    return put({ task, state: 'pending' }, entry.rev, [{ key: UNDONE + entry.key, value: '', live: false }]);
  }

  async function put(placed: Placed, expect: number, more: Put[] = []): Promise<number | undefined> {
    const { print, live, tag } = rowValue(placed);
    const put = defined({ key: TASK + placed.task.id, value: print(), expect, live, tag });
    const answer = await ledger.commit(nextId(), { puts: [put, ...more], adds: [] });
    return answer === 'fenced' ? undefined : answer.puts[0];
  }

  /** Somebody else changed the task meanwhile, or the id is taken. */
  async function refused(file: string, id: string): Promise<boolean> {
    const kept = `quarantine/${file.split('/').at(-1)!}`;
    folder.move(file, kept);
    folder.forget(file);
    places.delete(id);
    const entry = await ledger.get(TASK + id);
    if (entry !== undefined) show([entry]);
    note(`${file}: the task changed meanwhile, so your version is in ${kept}`);
    return false;
  }

  function show(entries: readonly Entry[]): number {
    let count = 0;
    for (const entry of entries) {
      if (!entry.key.startsWith(TASK) || entry.value === '') continue;
      const placed = taskOf(entry.value);
      if (placed === undefined) {
        if (hide(entry)) count++;
        continue;
      }
      const { path, text } = taskFile(placed);
      if (!folder.canHold(path) || TASK + placed.task.id !== entry.key) {
        refuse(path);
        continue;
      }
      const before = places.get(placed.task.id);
      if (before !== undefined && (folder.base(before)?.rev ?? 0) >= entry.rev) continue;
      // A person's change is taken in first, and refused then if it came too late.
      if (before !== undefined && folder.changed(before) !== undefined) continue;
      folder.show(path, text, entry.rev);
      if (before !== undefined && before !== path) folder.remove(before);
      places.set(placed.task.id, path);
      showPage(placed, entry.rev);
      count++;
    }
    return count;
  }

  /** An undo removed the task. */
  function hide({ key, rev }: Entry): boolean {
    const id = key.slice(TASK.length);
    const file = places.get(id);
    if (file === undefined || (folder.base(file)?.rev ?? 0) >= rev || folder.changed(file) !== undefined) return false;
    places.delete(id);
    folder.remove(file);
    return true;
  }

  /** A person's page stays, and the program's page is written beside it. */
  function showPage(placed: Placed, rev: number): void {
    const page = isEnded(placed.state) ? resultFile(placed) : undefined;
    if (page === undefined) return;
    const isOurs = folder.base(page.path) !== undefined && folder.changed(page.path) === undefined;
    const existing = folder.exists(page.path) && !isOurs ? folder.read(page.path) : undefined;
    const file = pagePlace(placed.task, page.text, existing);
    if (folder.canHold(file)) folder.show(file, page.text, rev);
    else refuse(file);
  }
}

function idOf(file: string): string {
  const name = file.slice(file.lastIndexOf('/') + 1);
  return (file.startsWith(ACTIVE) ? parseClaimName(name)?.id : undefined) ?? name.replace(/\.json$/, '');
}
