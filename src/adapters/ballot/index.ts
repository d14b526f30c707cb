/**
 * The ballot file of a workspace. It remembers which approvals it has shown, to tell a deleted
 * entry from one that was never there. It writes only if the file is unchanged since the last read,
 * so that a person's save is never overwritten.
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
/** Enough for about ten thousand entries. */
const MAX_BYTES = 8 * 1024 * 1024;

interface BallotOptions {
  root: string;
  disk: Disk;
  peer: string;
  /** Ids of the peers whose processes are running. */
  livePeers?: () => Promise<readonly string[]>;
}

export function ballot({ root, disk, peer, livePeers = async () => [] }: BallotOptions): Ballot {
  const file = path.join(root, FILE);
  const memory = path.join(root, '.guild', 'ballot.json');
  const shown = new Set<string>(readMemory());
  const reported = new Set<string>();
  let seen: string | undefined;
  let marks: Marks | undefined;
  let tmps = 0;

  /** Approvals whose marks may have been made by an agent. They are asked again. */
  const suspect = new Set<string>();
  const exposed = exposure(disk, path.join(root, '.guild', 'exposed'), peer);
  const guild = path.join(root, '.guild');
  const own = ownWrites(disk, { folder: path.join(guild, 'ballot'), tmp: path.join(guild, 'tmp') }, peer);

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
    const isUnusable = text.trim() === '' || board.problems.some(({ code }) => code === 'bad_file');
    const present = new Set(marks.present);
    for (const { id } of open) if (present.has(id)) shown.add(id);
    const missing = open.filter(({ id }) => shown.has(id) && !present.has(id)).map(({ id }) => id);
    // An entry missing from our own write was lost to another process, not withdrawn. Show it
    // again.
    const withdrawn = isUnusable || (missing.length > 0 && own.isOwn(stamp ?? '')) ? [] : missing;
    if (exposed.isSuspect(stamp)) return askAgain(marks, withdrawn);
    return { answers: isUnusable ? [] : marks.answers, withdrawn, problems: fresh(marks.problems) };
  }

  /** A clone of a workspace has no `.guild/` to say what was shown; the task records still do. */
  function isOver(id: string): boolean {
    const records = ['completed', 'failed'].map((state) => path.join(root, 'tasks', state, `${id}.json`));
    return path.basename(id) === id && records.some((file) => disk.stamp(file) !== undefined);
  }

  /** The ballot changed while an unsandboxed command ran: ignore its marks and report it. */
  function askAgain({ answers }: Marks, withdrawn: string[]): BallotReading {
    for (const { id } of answers) suspect.add(id);
    for (const id of withdrawn) suspect.add(id);
    const message = 'changed while a command ran without a sandbox, so its marks do not count; answer again';
    const warning = problem('not_allowed', message, {
      where: { file: FILE },
      hint: 'install bubblewrap to run commands in a sandbox',
    });
    return { answers: [], withdrawn: [], problems: suspect.size > 0 ? [warning] : [] };
  }

  async function show(
    open: readonly Approval[],
    ended: readonly Approval[],
    fates: ReadonlyMap<string, Fate>,
  ): Promise<void> {
    if (isShown(open) && ended.length === 0 && suspect.size === 0) return acceptUnanswered();
    const dead = await deadPeers();
    const stamp = disk.stamp(file);
    const seenBefore = seen;
    const before = readText() ?? '';
    if (typeof before !== 'string') return; // read() reports it
    let text = before;
    for (const id of suspect) text = unmarkEntry(text, FILE, id);
    const present = new Set(readMarks(parseBoard(text, FILE), open, shown).present);
    for (const approval of open) if (!present.has(approval.id)) text = addEntry(text, approval);
    for (const approval of ended) text = markEntry(text, FILE, approval, fates.get(approval.id));
    if (text !== before && !(await write(text, stamp, open, dead))) return;
    if (stamp === seenBefore || suspect.size > 0) exposed.accept(disk.stamp(file), dead);
    suspect.clear();
    await remember(open);
  }

  function isShown(open: readonly Approval[]): boolean {
    const shownNow = new Set(disk.stamp(file) === undefined ? [] : marks?.present);
    return open.every(({ id }) => shownNow.has(id));
  }

  /** The ballot changed while it was exposed, but without any new answer. */
  async function acceptUnanswered(): Promise<void> {
    const stamp = disk.stamp(file);
    if (stamp !== seen || !exposed.isSuspect(stamp)) return;
    const dead = await deadPeers();
    if (stamp === seen && stamp === disk.stamp(file)) exposed.accept(stamp, dead);
  }

  /**
   * Lists the peers before it asks who is alive, so that a peer that joins in between does not
   * count as dead.
   */
  async function deadPeers(): Promise<ReadonlySet<string>> {
    const peers = new Set([...exposed.peers(), ...own.peers()]);
    if (peers.size > 0) for (const id of await livePeers()) peers.delete(id);
    return peers;
  }

  /** Replaces the file only if it still has this stamp; a save made in between is read first. */
  async function write(
    text: string,
    stamp: string | undefined,
    open: readonly Approval[],
    dead: ReadonlySet<string>,
  ): Promise<boolean> {
    const tmp = await writeTemp(text);
    if (tmp !== undefined) own.note(disk.stamp(tmp) ?? '', dead);
    if (tmp === undefined || disk.stamp(file) !== stamp) {
      if (tmp !== undefined) disk.remove(tmp);
      return false;
    }
    if (!disk.rename(tmp, file)) return false;
    // Marks made since the last read are part of the new text but have not been counted yet.
    seen = stamp === seen || suspect.size > 0 ? disk.stamp(file) : undefined;
    marks = readMarks(parseBoard(text, FILE), open, shown);
    await disk.syncFolder(path.dirname(file));
    return true;
  }

  /**
   * Runs after the entries are on the ballot: the other order would turn a crash into a withdrawal.
   */
  async function remember(open: readonly Approval[]): Promise<void> {
    for (const { id } of open) shown.add(id);
    const remembered = new Set(readMemory());
    if (open.every(({ id }) => remembered.has(id))) return;
    for (const id of remembered) shown.add(id);
    for (const id of shown) if (isOver(id)) shown.delete(id); // its task record says so
    const tmp = await writeTemp(JSON.stringify([...shown]));
    if (tmp === undefined || !disk.rename(tmp, memory)) return;
    await disk.syncFolder(path.dirname(memory));
  }

  /** Undefined if another peer swept the temp file as a leftover. The next pass writes it again. */
  async function writeTemp(text: string): Promise<string | undefined> {
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

  /** Undefined if there is no ballot. A ballot that cannot be read is never overwritten. */
  function readText(): string | Problem | undefined {
    const content = disk.read(file, MAX_BYTES);
    if (content.kind === 'file') return content.bytes.toString('utf8');
    if (content.kind === 'missing') return undefined;
    const reason =
      content.kind === 'too_big'
        ? `has ${content.size} bytes; the limit is ${MAX_BYTES}`
        : `is a ${content.what}, not a file`;
    return problem('bad_file', `${FILE} ${reason}: its marks do not count and it is not updated`, {
      where: { file: FILE },
      hint: 'delete answered entries or move the file away; guild approve still works',
    });
  }

  function readMemory(): string[] {
    const content = disk.read(memory);
    if (content.kind !== 'file') return [];
    try {
      const ids = JSON.parse(content.bytes.toString('utf8')) as unknown;
      return Array.isArray(ids) ? ids.map(String) : [];
    } catch {
      return [];
    }
  }

  function fresh(problems: readonly Problem[]): Problem[] {
    const unreported = problems.filter(({ where, message }) => !reported.has(`${where?.line} ${message}`));
    for (const { where, message } of unreported) reported.add(`${where?.line} ${message}`);
    return unreported.map(({ code, message, where, hint }) => problem(code, message, { where, hint }));
  }
}
