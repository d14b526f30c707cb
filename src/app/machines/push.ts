/**
 * `guild store push`: a folder's work goes into an empty store, once. Records become entries and
 * logs; every file that cannot be rendered from its record is kept as it is, so that `pull` gives
 * the same bytes back. A push that was interrupted continues when it is run again.
 */
import fs from 'node:fs';
import path from 'node:path';
import { disk } from '../../adapters/disk/index.js';
import { fileTaint } from '../../adapters/file-taint/index.js';
import { defined } from '../../domain/defined.js';
import type { BoundBase } from '../../domain/task/approval.js';
import { parseOutcome } from '../../text/records/outcome.js';
import { rowValue } from '../../adapters/far/rows.js';
import { ProblemError, problemError } from '../../domain/problem.js';
import type { Placed } from '../../domain/task/task.js';
import type { Add, Ledger, Put } from '../../ports/ledger.js';
import type { Store } from '../../ports/store/index.js';
import { openFilesReader } from '../readers/open-reader.js';
import { batches } from './batches.js';
import { documentPut, type Document } from './mirror/document.js';
import {
  EFFECT,
  eventDay,
  EVENTS,
  INTENT,
  resultFile,
  SESSION,
  sessionFile,
  sumOf,
  TASK,
  taskFile,
  tasksBySession,
  type EffectRecord,
  type Rendered,
} from './mirror/rendered.js';
import { workFiles } from '../../adapters/definitions/state-files.js';
import { MARK, readMark, refuseIfWorkedOn, type Mark } from './refusals.js';

export interface Pushed {
  tasks: number;
  conversations: number;
  events: number;
  effects: number;
  files: number;
}

export async function pushStore(root: string, ledger: Ledger): Promise<Pushed> {
  const reader = openFilesReader(root);
  try {
    await reader.tasks.scan(true);
    await refuseIfBusy(root, reader);
    const files = new Map(workFiles(root).map((file) => [file, fs.readFileSync(path.join(root, file))]));
    const push = sumOf(JSON.stringify([...files].map(([file, bytes]) => [file, sumOf(bytes)])));
    await refuseIfWorkedOn(root, ledger);
    const made = await refuseIfUsed(ledger, push);
    const send = batches(ledger, `push-${push}`);
    const left = new Map(files);
    const keep = keeper(left, send.put);
    const tasks = await pushTasks(reader, send.put, keep);
    const counts = {
      tasks: tasks.length,
      conversations: await pushSessions(reader, send.add, keep, tasksBySession(tasks)),
      events: pushEvents(left, send.add, keep),
      effects: pushEffects(root, send.put),
    };
    for (const intent of await reader.intents.list())
      send.put({ key: INTENT + intent.id, value: JSON.stringify(intent), expect: 0, live: true });
    pushBlobs(left, send.put);
    const taint = fileTaint({ root, disk: disk(), baseOf: (file) => baseOf(files, file) });
    for (const [file, bytes] of left) send.put(documentPut({ path: file, bytes, taint: taint.of(file) }));
    const mark = (value: Omit<Mark, 'push'>): Put => ({
      key: MARK,
      value: JSON.stringify({ push, ...value }),
      live: false,
    });
    await send.end(made, (now) => mark({ made: now }));
    const done = { ...counts, files: files.size };
    await ledger.commit(`push-${push}-mark`, { puts: [mark({ isWhole: true, ...done })], adds: [] });
    return done;
  } finally {
    await reader.close();
  }
}

/** The work of an abandoned folder, as changes for a store that already has other work. */
export async function workOf(root: string): Promise<{ puts: Put[]; adds: Add[]; tasks: number }> {
  const reader = openFilesReader(root);
  try {
    await reader.tasks.scan(true);
    await refuseIfBusy(root, reader);
    const [puts, adds]: [Put[], Add[]] = [[], []];
    const [put, add] = [(each: Put): void => void puts.push(each), (each: Add): void => void adds.push(each)];
    const left = new Map(workFiles(root).map((file) => [file, fs.readFileSync(path.join(root, file))]));
    const keep = keeper(left, put);
    const tasks = await pushTasks(reader, put, keep);
    await pushSessions(reader, add, keep, tasksBySession(tasks));
    pushEvents(left, add, () => undefined);
    pushEffects(root, put);
    pushBlobs(left, put);
    return { puts, adds, tasks: tasks.length };
  } finally {
    await reader.close();
  }
}

function baseOf(files: ReadonlyMap<string, Buffer>, file: string): BoundBase | undefined {
  const bytes = files.get(file);
  return bytes && { path: file, sha256: sumOf(bytes) };
}

async function refuseIfBusy(root: string, reader: Store): Promise<void> {
  const [peer] = await reader.presence.peers();
  if (peer !== undefined) {
    throw problemError('store_refused', `a process still works on this folder (pid ${peer.pid} on ${peer.host})`, {
      hint: 'stop it, then push again',
    });
  }
  const journals = fs.readdirSync(path.join(root, '.guild/journal'));
  const closed = new Set(journals.filter((name) => name.endsWith('.closed')).map(peerOf));
  if (journals.some((name) => !closed.has(peerOf(name)))) {
    throw problemError('store_refused', 'a process died here, and its journal has not been replayed', {
      hint: 'run guild pump once, then push again; guild doctor names journals that are held',
    });
  }
  for (const id of await reader.sessions.list()) {
    const opened = await reader.sessions.open(id);
    if (opened.kind === 'held') throw new ProblemError(opened.problem);
  }
}

function peerOf(journal: string): string {
  return journal.slice(0, journal.indexOf('.'));
}

/**
 * The store must be empty, or contain the beginning of this same push; returns its length in
 * commits.
 */
async function refuseIfUsed(ledger: Ledger, push: string): Promise<number> {
  const before = await readMark(ledger);
  if (before?.push === push && before.isWhole !== true) return before.made ?? 0;
  const isUsed = before !== undefined || (await ledger.list(TASK, { limit: 1 })).length > 0;
  if (isUsed) {
    throw problemError('store_refused', 'the store already holds work, and push fills only an empty one', {
      hint: 'use another schema (?schema=name in the address), and run guild store init for it',
    });
  }
  await ledger.commit(`push-${push}-start`, {
    puts: [{ key: MARK, value: JSON.stringify({ push }), expect: 0, live: false }],
    adds: [],
  });
  return 0;
}

/** Keeps a file that cannot be rendered from its record. */
type Keep = (rendered: Rendered, sum: string) => void;

function keeper(left: Map<string, Buffer>, put: (put: Put) => void): Keep {
  return (rendered, sum) => {
    const bytes = left.get(rendered.path);
    left.delete(rendered.path);
    if (bytes === undefined || bytes.equals(Buffer.from(rendered.text))) return;
    const document: Document = { path: rendered.path, bytes, of: sum };
    put(documentPut(document));
  };
}

async function pushTasks({ tasks }: Store, put: (put: Put) => void, keep: Keep): Promise<Placed[]> {
  const open: Placed[] = [...tasks.open()].map(({ task, state, owner }) =>
    defined({
      task,
      state,
      owner,
    }),
  );
  const all = [...open, ...(await tasks.ended())];
  for (const placed of all) {
    const { print, live, tag } = rowValue(placed);
    const value = print();
    put(defined({ key: TASK + placed.task.id, value, expect: 0, live, tag }));
    keep(taskFile(placed), sumOf(value));
    const page = resultFile(placed);
    if (page !== undefined) keep(page, sumOf(value));
  }
  return all;
}

async function pushSessions(
  { sessions }: Store,
  add: (add: Add) => void,
  keep: Keep,
  tasks: ReadonlyMap<string, Placed>,
): Promise<number> {
  const ids = await sessions.list();
  for (const id of ids) {
    const opened = await sessions.open(id);
    if (opened.kind !== 'open') continue;
    const { header, messages } = opened.session;
    const text = JSON.stringify([{ whole: { header, messages } }]);
    add({ log: SESSION + id, text, expect: 0 });
    keep(sessionFile(id, { header, messages }, tasks.get(id)), sumOf(text));
  }
  return ids.length;
}

/** Adds the lines as they are; for a day with damaged lines, also the whole file. */
function pushEvents(left: Map<string, Buffer>, add: (add: Add) => void, keep: Keep): number {
  let count = 0;
  for (const [file, bytes] of [...left]) {
    if (!/^events\/\d{4}-\d\d-\d\d\.jsonl$/.test(file)) continue;
    const lines = bytes
      .toString('utf8')
      .split('\n')
      .filter((line) => eventDay(line) !== undefined);
    for (const text of lines) {
      const { task } = JSON.parse(text) as { task?: string };
      add(defined({ log: EVENTS, text, tag: task }));
    }
    count += lines.length;
    const text = lines.map((line) => `${line}\n`).join('');
    keep({ path: file, text }, sumOf(text));
  }
  return count;
}

function pushEffects(root: string, put: (put: Put) => void): number {
  const folder = path.join(root, '.guild/run');
  const records = new Map<string, EffectRecord>();
  const note = (id: string, started: string, outcome: string | undefined): void => {
    const ended = outcome === undefined ? undefined : parseOutcome(outcome);
    records.set(id, { ...(JSON.parse(started) as EffectRecord), ...(ended ? { outcome: ended } : {}) });
  };
  for (const name of fs.existsSync(folder) ? fs.readdirSync(folder) : []) {
    const text = fs.readFileSync(path.join(folder, name), 'utf8');
    if (name === 'done.jsonl') {
      for (const line of text.split('\n').filter(Boolean)) {
        const { id, started, outcome } = JSON.parse(line) as { id: string; started: string; outcome: string };
        note(id, started, outcome);
      }
    } else if (name.endsWith('.started')) {
      const [started, outcome] = text.split('\n').filter(Boolean);
      const old = path.join(folder, name.replace(/started$/, 'done'));
      const second = outcome ?? (fs.existsSync(old) ? fs.readFileSync(old, 'utf8').trimEnd() : undefined);
      if (started !== undefined) note(name.slice(0, -'.started'.length), started, second);
    }
  }
  for (const [id, record] of records)
    put({ key: EFFECT + id, value: JSON.stringify({ ...record, peer: 'pushed' }), expect: 0, live: false });
  return records.size;
}

function pushBlobs(left: Map<string, Buffer>, put: (put: Put) => void): void {
  for (const [file, bytes] of left) {
    const hash = /^storage\/blobs\/([0-9a-f]{64})$/.exec(file)?.[1];
    if (hash === undefined || sumOf(bytes) !== hash) continue;
    left.delete(file);
    put({ key: `blob/${hash}`, value: bytes.toString('base64'), expect: 0, live: false });
  }
}
