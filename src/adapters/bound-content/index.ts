/**
 * Binds consent to content: hashes the files that a line names and, if it interprets, everything in
 * the folders that agents can write without asking. Files of installed packages and big files are
 * compared by size, time and inode, which no agent can reset. Snapshots are kept in
 * `.guild/consent` to show a diff later; without them an answer is still bound, and only the diff
 * is missing. Secrets are compared by hash, and files that the program itself keeps writing are not
 * bound.
 */
import { createHash, type Hash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { attempt } from '../../domain/attempt.js';
import type { ContentBinding, ContentUse } from '../../ports/consent/bound-content.js';
import type { Disk } from '../../ports/disk.js';
import { isSecretPath } from '../../rules/policy/names/secret-names.js';
import { lineDiff } from '../../text/lines/line-diff.js';

interface Options {
  root: string;
  disk: Disk;
  limits?: Partial<typeof LIMITS>;
}

const LIMITS = { ms: 200, entries: 20_000, fileBytes: 1024 * 1024, bytes: 32 * 1024 * 1024, keptSnapshots: 64 };
/** Folders whose entries any agent can change without asking. */
const AGENT_FOLDERS = ['workspaces', 'scratch'];
/** Files that package managers write are too many to read, so only their stamps are compared. */
const BY_STAMP = new Set(['node_modules', '.venv', 'venv', '__pycache__', '.git']);
/** Every answer changes these, and no agent can write them. */
const BALLOT = 'tasks/approvals.task.md';
const PROGRAMS_OWN = /^(?:tasks\/[a-z]+\/|sessions\/|events\/|\.guild\/)/;
const MAX_DIFFS = 5;
const MAX_DIFF_LINES = 60;
/** Longer texts are compared by hash only. */
const MAX_TEXT = 64 * 1024;

interface Entry {
  print: string;
  text?: string;
}

interface Snapshot {
  entries: Map<string, Entry>;
  /** Files that the line names and that are not bound. */
  unbound: Set<string>;
  namesFolder: boolean;
  isComplete: boolean;
}

export function boundContent({ root, disk, limits: overrides }: Options): ContentBinding {
  const limits = { ...LIMITS, ...overrides };
  const real = fs.realpathSync(root);
  const folder = path.join(real, '.guild', 'consent');

  return {
    async bind(use) {
      const snapshot = take(use);
      if (!snapshot.isComplete) return { text: 'not bound to content, because there is too much to read' };
      const digest = digestOf(snapshot);
      keep(digest, snapshot);
      return { digest, text: describe(snapshot, use) };
    },
    changes(before, after) {
      const [old, now] = [kept(before.digest), kept(after.digest)];
      if (old === undefined || now === undefined) return 'files that it uses have changed';
      return diffOf(old, now);
    },
  };

  function keep(digest: string, { entries }: Snapshot): void {
    const names = disk.list(folder);
    if (names.includes(digest)) return;
    if (names.length >= limits.keptSnapshots) for (const name of names) disk.remove(path.join(folder, name));
    disk.makeFolder(folder, 0o700);
    disk.create(path.join(folder, digest), JSON.stringify([...entries]));
  }

  function kept(digest = ''): Map<string, Entry> | undefined {
    const read = digest === '' ? undefined : disk.read(path.join(folder, digest));
    if (read?.kind !== 'file') return undefined;
    // A crash may have torn it.
    return attempt(() => new Map(JSON.parse(read.bytes.toString('utf8')) as [string, Entry][]));
  }

  function take({ words, folders, trees, interprets }: ContentUse): Snapshot {
    const snapshot: Snapshot = { entries: new Map(), unbound: new Set(), namesFolder: false, isComplete: true };
    const budget = { until: performance.now() + limits.ms, entries: limits.entries, bytes: limits.bytes };
    for (const from of ['', ...folders]) {
      for (const word of words) {
        const file = path.resolve(real, from, word);
        const stat = fs.statSync(file, { throwIfNoEntry: false, bigint: true });
        const name = nameOf(realOf(file));
        // The ballot is listed even while it does not exist: creating it must not change the
        // snapshot.
        if (name === BALLOT || (stat?.isFile() && PROGRAMS_OWN.test(name))) snapshot.unbound.add(name);
        else if (stat?.isFile()) add(snapshot, nameOf(file), file, stat, budget, false);
        else if (stat?.isDirectory() && trees?.includes(word)) addFolder(snapshot, name, budget);
      }
    }
    if (interprets) for (const folder of AGENT_FOLDERS) walk(snapshot, path.join(real, folder), budget, false);
    return snapshot;
  }

  /** The part of a named folder that agents can change without asking. */
  function addFolder(snapshot: Snapshot, name: string, budget: Budget): void {
    snapshot.namesFolder = true;
    const isIn = (folder: string, other: string): boolean => other === '' || `${folder}/`.startsWith(`${other}/`);
    for (const folder of AGENT_FOLDERS)
      if (isIn(name, folder)) walk(snapshot, path.join(real, name), budget, false);
      else if (isIn(folder, name)) walk(snapshot, path.join(real, folder), budget, false);
  }

  function nameOf(file: string): string {
    const relative = path.relative(real, file);
    return relative.startsWith('..') ? file : relative;
  }

  function walk(snapshot: Snapshot, folder: string, budget: Budget, byStamp: boolean): void {
    for (const entry of attempt(() => fs.readdirSync(folder, { withFileTypes: true }), [])) {
      if (!snapshot.isComplete) return;
      const file = path.join(folder, entry.name);
      const name = nameOf(file);
      if (entry.isDirectory()) {
        // The program creates an agent's folder and its repository before the first command, and
        // restores the settings of the repository before each one.
        const isRepository = /^workspaces\/[^/]+\/\.git$/.test(name);
        const isHome = /^workspaces\/[^/]+$/.test(name);
        if (!isHome && !isRepository) snapshot.entries.set(`${name}/`, { print: 'folder' });
        if (!isRepository) walk(snapshot, file, budget, byStamp || BY_STAMP.has(entry.name));
      } else if (entry.isSymbolicLink())
        snapshot.entries.set(name, { print: `link ${attempt(() => fs.readlinkSync(file), '')}` });
      else {
        const stat = fs.lstatSync(file, { throwIfNoEntry: false, bigint: true });
        if (stat !== undefined) add(snapshot, name, file, stat, budget, byStamp);
      }
    }
  }

  function add(
    snapshot: Snapshot,
    name: string,
    file: string,
    stat: fs.BigIntStats,
    budget: Budget,
    byStamp: boolean,
  ): void {
    if (snapshot.entries.has(name)) return;
    budget.entries--;
    if (budget.entries < 0 || performance.now() > budget.until) snapshot.isComplete = false;
    if (!snapshot.isComplete) return;
    const mode = String(stat.mode & 0o111n);
    const isSmall = stat.size <= BigInt(limits.fileBytes) && stat.isFile() && BigInt(budget.bytes) >= stat.size;
    const bytes = byStamp || !isSmall ? undefined : attempt(() => fs.readFileSync(file));
    if (bytes === undefined) {
      snapshot.entries.set(name, { print: `${mode} ${stat.size} ${stat.mtimeNs} ${stat.ctimeNs} ${stat.ino}` });
      return;
    }
    budget.bytes -= bytes.length;
    const isShown = bytes.length <= MAX_TEXT && !bytes.includes(0) && !isSecretPath(nameOf(realOf(file)));
    const text = isShown && !isSecretPath(name) ? bytes.toString('utf8') : undefined;
    snapshot.entries.set(name, { print: `${mode} ${sha256().update(bytes).digest('hex')}`, text });
  }
}

interface Budget {
  until: number;
  entries: number;
  bytes: number;
}

function realOf(file: string): string {
  return attempt(() => fs.realpathSync(file), file);
}

function sha256(): Hash {
  return createHash('sha256');
}

function digestOf({ entries }: Snapshot): string {
  const hash = sha256();
  for (const name of [...entries.keys()].sort()) hash.update(JSON.stringify([name, entries.get(name)!.print]));
  return hash.digest('hex');
}

const MAX_NAMED = 6;

function describe({ entries, unbound, namesFolder }: Snapshot, { interprets }: ContentUse): string {
  const others = 'other files that it may read';
  const rest =
    unbound.size === 0
      ? `Changes to ${others} are not noticed.`
      : `Changes to ${[...unbound].join(', ')}, which the program itself writes, and to ${others} are not noticed.`;
  const names = [...entries.keys()].filter((name) => !name.endsWith('/'));
  if (!interprets && names.length === 0)
    return unbound.size > 0 || namesFolder ? rest : 'it names no file; you allow exactly this text.';
  return `you are asked again if ${interprets ? anyOf(names.length) : oneOf(names)} changes before it runs. ${rest}`;
}

function anyOf(count: number): string {
  if (count === 0) return 'a file that it names';
  return `a file that it names, or ${count === 1 ? 'the one file' : `one of ${count} files`} in agents' folders,`;
}

function oneOf(names: readonly string[]): string {
  const more = names.length > MAX_NAMED ? ` or one of ${names.length - MAX_NAMED} more` : '';
  return `${names.slice(0, MAX_NAMED).join(' or ')}${more}`;
}

function diffOf(before: Map<string, Entry>, after: Map<string, Entry>): string {
  const names = [...new Set([...before.keys(), ...after.keys()])].filter(
    (name) => before.get(name)?.print !== after.get(name)?.print,
  );
  const lines: string[] = [];
  for (const [n, name] of names.entries()) {
    const [old, now] = [before.get(name), after.get(name)];
    lines.push(old === undefined ? `${name} is new` : now === undefined ? `${name} is gone` : `${name} has changed`);
    if (n >= MAX_DIFFS || (old?.text ?? now?.text) === undefined) continue;
    const diff = lineDiff(old?.text ?? '', now?.text ?? '').split('\n');
    lines.push(...diff.slice(0, MAX_DIFF_LINES), ...(diff.length > MAX_DIFF_LINES ? ['…'] : []));
  }
  return lines.join('\n');
}
