/**
 * The folder that a mirror keeps, and the last content that it wrote to each file. A file with
 * other content has a person's change that is not taken in yet.
 */
import fs from 'node:fs';
import path from 'node:path';
import { attempt } from '../../../domain/attempt.js';
import { ProblemError, problemError, type Problem } from '../../../domain/problem.js';
import type { History } from '../../../ports/history.js';
import { decodeUtf8, notUtf8 } from '../../../text/lines/utf8.js';
import { noWorkspace } from '../../readers/no-workspace.js';
import { isOwnPlace } from '../../../adapters/definitions/state-files.js';
import { sumOf } from './rendered.js';
import { readShown, replace, writeShown, type Base } from './shown-record.js';

export interface Folder {
  readonly root: string;
  base(file: string): Base | undefined;
  shown(prefix: string): string[];
  forget(file: string): void;
  /**
   * The text of a file that differs from the shown one; undefined if it is the same or missing.
   */
  changed(file: string): string | undefined;
  exists(file: string): boolean;
  /** Where its bytes are not UTF-8. Text that was read from them must not go to the store. */
  notText(file: string): Problem | undefined;
  /** Names in a folder, without temporary files of editors. */
  list(folder: string): string[];
  read(file: string): string;
  /**
   * Whether the file can be written here: its path does not lead elsewhere, not even through a
   * link, and no folder or file is in its way.
   */
  canHold(file: string): boolean;
  /** Creates the folder of a file, but not a mirror that was deleted as a whole. */
  makeFolderOf(file: string): void;
  /**
   * Writes the whole file, and remembers it as shown. A file that a person just saved stays.
   * `over`: the content that it replaces, if that was not shown.
   */
  show(file: string, text: string, rev: number, over?: string): void;
  /**
   * Appends to a file whose content is `before`, or writes at a place in it, and records the new
   * content as shown. False if a person saved at the same moment: then the file counts as changed
   * from the revision that it contains.
   */
  amend(file: string, before: string, change: Amendment, rev: number): boolean;
  /** Counts as changed from the revision that it contains, even if its content was once shown. */
  reopen(file: string): void;
  /** Records that this text of the file corresponds to this revision. */
  accept(file: string, text: string, rev: number): void;
  move(from: string, to: string): void;
  remove(file: string): void;
  /** How far a log was shown. */
  mark(name: string): string | undefined;
  setMark(name: string, value: string): void;
  /** Saves the record of shown files for the next process. */
  save(): void;
}

interface Amendment {
  text: string;
  /** A byte offset; absent: the end. */
  at?: number;
}

interface Place {
  root: string;
  /** Names the store, so that a folder of another store is not mixed with it. */
  workspace: string;
  /**
   * The file that records what was shown. It is outside the folder: with a forged record, the files
   * of a copied folder would count as this person's changes and overwrite the store.
   */
  record: string;
  /** Receives the absolute path of each file that the mirror writes or removes. */
  writes?: Writes;
}

export type Writes = Pick<History, 'changing' | 'changed'>;

/** No content has this checksum. */
const CHANGED = '';
/** Two changes this close together may leave the same times on the file. */
const YOUNG_MS = 20;

export function mirroredFolder({ root, workspace, record, writes }: Place): Folder {
  const at = (file: string): string => path.join(root, file);
  const saved = readShown(record);
  if (saved !== undefined && saved.workspace !== workspace) {
    throw problemError('store_refused', `this folder mirrors another workspace (${saved.workspace})`, {
      hint: 'use another folder; guild sync <dir> makes one',
    });
  }
  const bases = new Map(Object.entries(saved?.bases ?? {}));
  const marks = new Map(Object.entries(saved?.marks ?? {}));
  /** Stamps of files whose content is still as it was shown. */
  const stamps = new Map<string, string>();
  let isDirty = false;

  const stampOf = (file: string): string | undefined => {
    const stat = lstat(at(file));
    return stat?.isFile() ? `${stat.ino} ${stat.size} ${stat.mtimeNs} ${stat.ctimeNs}` : undefined;
  };
  /** The next look takes the stamp before it reads: a person may have saved by now. */
  const remember = (file: string, sum: string, rev: number): void => {
    bases.set(file, { sum, rev });
    stamps.delete(file);
    isDirty = true;
  };
  const reopen = (file: string): void => remember(file, CHANGED, bases.get(file)!.rev);
  const forget = (file: string): void => {
    isDirty = bases.delete(file) || isDirty;
    stamps.delete(file);
  };
  const canHold = (file: string): boolean => isOwnPlace(root, file);
  const elsewhere = (file: string): ProblemError =>
    problemError('not_allowed', `${file} would not be a file of ${root}`);
  const makeFolderOf = (file: string): void => {
    if (!fs.existsSync(root)) throw new ProblemError(noWorkspace(root, false));
    fs.mkdirSync(path.dirname(at(file)), { recursive: true });
  };
  const reported = <T>(files: readonly string[], change: () => T): T => {
    for (const file of files) writes?.changing(at(file));
    const result = change();
    for (const file of files) writes?.changed(at(file));
    return result;
  };
  /** False if the file no longer has the content with this checksum. */
  const write = (file: string, text: string, sum: string | undefined): boolean => {
    if (!canHold(file)) throw elsewhere(file);
    makeFolderOf(file);
    const now = (): Buffer | undefined => attempt(() => fs.readFileSync(at(file)));
    const isStill = (bytes = now()): boolean => sum === undefined || bytes === undefined || sumOf(bytes) === sum;
    return reported([file], () => replace(at(file), text, { isStill }));
  };

  return {
    root,
    base: (file) => bases.get(file),
    shown: (prefix) => [...bases.keys()].filter((file) => file.startsWith(prefix)),
    forget,
    changed(file) {
      const stamp = stampOf(file);
      if (stamp === undefined || stamp === stamps.get(file)) return undefined;
      const text = fs.readFileSync(at(file), 'utf8');
      if (sumOf(text) !== bases.get(file)?.sum) return text;
      const changedNs = Number(stamp.split(' ').at(-1));
      if (Date.now() - changedNs / 1e6 > YOUNG_MS) stamps.set(file, stamp);
      return undefined;
    },
    exists: (file) => stampOf(file) !== undefined,
    notText(file) {
      const text = decodeUtf8(fs.readFileSync(at(file)));
      return typeof text === 'string' ? undefined : notUtf8(file, text);
    },
    list(folder) {
      const entries = fs.existsSync(at(folder)) ? fs.readdirSync(at(folder), { withFileTypes: true }) : [];
      return entries.filter((entry) => entry.isFile() && !/^[.#]|~$/.test(entry.name)).map(({ name }) => name);
    },
    read: (file) => fs.readFileSync(at(file), 'utf8'),
    canHold,
    makeFolderOf,
    show(file, text, rev, over) {
      const sum = over === undefined ? bases.get(file)?.sum : sumOf(over);
      if (write(file, text, sum)) remember(file, sumOf(text), rev);
    },
    amend(file, before, change, rev) {
      const bytes = reported([file], () => amendAndRead(at(file), Buffer.from(before), change));
      const isAsMeant = bytes?.equals(amended(Buffer.from(before), change)) === true;
      if (isAsMeant) remember(file, sumOf(bytes), rev);
      else if (bytes?.includes(change.text)) remember(file, CHANGED, rev);
      else reopen(file);
      return isAsMeant;
    },
    reopen,
    accept: (file, text, rev) => remember(file, sumOf(text), rev),
    move(from, to) {
      if (!canHold(from) || !canHold(to)) throw elsewhere(`${from} or ${to}`);
      makeFolderOf(to);
      reported([from, to], () => fs.renameSync(at(from), at(to)));
    },
    remove(file) {
      if (canHold(file)) reported([file], () => fs.rmSync(at(file), { force: true }));
      forget(file);
    },
    mark: (name) => marks.get(name),
    setMark(name, value) {
      if (marks.get(name) === value) return;
      marks.set(name, value);
      isDirty = true;
    },
    save() {
      if (!isDirty) return;
      isDirty = false;
      writeShown(record, { workspace, marks: Object.fromEntries(marks), bases: Object.fromEntries(bases) });
    },
  };
}

/** Undefined if the file is gone or has another size than `before`; then nothing is written. */
function amendAndRead(file: string, before: Buffer, { text, at }: Amendment): Buffer | undefined {
  try {
    const { O_WRONLY, O_APPEND, O_NOFOLLOW } = fs.constants;
    const fd = fs.openSync(file, O_WRONLY | O_NOFOLLOW | (at === undefined ? O_APPEND : 0));
    try {
      if (fs.fstatSync(fd).size !== before.length) return undefined;
      fs.writeSync(fd, text, at);
    } finally {
      fs.closeSync(fd);
    }
    return fs.readFileSync(file);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw thrown;
  }
}

function amended(before: Buffer, { text, at = before.length }: Amendment): Buffer {
  const added = Buffer.from(text);
  return Buffer.concat([before.subarray(0, at), added, before.subarray(at + added.length)]);
}

/** Also undefined if a part of the path is a file. */
function lstat(file: string): fs.BigIntStats | undefined {
  return attempt(() => fs.lstatSync(file, { bigint: true, throwIfNoEntry: false }));
}
