/**
 * Texts under `memory/`, `context/` and `scratch/` on every machine: files here, entries in the
 * store; other files stay where they are. A save carries the revision that it was made from. If
 * another machine was faster, this machine's file stays, and the other version is put beside it for
 * a person or an agent to merge.
 */
import { isUtf8 } from 'node:buffer';
import fs from 'node:fs';
import path from 'node:path';
import { attempt } from '../../../domain/attempt.js';
import type { Entry } from '../../../ports/ledger.js';
import { DOCUMENT, documentOf, documentPut, type Document } from './document.js';
import { isSecretPath } from '../../../rules/policy/names/secret-names.js';
import type { MirrorContext } from './tasks.js';

interface DocumentMirror {
  takeIn(): Promise<number>;
  show(entries: readonly Entry[]): number;
  /** Everything in the store, at the start. */
  all(): Promise<Entry[]>;
}

const FOLDERS = ['memory', 'context', 'scratch'];
const MAX_BYTES = 1024 * 1024;
/** Of a folder with more files, the rest are not mirrored. */
const MAX_FILES = 2000;
/** Folders that programs fill. */
const SKIPPED = /(^|\/)(\.[^/]*|node_modules|__pycache__)\//;

export function documentMirror(context: MirrorContext): DocumentMirror {
  const { folder, ledger, nextId, guard, now, note, refuse, taint, deletedAfterMs } = context;
  /** When each missing file was first missed. */
  const missed = new Map<string, number>();
  /** Texts of files that others deleted before this process first looked. */
  const outdated = new Map<string, string>();
  let isFirst = true;
  return {
    async takeIn() {
      let count = 0;
      const files = FOLDERS.flatMap((start) => textsUnder(folder.root, start));
      for (const file of files) {
        const text = folder.changed(file);
        missed.delete(file);
        if (text !== undefined && !isBeside(file) && (await put(file, text))) count++;
      }
      for (const start of FOLDERS) count += await takeDeletions(start);
      isFirst = false;
      return count;
    },
    show(entries) {
      let count = 0;
      for (const entry of entries) if (entry.key.startsWith(DOCUMENT) && showOne(entry)) count++;
      return count;
    },
    async all() {
      return (await Promise.all(FOLDERS.map((start) => ledger.list(`${DOCUMENT}${start}/`)))).flat();
    },
  };

  /**
   * A file that is missing for a moment may be in the middle of a save. A folder that was deleted
   * as a whole comes back: otherwise deleting a mirror would delete the notes of everybody.
   */
  async function takeDeletions(start: string): Promise<number> {
    const missing = folder.shown(`${start}/`).filter((file) => !folder.exists(file));
    if (missing.length === 0) return 0;
    if (!fs.existsSync(path.join(folder.root, start))) {
      for (const file of missing) folder.forget(file);
      for (const entry of await ledger.list(`${DOCUMENT}${start}/`)) showOne(entry);
      note(`${start}/ was deleted and is back; delete its files one by one, or move them elsewhere`);
      return 0;
    }
    let count = 0;
    for (const file of missing) {
      const since = missed.get(file) ?? now().getTime();
      missed.set(file, since);
      if (!isFirst && now().getTime() - since < deletedAfterMs) continue;
      missed.delete(file);
      if (await put(file, undefined)) count++;
    }
    return count;
  }

  /** `text` undefined: the file was deleted. */
  async function put(file: string, text: string | undefined, expect = folder.base(file)?.rev ?? 0): Promise<boolean> {
    // Bytes that are not text would not come back the same.
    if (text?.includes('\uFFFD') && folder.notText(file) !== undefined) return false;
    const sources = text === undefined ? [] : taint.of(file);
    // Saved again meanwhile, perhaps by somebody else: the next look takes that in.
    if (text !== undefined && folder.exists(file) && folder.read(file) !== text) return false;
    const { key, value } = documentPut({ path: file, bytes: Buffer.from(text ?? ''), taint: sources });
    const puts = [{ key, value: text === undefined ? '' : value, expect, live: false }];
    const answer = await ledger.commit(nextId(), { puts, adds: [] }, guard());
    // It remains a change of this folder. The next process here sends it or finds a conflict.
    if (answer === 'fenced') return false;
    const rev = answer.puts[0];
    if (rev !== undefined) {
      if (text === undefined) folder.forget(file);
      else if (folder.exists(file) && folder.read(file) === text) folder.accept(file, text, rev);
      return true;
    }
    const entry = await ledger.get(key);
    if (entry === undefined) return false;
    if (text !== undefined && isWrittenAgain(file, text, entry)) return put(file, text, entry.rev);
    conflict(file, entry, text);
    return false;
  }

  /**
   * A note that was deleted can be written again. But a text that was in the folder before its
   * first look, perhaps from a checkout, is older than the deletion.
   */
  function isWrittenAgain(file: string, text: string, entry: Entry): boolean {
    if (entry.value !== '') return false;
    if (isFirst) outdated.set(file, text);
    return outdated.get(file) !== text;
  }

  /** From now on a person here can see the other version, so the next save counts. */
  function conflict(file: string, entry: Entry, text: string | undefined): void {
    const theirs = documentOf(entry);
    if (theirs === undefined || theirs.bytes.toString('utf8') === text || text === undefined) {
      if (theirs !== undefined) showText(file, theirs, entry.rev);
      return;
    }
    const { dir, name, ext } = path.posix.parse(file);
    const beside = `${dir}/${name}.theirs${ext}`;
    showText(beside, theirs, entry.rev);
    folder.accept(file, text, entry.rev);
    note(`${file} was also changed on another machine; that version is in ${beside}. Save yours again to keep it`);
  }

  function showOne(entry: Entry): boolean {
    const file = entry.key.slice(DOCUMENT.length);
    if (!FOLDERS.some((start) => file.startsWith(`${start}/`))) return false;
    if (!isText(file) || !folder.canHold(file)) {
      if (entry.value !== '') refuse(file);
      return false;
    }
    if ((folder.base(file)?.rev ?? 0) >= entry.rev || folder.changed(file) !== undefined) return false;
    const document = documentOf(entry);
    if (document === undefined) {
      if (entry.value !== '') refuse(file);
      else if (folder.base(file) !== undefined) folder.remove(file);
      return entry.value === '';
    }
    showText(file, document, entry.rev);
    return true;
  }

  /** A text that came from outside stays tainted on this machine. */
  function showText(file: string, { bytes, taint: sources = [] }: Document, rev: number): void {
    const text = bytes.toString('utf8');
    taint.writes(file, text, sources);
    folder.show(file, text, rev);
  }
}

/** Whether a file with these bytes is the same on every machine. Others stay where they are. */
export function isCarried(file: string, bytes: Buffer): boolean {
  return isText(file) && !isBeside(file) && bytes.length <= MAX_BYTES && isUtf8(bytes);
}

function isBeside(file: string): boolean {
  return /\.theirs(\.[^./]+)?$/.test(file);
}

/** Temporary files of editors, files of programs, and secrets stay on their machine. */
function isText(file: string): boolean {
  return !/(^|\/)[.#][^/]*$|~$|\.part$/.test(file) && !SKIPPED.test(file) && !isSecretPath(file);
}

function textsUnder(root: string, start: string): string[] {
  const files: string[] = [];
  const folders = [start];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const entry of entriesOf(path.join(root, folder))) {
      const file = `${folder}/${entry.name}`;
      if (entry.isDirectory() && !SKIPPED.test(`${file}/`)) folders.push(file);
      if (!entry.isFile() || !isText(file)) continue;
      // It may already be gone.
      const size = fs.statSync(path.join(root, file), { throwIfNoEntry: false })?.size ?? Infinity;
      if (size <= MAX_BYTES) files.push(file);
    }
  }
  return files.sort().slice(0, MAX_FILES);
}

/** Links are not followed: they would give files from outside to every machine. */
function entriesOf(folder: string): fs.Dirent[] {
  if (fs.lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) return [];
  // A folder that is gone or unreadable does not affect the others.
  return attempt(() => fs.readdirSync(folder, { withFileTypes: true }), []);
}
