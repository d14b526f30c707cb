/**
 * `guild store pull`: the whole store as a plain workspace that runs on files again. Definitions
 * come from the folder in which the command runs, everything else from the store.
 */
import type { Env } from '../../domain/config/env.js';
import fs from 'node:fs';
import path from 'node:path';
import { disk } from '../../adapters/disk/index.js';
import { fileTaint } from '../../adapters/file-taint/index.js';
import { folders, layout } from '../../adapters/files/base/layout.js';
import { defined } from '../../domain/defined.js';
import { problemError } from '../../domain/problem.js';
import type { Intent } from '../../domain/task/intent.js';
import type { Placed } from '../../domain/task/task.js';
import type { Consent } from '../../ports/consent/index.js';
import type { Ledger } from '../../ports/ledger.js';
import { DOCUMENT, documentOf } from './mirror/document.js';
import {
  EFFECT,
  effectFile,
  eventDay,
  EVENTS,
  INTENT,
  intentFile,
  resultFile,
  SESSION,
  sessionFile,
  sessionOf,
  sumOf,
  TASK,
  taskFile,
  taskOf,
  tasksBySession,
  type EffectRecord,
  type Rendered,
} from './mirror/rendered.js';
import { consentNow } from '../far/keys.js';
import { storeName } from '../far/shared-name.js';
import { consentFor, lookAtTrust } from '../trust/trust.js';
import { refuseIfPartlyPushed, refuseIfWorkedOn } from './refusals.js';
import type { Address } from './store-address.js';
import { hiredFiles } from '../far/hired.js';
import { definitionFiles, isPlainPath, isWorkFile } from '../../adapters/definitions/state-files.js';

interface Pulled {
  tasks: number;
  conversations: number;
  events: number;
  effects: number;
  files: number;
  /** Entries whose names lead out of the folder or into the definitions; absent: none do. */
  refused?: string[];
}

/** `consent`: accepts answers from all desks, including agents that one of them approved. */
export async function pullStore(root: string, target: string, ledger: Ledger, consent: Consent): Promise<Pulled> {
  refuseIfThere(target);
  await refuseIfWorkedOn(root, ledger);
  await refuseIfPartlyPushed(ledger);
  const part = `${target}.part`;
  fs.rmSync(part, { recursive: true, force: true });
  for (const folder of folders(layout(part)))
    fs.mkdirSync(folder, defined({ recursive: true, mode: folder.includes(`${path.sep}.guild`) ? 0o700 : undefined }));
  const refused: string[] = [];
  const write = (file: string, bytes: string | Buffer): void => {
    if (!isPlainPath(file)) return void refused.push(file);
    const to = path.join(part, file);
    fs.mkdirSync(path.dirname(to), { recursive: true });
    fs.writeFileSync(to, bytes, file.startsWith('.guild') ? { mode: 0o600 } : {});
  };
  copyDefinitions(root, part, write);
  for (const { path: file, text } of await hiredFiles(ledger, consent))
    if (!fs.existsSync(path.join(part, file))) write(file, text);
  const sums = new Map<string, string>();
  const render = (file: Rendered, sum: string): void => {
    sums.set(file.path, sum);
    write(file.path, file.text);
  };
  const tasks = await pullTasks(ledger, render);
  const counts = {
    tasks: tasks.length,
    conversations: await pullSessions(ledger, render, tasksBySession(tasks)),
    events: await pullEvents(ledger, render),
    effects: await pullEffects(ledger, write),
  };
  for (const { value } of await ledger.list(INTENT, { live: true })) {
    const { path: file, text } = intentFile(JSON.parse(value) as Intent);
    write(file, text);
  }
  for (const { key, value } of await ledger.list('blob/'))
    write(`storage/blobs/${key.slice('blob/'.length)}`, Buffer.from(value, 'base64'));
  const documents = (await ledger.list(DOCUMENT)).flatMap((entry) => documentOf(entry) ?? []);
  // A file kept as it is counts only while its record is unchanged.
  const current = documents.filter(({ path: file, of }) => of === undefined || sums.get(file) === of);
  const taint = fileTaint({ root: part, disk: disk(), baseOf: (file) => ({ path: file, sha256: 'missing' }) });
  for (const { path: file, bytes, taint: sources = [] } of current) {
    if (!isWorkFile(file)) refused.push(file);
    else {
      taint.writes(file, bytes, sources);
      write(file, bytes);
    }
  }
  // A folder of this name is a complete workspace or does not exist.
  fs.renameSync(part, target);
  return { ...counts, files: documents.length, ...(refused.length === 0 ? {} : { refused }) };
}

/** The consent of the user in this folder, and of all desks of the store. */
export async function pullFrom(
  root: string,
  target: string,
  env: Env,
  address: Address,
  ledger: Ledger,
): Promise<Pulled> {
  const own = consentFor(lookAtTrust(root, env).record, env);
  return pullStore(root, target, ledger, await consentNow(own, storeName(address), ledger));
}

function refuseIfThere(target: string): void {
  if (!fs.existsSync(target)) return;
  if (fs.statSync(target).isDirectory() && fs.readdirSync(target).length === 0) return fs.rmdirSync(target);
  throw problemError('store_refused', `${target} already exists`, { hint: 'name a folder that does not exist yet' });
}

/** The folder works on files: the line with the address of the store becomes a comment. */
function copyDefinitions(root: string, part: string, write: (file: string, bytes: Buffer | string) => void): void {
  for (const file of definitionFiles(root)) {
    const bytes = fs.readFileSync(path.join(root, file));
    const isConfig = file === 'guild.yaml' && /^store:/m.test(bytes.toString('utf8'));
    write(file, isConfig ? bytes.toString('utf8').replace(/^store:/m, '# store:') : bytes);
    fs.chmodSync(path.join(part, file), fs.statSync(path.join(root, file)).mode & 0o777);
  }
}

/** `sum`: the sum of the record that the file follows from. */
type Render = (file: Rendered, sum: string) => void;
type Write = (file: string, bytes: string | Buffer) => void;

async function pullTasks(ledger: Ledger, render: Render): Promise<Placed[]> {
  const entries = await ledger.list(TASK);
  return entries.flatMap(({ value }) => {
    const placed = taskOf(value);
    if (placed === undefined) return [];
    render(taskFile(placed), sumOf(value));
    const page = resultFile(placed);
    if (page !== undefined) render(page, sumOf(value));
    return placed;
  });
}

async function pullSessions(ledger: Ledger, render: Render, tasks: ReadonlyMap<string, Placed>): Promise<number> {
  const { logs } = await ledger.grown([SESSION]);
  let count = 0;
  for (const log of logs) {
    const { texts } = await ledger.lines(log);
    const session = sessionOf(texts);
    if (session === undefined) continue;
    const id = log.slice(SESSION.length);
    render(sessionFile(id, session, tasks.get(id)), sumOf(texts.join('\n')));
    count++;
  }
  return count;
}

async function pullEvents(ledger: Ledger, render: Render): Promise<number> {
  const { texts } = await ledger.lines(EVENTS);
  const days = new Map<string, string[]>();
  for (const line of texts) {
    const day = eventDay(line);
    if (day === undefined) continue;
    const lines = days.get(day) ?? [];
    lines.push(`${line}\n`);
    days.set(day, lines);
  }
  for (const [day, lines] of days) {
    const text = lines.join('');
    render({ path: `events/${day}.jsonl`, text }, sumOf(text));
  }
  return texts.length;
}

async function pullEffects(ledger: Ledger, write: Write): Promise<number> {
  const entries = await ledger.list(EFFECT);
  for (const { key, value } of entries) {
    const { path: file, text } = effectFile(key.slice(EFFECT.length), JSON.parse(value) as EffectRecord);
    write(file, text);
  }
  return entries.length;
}
