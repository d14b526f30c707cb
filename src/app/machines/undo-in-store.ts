/**
 * An undo of work that several machines share. Tasks, conversations and notes go back in the store,
 * in one commit that depends on the state that the folder shows, so that a worker never sees a
 * part of it. The mirror then shows them. Records of effects stay as they are.
 */
import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { clock } from '../../adapters/clock/index.js';
import { disk } from '../../adapters/disk/index.js';
import { removedRow, rowValue } from '../../adapters/far/rows.js';
import type { SessionItem } from '../../adapters/far/sessions.js';
import { UNDONE } from '../../adapters/far/undone.js';
import { fileTaint } from '../../adapters/file-taint/index.js';
import { parseClaimName } from '../../adapters/files/base/layout.js';
import { attempt } from '../../domain/attempt.js';
import { defined } from '../../domain/defined.js';
import { INTERVALS } from '../../domain/intervals.js';
import { problem, ProblemError, type Problem } from '../../domain/problem.js';
import type { Placed, TaskState } from '../../domain/task/task.js';
import type { FileChange, OldContent } from '../../ports/history.js';
import type { Add, Ledger, Put } from '../../ports/ledger.js';
import { parseTask } from '../../text/records/task.js';
import { parseSession } from '../../text/session/parse.js';
import { NOTE, SESSION_FILE, TASK_FILE } from '../far/undone-files.js';
import { DOCUMENT, documentOf, documentPut } from './mirror/document.js';
import { isCarried } from './mirror/documents.js';
import { SESSION, sumOf, TASK, taskFile, taskOf } from './mirror/rendered.js';

type Change = { puts: Put[]; adds: Add[] };

/**
 * Throws a ProblemError if a live process works on a task that the undo changes, or on one of the
 * same root.
 */
export async function refuseIfHeld(ledger: Ledger, files: readonly Pick<FileChange, 'path'>[]): Promise<void> {
  const roots = new Set<string>();
  for (const id of new Set(files.flatMap(({ path: file }) => idOf(file) ?? []))) {
    const entry = await ledger.get(TASK + id);
    roots.add((entry && taskOf(entry.value)?.task.root) ?? id);
  }
  const open = (await ledger.list(TASK, { live: true })).flatMap(({ value }) => taskOf(value) ?? []);
  for (const { task, owner } of open) {
    if (owner === undefined || !roots.has(task.root)) continue;
    const peer = await ledger.get(`peer/${owner.peer}`);
    if (peer?.live) throw new ProblemError(held(task.id, hostOf(peer.value)));
  }
}

/** Returns the files that are only in the folder. Throws if the store changed meanwhile. */
export async function undoInStore(ledger: Ledger, root: string, files: readonly OldContent[]): Promise<OldContent[]> {
  const change: Change = { puts: [], adds: [] };
  const tasks = await undoTasks(ledger, root, files, change);
  const own = new Set<string>();
  for (const file of files) {
    if (SESSION_FILE.test(file.path)) await undoSession(ledger, file, change);
    else if (NOTE.test(file.path) && !(await undoNote(ledger, root, file, change))) own.add(file.path);
  }
  const answer = await ledger.commit(randomUUID(), change);
  if (answer === 'fenced' || [...answer.puts, ...answer.adds].includes(undefined))
    throw new ProblemError(changedMeanwhile('some of the files'));
  const isOwn = ({ path: file, bytes }: OldContent): boolean => {
    // An ended task's page is rendered from its record; an open task must not have a page.
    if (file.startsWith('results/')) return bytes === undefined || !tasks.has(path.posix.parse(file).name);
    return own.has(file) || !(TASK_FILE.test(file) || SESSION_FILE.test(file) || NOTE.test(file));
  };
  await shown(
    root,
    files.filter((file) => !isOwn(file)),
  );
  return files.filter(isOwn);
}

/** Returns each task in its restored state; undefined: it is removed. */
async function undoTasks(
  ledger: Ledger,
  root: string,
  files: readonly OldContent[],
  { puts }: Change,
): Promise<Map<string, Placed | undefined>> {
  const then = new Map<string, Placed | undefined>();
  for (const file of files) {
    const id = idOf(file.path);
    if (id !== undefined && (file.bytes !== undefined || !then.has(id))) then.set(id, placedOf(file));
  }
  for (const [id, placed] of then) {
    const entry = await ledger.get(TASK + id);
    const now = entry && taskOf(entry.value);
    if (now !== undefined && !isShown(root, now)) throw new ProblemError(changedMeanwhile(`task ${id}`));
    if (placed === undefined && now === undefined) continue;
    const { print, live, tag } = placed === undefined ? printed(removedRow(now!)) : rowValue(placed);
    puts.push(defined({ key: TASK + id, value: print(), expect: entry?.rev ?? 0, live, tag }));
    puts.push(...(await undoneEntry(ledger, TASK + id, placed)));
  }
  return then;
}

function printed({ value, ...rest }: Pick<Put, 'value' | 'live' | 'tag'>) {
  return { print: () => value, ...rest };
}

/** Records that the content of a key is removed, until it is created again. */
async function undoneEntry(ledger: Ledger, key: string, then: unknown): Promise<Put[]> {
  const entry = { key: UNDONE + key, value: 'undone', live: true };
  if (then === undefined) return [entry];
  return (await ledger.get(entry.key))?.live ? [{ ...entry, value: '', live: false }] : [];
}

/** Nobody holds the restored claim: the next pass recovers the task as an orphan. */
function placedOf({ path: file, bytes }: OldContent): Placed | undefined {
  if (bytes === undefined) return undefined;
  const [, state, name] = TASK_FILE.exec(file)!;
  const claim = state === 'active' ? parseClaimName(`${name}.json`) : undefined;
  const parsed = parseTask(bytes, { file, name: claim?.id ?? name!, now: clock().now().toISOString() });
  if (parsed.kind !== 'task') throw new ProblemError(parsed.problem);
  const owner = claim && { agent: claim.agent, peer: 'undone' };
  return defined({ task: parsed.task, state: state as TaskState, owner });
}

async function undoSession(ledger: Ledger, { path: file, bytes }: OldContent, change: Change): Promise<void> {
  const log = SESSION + SESSION_FILE.exec(file)![1]!;
  const parsed = bytes && parseSession(bytes.toString('utf8'), file);
  if (parsed?.ok === false) throw new ProblemError(parsed.problem);
  const item: SessionItem = parsed === undefined ? { removed: true } : { whole: parsed.session };
  const { end } = await ledger.lines(log, { last: 1 });
  change.adds.push({ log, text: JSON.stringify([item]), expect: end });
  change.puts.push(...(await undoneEntry(ledger, log, parsed)));
}

/** A text that came from outside stays tainted. False: the file is only in this folder. */
async function undoNote(ledger: Ledger, root: string, file: OldContent, { puts }: Change): Promise<boolean> {
  const entry = await ledger.get(DOCUMENT + file.path);
  const [now, here] = [entry && documentOf(entry), contentAt(root, file.path)];
  if ((now === undefined && here !== undefined) || !isCarried(file.path, file.bytes ?? EMPTY)) return false;
  if (!(now?.bytes ?? EMPTY).equals(here ?? EMPTY)) throw new ProblemError(changedMeanwhile(file.path));
  const bytes = file.bytes ?? EMPTY;
  const known = fileTaint({ root, disk: disk(), baseOf: (name) => ({ path: name, sha256: sumOf(bytes) }) });
  const put = documentPut({ path: file.path, bytes, taint: known.of(file.path) });
  puts.push({ ...put, value: file.bytes === undefined ? '' : put.value, expect: entry?.rev ?? 0 });
  return true;
}

const EMPTY = Buffer.alloc(0);

function isShown(root: string, placed: Placed): boolean {
  const { path: file, text } = taskFile(placed);
  return contentAt(root, file)?.toString('utf8') === text;
}

/** Undefined: missing, or not a file. */
function contentAt(root: string, file: string): Buffer | undefined {
  return attempt(() => fs.readFileSync(path.join(root, file)));
}

/** Waits until the mirror shows the undone state, so that the commit of the undo contains it. */
async function shown(root: string, files: readonly OldContent[]): Promise<void> {
  const isThere = ({ path: file, bytes }: OldContent): boolean => {
    const now = contentAt(root, file);
    // A worker may have taken a restored task at once.
    if (TASK_FILE.test(file)) return bytes === undefined ? now === undefined : true;
    return NOTE.test(file) ? (now ?? EMPTY).equals(bytes ?? EMPTY) : true;
  };
  const { monotonicMs, sleep } = clock();
  const end = monotonicMs() + SHOWN_MS;
  while (!files.every(isThere) && monotonicMs() < end) await sleep(INTERVALS.processCheckMs);
}

const SHOWN_MS = 10_000;

function idOf(file: string): string | undefined {
  const [, state, name] = TASK_FILE.exec(file) ?? [];
  return state === 'active' ? parseClaimName(`${name}.json`)?.id : name;
}

function hostOf(value: string): string {
  const peer = attempt(() => JSON.parse(value) as { host?: unknown } | null);
  return typeof peer?.host === 'string' ? peer.host : 'another machine';
}

function held(task: string, host: string): Problem {
  return problem('needs_human', `a process on ${host} works on task ${task}`, {
    hint: 'cancel it or wait, or use --force: tasks in progress may then be done twice',
  });
}

function changedMeanwhile(what: string): Problem {
  return problem('needs_human', `${what} changed in the store during the undo`, {
    hint: 'run guild undo again; it shows what differs now',
  });
}
