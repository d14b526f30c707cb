/**
 * The ballot file of a workspace. It remembers which approvals it has shown, so that a deleted entry is known from one that
 * was never there; and it writes only when the file is still what it last read, so that nobody's save is lost.
 */
import path from 'node:path';
import type { Approval, Fate } from '../../domain/task/approval.js';
import { problem, type Problem } from '../../domain/problem.js';
import type { Ballot, BallotReading } from '../../ports/ballot.js';
import type { Disk } from '../../ports/disk.js';
import { addEntry, markEntry, readMarks, unmarkEntry, type Marks } from '../../text/board/ballot.js';
import { parseBoard } from '../../text/board/parse.js';
import { exposure } from './exposure.js';
import { ownWrites } from './own-writes.js';

const FILE = 'tasks/approvals.task.md';
/** Some ten thousand entries. */
const MOST_BYTES = 8 * 1024 * 1024;

export interface BallotOptions {
  root: string;
  disk: Disk;
  peer: string;
  /** Whether the process of this peer still runs. */
  isAlive?: (peer: string) => boolean;
}

export function ballot({ root, disk, peer, isAlive = (id) => id === peer }: BallotOptions): Ballot {
  const file = path.join(root, FILE);
  const memory = path.join(root, '.guild', 'ballot.json');
  const shown = new Set<string>(readMemory());
  const reported = new Set<string>();
  let seen: string | undefined;
  let marks: Marks | undefined;
  let tmps = 0;

  /** Approvals whose marks may be an agent's doing: they are asked again. */
  const suspect = new Set<string>();
  const exposed = exposure(disk, path.join(root, '.guild', 'exposed'), peer, isAlive);
  const guild = path.join(root, '.guild');
  const own = ownWrites(disk, { folder: path.join(guild, 'ballot'), aside: path.join(guild, 'tmp') }, peer, isAlive);

  return { read, show, expose, unsettled: () => marks?.unsettled ?? [] };

  function expose(): () => void {
    const after = exposed.begin(disk.stamp(file));
    return () => after(disk.stamp(file));
  }

  function read(open: readonly Approval[]): BallotReading {
    const nothing: BallotReading = { answers: [], withdrawn: [], problems: [] };
    const stamp = disk.stamp(file);
    if (stamp !== undefined && stamp === seen) return nothing;
    for (const id of readMemory()) shown.add(id);
    const text = readText();
    if (text === undefined) return nothing;
    if (typeof text !== 'string') {
      seen = stamp;
      return { ...nothing, problems: fresh([text]) };
    }
    const board = parseBoard(text, FILE);
    marks = readMarks(board, open, { has: (id) => shown.has(id) || isOver(id) });
    seen = stamp;
    const isHeld = text.trim() === '' || board.problems.some((one) => one.code === 'bad_file');
    const present = new Set(marks.present);
    for (const { id } of open) if (present.has(id)) shown.add(id);
    const missing = open.filter(({ id }) => shown.has(id) && !present.has(id)).map(({ id }) => id);
    // What we wrote ourselves withdraws nothing: another process has written over it, and it is shown again.
    const withdrawn = isHeld || (missing.length > 0 && own.isOwn(stamp ?? '')) ? [] : missing;
    if (exposed.isSuspect(stamp)) return askAgain(marks, withdrawn);
    return { answers: isHeld ? [] : marks.answers, withdrawn, problems: fresh(marks.problems) };
  }

  /** In a clone of a workspace, or without `.guild/`, nobody remembers what was shown; the records still tell what was asked. */
  function isOver(id: string): boolean {
    const ended = ['completed', 'failed'].map((state) => path.join(root, 'tasks', state, `${id}.json`));
    return path.basename(id) === id && ended.some((one) => disk.stamp(one) !== undefined);
  }

  /** While a command ran that nothing held in, the ballot changed: no mark on it counts, and the human is told. */
  function askAgain({ answers }: Marks, withdrawn: string[]): BallotReading {
    for (const { id } of answers) suspect.add(id);
    for (const id of withdrawn) suspect.add(id);
    const message =
      'it changed while a command ran without a sandbox, so nobody knows whose marks these are; answer again';
    const told = problem('not_allowed', message, {
      where: { file: FILE },
      hint: 'install bubblewrap to hold commands in',
    });
    return { answers: [], withdrawn: [], problems: suspect.size > 0 ? [told] : [] };
  }

  async function show(
    open: readonly Approval[],
    ended: readonly Approval[],
    fates: ReadonlyMap<string, Fate>,
  ): Promise<void> {
    const stamp = disk.stamp(file);
    const seenBefore = seen;
    const onIt = new Set(stamp === undefined ? [] : marks?.present);
    if (open.every(({ id }) => onIt.has(id)) && ended.length === 0 && suspect.size === 0) {
      if (stamp === seen && exposed.isSuspect(stamp)) exposed.settle(stamp); // it changed, but nothing on it is an answer
      return;
    }
    const before = readText() ?? '';
    if (typeof before !== 'string') return; // told by the reading
    let text = before;
    for (const id of suspect) text = unmarkEntry(text, FILE, id);
    const present = new Set(readMarks(parseBoard(text, FILE), open, shown).present);
    for (const approval of open) if (!present.has(approval.id)) text = addEntry(text, approval);
    for (const approval of ended) text = markEntry(text, FILE, approval, fates.get(approval.id));
    if (text !== before && !(await write(text, stamp, open))) return;
    if (stamp === seenBefore || suspect.size > 0) exposed.settle(disk.stamp(file));
    suspect.clear();
    await remember(open);
  }

  /** Only over what was read: a person who saved in between is read first. */
  async function write(text: string, stamp: string | undefined, open: readonly Approval[]): Promise<boolean> {
    const tmp = await aside(text);
    if (tmp !== undefined) own.note(disk.stamp(tmp) ?? '');
    if (tmp === undefined || disk.stamp(file) !== stamp) {
      if (tmp !== undefined) disk.remove(tmp);
      return false;
    }
    if (!disk.rename(tmp, file)) return false;
    // Marks that came after the last reading are in what was written, and are still to be read.
    seen = stamp === seen || suspect.size > 0 ? disk.stamp(file) : undefined;
    marks = readMarks(parseBoard(text, FILE), open, shown);
    await disk.syncFolder(path.dirname(file));
    return true;
  }

  /** After an entry is shown it is known as shown; the other way round a crash in between would look like a deleted entry. */
  async function remember(open: readonly Approval[]): Promise<void> {
    for (const { id } of open) shown.add(id);
    const kept = new Set(readMemory());
    if (open.every(({ id }) => kept.has(id))) return;
    for (const id of kept) shown.add(id);
    for (const id of shown) if (isOver(id)) shown.delete(id); // its record tells
    const tmp = await aside(JSON.stringify([...shown]));
    if (tmp === undefined || !disk.rename(tmp, memory)) return;
    await disk.syncFolder(path.dirname(memory));
  }

  /** Undefined if another peer took the half-done file for a leftover and swept it: it is written again on the next pass. */
  async function aside(text: string): Promise<string | undefined> {
    const tmp = path.join(root, '.guild', 'tmp', `${peer}-ballot${++tmps}`);
    disk.create(tmp, text);
    try {
      await disk.sync(tmp);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
    return tmp;
  }

  /** Undefined: there is none. What is there and cannot be read is never written over. */
  function readText(): string | Problem | undefined {
    const found = disk.read(file, MOST_BYTES);
    if (found.kind === 'file') return found.bytes.toString('utf8');
    if (found.kind === 'missing') return undefined;
    const what = found.kind === 'too_big' ? `${found.size} bytes, more than is read` : `a ${found.what}, not a file`;
    return problem('bad_file', `${FILE} is ${what}: nothing on it counts, and nothing more is shown there`, {
      where: { file: FILE },
      hint: 'delete entries that are answered, or move it away; guild approve works all the same',
    });
  }

  function readMemory(): string[] {
    const found = disk.read(memory);
    if (found.kind !== 'file') return [];
    try {
      const ids = JSON.parse(found.bytes.toString('utf8')) as unknown;
      return Array.isArray(ids) ? ids.map(String) : [];
    } catch {
      return [];
    }
  }

  function fresh(problems: readonly Problem[]): Problem[] {
    const news = problems.filter((one) => !reported.has(`${one.where?.line} ${one.message}`));
    for (const one of news) reported.add(`${one.where?.line} ${one.message}`);
    return news.map((one) =>
      problem(one.code, one.message, {
        ...(one.where ? { where: one.where } : {}),
        ...(one.hint ? { hint: one.hint } : {}),
      }),
    );
  }
}
