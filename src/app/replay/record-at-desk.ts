/**
 * A recording where the work is in a shared store. A cassette needs a folder in which one process
 * does everything, so the run takes place in a copy of the desk's folder, on files. Its tasks,
 * conversations and events then go into the store in one commit, and its notes into the desk's
 * folder, from where the mirror takes them in.
 */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { disk } from '../../adapters/disk/index.js';
import { fileTaint } from '../../adapters/file-taint/index.js';
import type { Env } from '../../domain/config/env.js';
import { problem, type Problem, ProblemError, problemError } from '../../domain/problem.js';
import type { Ledger } from '../../ports/ledger.js';
import { definitionsHash, readPublished } from '../../adapters/definitions/index.js';
import { isShared } from '../far/open-store.js';
import { definitionFiles, isOwnPlace } from '../../adapters/definitions/state-files.js';
import { sumOf } from '../machines/mirror/rendered.js';
import { workOf } from '../machines/push.js';
import { mirrorHistory } from '../readers/history.js';
import { openFarReader } from '../readers/open-reader.js';
import { readConfig } from '../readers/read-config.js';
import { acceptTrust, forgetTrust, lookAtTrust } from '../trust/trust.js';

export interface DeskRecording {
  /** The copy: a workspace on files. */
  folder: string;
  /** Copies the work to the store. Throws a ProblemError if the store refuses it. */
  deliver(): Promise<Delivered>;
  /** Removes the copy, unless it has work that is nowhere else. Returns its folder in that case. */
  remove(): string | undefined;
}

interface Delivered {
  tasks: number;
  /** Notes that others changed meanwhile, and where the recorded version is. */
  beside: string[];
}

const NOTES = ['memory', 'context', 'scratch'];

/**
 * Undefined: the work is in this folder. Throws a ProblemError anywhere but at the desk that keeps
 * the history of the store, which it names.
 */
export async function recordAtDesk(root: string, env: Env): Promise<DeskRecording | undefined> {
  const { config } = readConfig(disk(), root, env);
  if (!isShared(config, env)) return undefined;
  await withLedger(root, env, async (ledger) => {
    const state = (await mirrorHistory({ root, config, env }, ledger)).state();
    if (!state.on) throw problemError('store_refused', `nothing can be recorded here: ${state.why}`);
    if ((await readPublished(ledger))?.hash !== definitionsHash(root)) throw new ProblemError(otherDefinitions());
  });
  const folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'guild-record-')));
  try {
    trustedCopy(root, folder, env);
  } catch (thrown) {
    remove(folder, env);
    throw thrown;
  }
  const notes = notesIn(folder);
  let isDelivered = false;
  return {
    folder,
    async deliver() {
      const tasks = await withLedger(root, env, (ledger) => giveWork(folder, ledger));
      copyPrivateTexts(folder, root);
      const beside = giveNotes(folder, root, notes);
      isDelivered = true;
      return { tasks, beside };
    },
    remove() {
      if (!isDelivered || hasOwnFiles(folder)) return folder;
      remove(folder, env);
      return undefined;
    },
  };
}

async function withLedger<T>(root: string, env: Env, work: (ledger: Ledger) => Promise<T>): Promise<T> {
  const store = openFarReader(disk(), root, env)!;
  try {
    return await work(store.far.ledger);
  } finally {
    await store.close();
  }
}

/** The copy may do what the desk may do. The line with the address of the store is a comment. */
function trustedCopy(root: string, folder: string, env: Env): void {
  const { state, digest } = lookAtTrust(root, env);
  if (state !== 'trusted')
    throw problemError('needs_human', 'only a trusted workspace can be recorded', {
      hint: 'guild trust shows which parts of it can act, and asks',
    });
  for (const file of [...definitionFiles(root), ...[...notesIn(root).keys()]]) {
    const bytes = fs.readFileSync(path.join(root, file));
    const to = path.join(folder, file);
    fs.mkdirSync(path.dirname(to), { recursive: true });
    fs.writeFileSync(to, file === 'guild.yaml' ? bytes.toString('utf8').replace(/^store:/m, '# store:') : bytes);
    fs.chmodSync(to, fs.statSync(path.join(root, file)).mode & 0o777);
  }
  if (lookAtTrust(root, env).digest !== digest)
    throw problemError('not_allowed', 'the definitions changed meanwhile; record again');
  acceptTrust(folder, env);
}

/** The checksum of each note. Links lead elsewhere and are left out. */
function notesIn(root: string): Map<string, string> {
  const notes = new Map<string, string>();
  const visit = (folder: string): void => {
    for (const entry of fs.readdirSync(path.join(root, folder), { withFileTypes: true })) {
      const file = `${folder}/${entry.name}`;
      if (entry.isDirectory()) visit(file);
      else if (entry.isFile()) notes.set(file, sumOf(fs.readFileSync(path.join(root, file))));
    }
  };
  for (const start of NOTES) if (fs.existsSync(path.join(root, start))) visit(start);
  return notes;
}

async function giveWork(folder: string, ledger: Ledger): Promise<number> {
  const { puts, adds, tasks } = await workOf(folder);
  const answer = await ledger.commit(`record-${path.basename(folder)}`, { puts, adds });
  const refused = answer === 'fenced' ? puts : puts.filter((_, at) => answer.puts[at] === undefined);
  const task = refused.find(({ key }) => key.startsWith('task/'));
  if (task !== undefined) throw new ProblemError(exists(task.key.slice('task/'.length), folder));
  return tasks;
}

/** Results of secret reads stay on this machine, in the folder that its processes use. */
function copyPrivateTexts(from: string, to: string): void {
  const [source, target] = [path.join(from, '.guild/private'), path.join(to, '.guild/private')];
  if (!fs.existsSync(source)) return;
  fs.mkdirSync(target, { recursive: true, mode: 0o700 });
  for (const name of fs.readdirSync(source)) fs.copyFileSync(path.join(source, name), path.join(target, name));
}

/** A note that changed here meanwhile stays, and the recorded one is put beside it. */
function giveNotes(from: string, to: string, before: ReadonlyMap<string, string>): string[] {
  const beside: string[] = [];
  const taintAt = (root: string) =>
    fileTaint({ root, disk: disk(), baseOf: (file) => ({ path: file, sha256: sumAt(root, file) }) });
  const after = notesIn(from);
  for (const [file, sum] of after) {
    if (before.get(file) === sum) continue;
    const now = sumAt(to, file);
    const isFree = now === (before.get(file) ?? 'missing') || now === sum;
    const { dir, name, ext } = path.posix.parse(file);
    const target = isFree ? file : `${dir}/${name}.recorded${ext}`;
    // A link there leads elsewhere. The note stays in the copy.
    if (!isOwnPlace(to, target)) throw new ProblemError(linked(target, from));
    if (!isFree) beside.push(target);
    const bytes = fs.readFileSync(path.join(from, file));
    taintAt(to).writes(target, bytes, taintAt(from).of(file));
    fs.mkdirSync(path.dirname(path.join(to, target)), { recursive: true });
    fs.writeFileSync(path.join(to, target), bytes);
  }
  for (const [file, sum] of before)
    if (!after.has(file) && sumAt(to, file) === sum) fs.rmSync(path.join(to, file), { force: true });
  return beside;
}

function sumAt(root: string, file: string): string {
  const full = path.join(root, file);
  return fs.existsSync(full) ? sumOf(fs.readFileSync(full)) : 'missing';
}

/** An agent's own files cannot be merged with those that it has on its home machine. */
function hasOwnFiles(folder: string): boolean {
  const own = path.join(folder, 'workspaces');
  return fs.existsSync(own) && fs.readdirSync(own).length > 0;
}

function remove(folder: string, env: Env): void {
  forgetTrust(folder, env);
  fs.rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}

function linked(file: string, folder: string): Problem {
  return problem('not_allowed', `${file} would not be a file of this folder, so the note stays in ${folder}`, {
    where: { file },
    hint: 'remove the link in its path, then copy the note',
  });
}

function otherDefinitions(): Problem {
  return problem('store_refused', 'the definitions in this folder differ from the published ones', {
    hint: 'bring it up to date, or run guild publish',
  });
}

function exists(task: string, folder: string): Problem {
  return problem('duplicate', `the store already has a task ${task}, so the recorded one is only in ${folder}`, {
    hint: 'record again with another --id',
  });
}
