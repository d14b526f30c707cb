/**
 * The folder that a mirror keeps, and the content that it last showed in each file. A file with
 * other content belongs to a person until it has been taken in.
 */
import { isUtf8 } from 'node:buffer';
import fs from 'node:fs';
import path from 'node:path';
import { problem, ProblemError } from '../../../domain/problem.js';
import { noWorkspace } from '../../readers/no-workspace.js';
import { isPlainPath } from '../../far/state-files.js';
import { sumOf } from './rendered.js';

/**
 * The state of a file when it was shown: its sum, and the revision or the end of the log behind it.
 */
interface Base {
  sum: string;
  rev: number;
}

export interface Folder {
  readonly root: string;
  base(file: string): Base | undefined;
  /** Files that were shown and begin like this. */
  shown(prefix: string): string[];
  forget(file: string): void;
  /**
   * The text of a file that differs from the shown one; undefined: it does not differ, or is
   * missing.
   */
  changed(file: string): string | undefined;
  exists(file: string): boolean;
  /** Whether its bytes are UTF-8. */
  isText(file: string): boolean;
  /** Names in a folder, without temporary files of editors. */
  list(folder: string): string[];
  read(file: string): string;
  /**
   * Whether the file can be written here: its path leads nowhere else, also not by a link, and no
   * folder or file is in its way.
   */
  canHold(file: string): boolean;
  /** Makes the folder of a file, but not a mirror that was deleted as a whole. */
  makeFolderOf(file: string): void;
  /** Writes as a whole, and remembers it as shown. */
  show(file: string, text: string, rev: number): void;
  /**
   * Adds at the end of a file with the content of this sum, and remembers the whole as shown. If a
   * person saves at the same moment, the file counts as changed from the revision that it contains.
   */
  append(file: string, text: string, rev: number, sum: string): void;
  /** Notes that this text of the file stands for this revision. */
  accept(file: string, text: string, rev: number): void;
  move(from: string, to: string): void;
  remove(file: string): void;
  /** How far a log was shown. */
  mark(name: string): string | undefined;
  setMark(name: string, value: string): void;
  /** Saves the record of shown files for the next process. */
  save(): void;
}

interface Saved {
  workspace: string;
  marks: Record<string, string>;
  bases: Record<string, Base>;
}

const FILE = '.guild/sync/shown.json';
/** No content has this sum. */
const CHANGED = '';

/** `workspace`: names the store, so that a folder of another one is not mixed with it. */
export function mirroredFolder(root: string, workspace: string): Folder {
  const at = (file: string): string => path.join(root, file);
  const saved = readSaved(at(FILE));
  if (saved !== undefined && saved.workspace !== workspace) {
    throw new ProblemError(
      problem('store_refused', `this folder mirrors another workspace (${saved.workspace})`, {
        hint: 'use another folder; guild sync <dir> makes one',
      }),
    );
  }
  const bases = new Map(Object.entries(saved?.bases ?? {}));
  const marks = new Map(Object.entries(saved?.marks ?? {}));
  /** Stamps of files that are known to be as they were shown. */
  const stamps = new Map<string, string>();
  let isDirty = false;

  const stampOf = (file: string): string | undefined => {
    const stat = lstat(at(file));
    return stat?.isFile() ? `${stat.ino} ${stat.size} ${stat.mtimeNs} ${stat.ctimeNs}` : undefined;
  };
  /** The stamp is taken by the next look, before it reads: a person may have saved by now. */
  const remember = (file: string, sum: string, rev: number): void => {
    bases.set(file, { sum, rev });
    stamps.delete(file);
    isDirty = true;
  };
  const forget = (file: string): void => {
    isDirty = bases.delete(file) || isDirty;
    stamps.delete(file);
  };
  const canHold = (file: string): boolean => {
    if (!isPlainPath(file)) return false;
    const parts = file.split('/');
    const above = parts.slice(1).map((_, n) => lstat(at(parts.slice(0, n + 1).join('/'))));
    const own = lstat(at(file));
    return above.every((stat) => stat === undefined || stat.isDirectory()) && (own === undefined || own.isFile());
  };
  const makeFolderOf = (file: string): void => {
    if (!fs.existsSync(root)) throw new ProblemError(noWorkspace(root, false));
    fs.mkdirSync(path.dirname(at(file)), { recursive: true });
  };
  const write = (file: string, text: string): void => {
    if (!canHold(file)) throw new ProblemError(problem('not_allowed', `${file} would not be a file of ${root}`));
    makeFolderOf(file);
    const part = path.join(path.dirname(at(file)), `.${path.basename(file)}.part`);
    fs.writeFileSync(part, text);
    fs.renameSync(part, at(file));
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
      stamps.set(file, stamp);
      return undefined;
    },
    exists: (file) => stampOf(file) !== undefined,
    isText: (file) => isUtf8(fs.readFileSync(at(file))),
    list(folder) {
      const entries = fs.existsSync(at(folder)) ? fs.readdirSync(at(folder), { withFileTypes: true }) : [];
      return entries.filter((entry) => entry.isFile() && !/^[.#]|~$/.test(entry.name)).map(({ name }) => name);
    },
    read: (file) => fs.readFileSync(at(file), 'utf8'),
    canHold,
    makeFolderOf,
    show(file, text, rev) {
      write(file, text);
      remember(file, sumOf(text), rev);
    },
    append(file, text, rev, sum) {
      const bytes = appendAndRead(at(file), text);
      const before = bytes?.subarray(0, -Buffer.byteLength(text));
      if (before !== undefined && sumOf(before) === sum) remember(file, sumOf(bytes!), rev);
      else if (bytes?.includes(text)) remember(file, CHANGED, rev);
    },
    accept: (file, text, rev) => remember(file, sumOf(text), rev),
    move(from, to) {
      makeFolderOf(to);
      fs.renameSync(at(from), at(to));
    },
    remove(file) {
      fs.rmSync(at(file), { force: true });
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
      const text: Saved = { workspace, marks: Object.fromEntries(marks), bases: Object.fromEntries(bases) };
      write(FILE, JSON.stringify(text));
    },
  };
}

/** Undefined if the file is gone. */
function appendAndRead(file: string, text: string): Buffer | undefined {
  try {
    const fd = fs.openSync(file, fs.constants.O_WRONLY | fs.constants.O_APPEND);
    try {
      fs.writeSync(fd, text);
    } finally {
      fs.closeSync(fd);
    }
    return fs.readFileSync(file);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw thrown;
  }
}

/** Undefined also where a part of the path is a file. */
function lstat(file: string): fs.BigIntStats | undefined {
  try {
    return fs.lstatSync(file, { bigint: true, throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

function readSaved(file: string): Saved | undefined {
  if (!fs.existsSync(file)) return undefined;
  try {
    return JSON.parse(fs.readFileSync(file, 'utf8')) as Saved;
  } catch {
    throw new ProblemError(
      problem('bad_file', `${file} cannot be read`, { hint: 'sync into a new folder; the store has everything' }),
    );
  }
}
