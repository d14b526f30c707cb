/**
 * The ballot file of a workspace. A person may save it at any time, slowly, or from an editor that
 * has had it open for long. So a file without its end line withdraws nothing, only entries that its
 * version showed can be withdrawn, and a file that has just changed is never replaced.
 */
import path from 'node:path';
import { INTERVALS } from '../../domain/intervals.js';
import type { Approval, Fate } from '../../domain/task/approval.js';
import { problem, type Problem } from '../../domain/problem.js';
import { inodeOf } from '../../domain/stamp.js';
import type { Ballot, BallotReading } from '../../ports/ballot.js';
import type { Clock } from '../../ports/clock.js';
import type { Consent } from '../../ports/consent/index.js';
import type { Disk } from '../../ports/disk.js';
import { splitEnd } from '../../text/board/ballot-end.js';
import { readMarks, type Marks } from '../../text/board/ballot-marks.js';
import { parseBoard } from '../../text/board/parse.js';
import { endedIds } from './ended-ids.js';
import { exposure } from './exposure.js';
import { ownWrites } from './own-writes.js';
import { cutOff, emptied, full, readContent, whileExposed } from './problems.js';
import { settling } from './settling.js';
import { replaceFile } from './replace-file.js';
import { updated } from './update.js';
import { versions } from './versions.js';

const FILE = 'tasks/approvals.task.md';

interface BallotOptions {
  root: string;
  disk: Disk;
  clock: Clock;
  peer: string;
  /** Knows what this machine has shown. */
  consent: Pick<Consent, 'hasShown' | 'noteShown'>;
  /** Ids of the peers whose processes are running. */
  livePeers?: () => Promise<readonly string[]>;
  /** False in a recorded run: the file counts at once, however new it is. */
  isTimed?: boolean;
  /** Whether this folder has the records of ended tasks. */
  hasRecords?: boolean;
}

/** The notes that the processes of this workspace keep about the file. */
function notesIn(guild: string, file: string, { disk, peer }: BallotOptions) {
  const tmp = path.join(guild, 'tmp');
  return {
    replace: replaceFile(disk, file, path.join(tmp, `${peer}-ballot`)),
    exposed: exposure(disk, path.join(guild, 'exposed'), peer),
    own: ownWrites(disk, { folder: path.join(guild, 'ballot'), tmp }, peer),
    shownIn: versions(disk, path.join(guild, 'ballot-versions')),
  };
}

const NOTHING: BallotReading = { answers: [], withdrawn: [], problems: [] };

export function ballot(options: BallotOptions): Ballot {
  const { root, disk, clock, consent, livePeers = async () => [], isTimed = true } = options;
  const file = path.join(root, FILE);
  const { replace, exposed, own, shownIn } = notesIn(path.join(root, '.guild'), file, options);
  const settled = settling(clock, isTimed);
  const reported = new Set<string>();
  const known = new Map<string, boolean>();
  const ended = endedIds(disk, root);
  const again = new Map<string, string>();
  /** Approvals of `again` whose marks may have been made by an agent. */
  const suspect = new Set<string>();
  /** The state of the file whose marks have all been counted. */
  let counted: string | undefined;
  let lastInode: string | undefined;
  let marks: Marks | undefined;
  let lacksEnd = false;
  const due: { read?: number; write?: number } = {};

  return { read, show, expose, unsettled: () => marks?.unsettled ?? [], dueMs };

  function expose(): () => void {
    const after = exposed.begin(disk.stamp(file));
    return () => after(disk.stamp(file));
  }

  function dueMs(use: 'read' | 'write'): number | undefined {
    const at = due[use];
    return at === undefined ? undefined : Math.max(1, at - clock.monotonicMs());
  }

  /** Looks again later: the file may be half saved. */
  function hold(use: 'read' | 'write', ms: number): void {
    due[use] = clock.monotonicMs() + ms;
  }

  function read(open: readonly Approval[]): BallotReading {
    delete due.read;
    const stamp = disk.stamp(file);
    if (stamp === undefined || stamp === counted) return NOTHING;
    const quietMs = settled.quietMs(stamp);
    const content = readContent(disk, file, FILE);
    if (content === undefined) return NOTHING;
    const end = typeof content === 'string' ? splitEnd(content) : undefined;
    const waitMs = end?.isComplete === true ? settleMs(stamp) : INTERVALS.ballotHalfSavedMs;
    if (quietMs < waitMs && !own.isOwn(stamp)) {
      hold('read', waitMs - quietMs);
      return NOTHING;
    }
    lastInode = inodeOf(stamp);
    if (typeof content !== 'string') {
      counted = stamp;
      return { ...NOTHING, problems: fresh([content]) };
    }
    return count(content, stamp, open);
  }

  /** An editor that writes in place may still be writing. A new inode is a complete replacement. */
  function settleMs(stamp: string): number {
    return lastInode === undefined || lastInode === inodeOf(stamp) ? INTERVALS.boardSettleMs : 0;
  }

  function count(text: string, stamp: string, open: readonly Approval[]): BallotReading {
    const { isComplete, version } = splitEnd(text);
    ended.refresh();
    const shown = isComplete ? shownIn.shown(version) : undefined;
    marks = readMarks({ text, board: parseBoard(text, FILE), isCut: !isComplete, shown }, open, isKnown);
    lacksEnd = !isComplete;
    const { present, isUnclear } = marks;
    const missing = isUnclear || text.trim() === '' ? [] : open.filter(({ id }) => shown?.has(id) && !present.has(id));
    const withdrawn = missing.map(({ id }) => id);
    const waitMs = withdrawn.length > 0 ? settled.confirmMs(stamp, withdrawn) : 0;
    if (waitMs > 0) hold('read', waitMs);
    else counted = stamp;
    for (const [id, why] of marks.again) again.set(id, why);
    const answers = shownHere(marks.answers, open, stamp);
    if (exposed.isSuspect(stamp)) return askAgain(marks, withdrawn);
    const isNoticed = version === 0 && open.length > 0;
    const notice = !isNoticed ? [] : text.trim() === '' ? [emptied(FILE)] : cutOff(FILE, text);
    const problems = fresh([...notice, ...marks.problems]);
    return { answers, withdrawn: waitMs > 0 ? [] : withdrawn, problems };
  }

  /**
   * Keeps only answers to requests that this machine has shown without a mark. An entry that came
   * with the file (by clone, pull or copy) is asked again, marked or not.
   */
  function shownHere(answers: Marks['answers'], open: readonly Approval[], stamp: string): Marks['answers'] {
    const marked = new Map(answers.map(({ id, answer }) => [id, answer]));
    const unseen = new Set<string>();
    for (const { id, request } of open) {
      // A refusal allows nothing, so it counts wherever it came from.
      const isRefused = marked.get(id)?.approved === false;
      if (isRefused || !marks!.present.has(id) || consent.hasShown(id, request.digest)) continue;
      // Another process of this machine may be about to record that it has shown the request.
      if (!marked.has(id) && own.isOwn(stamp)) continue;
      unseen.add(id);
      if (!again.has(id)) again.set(id, 'this machine had not shown it before');
    }
    return answers.filter(({ id }) => !unseen.has(id));
  }

  /** From the records or, if a database has them, from the entry's fate and `.guild/`. */
  function isKnown(id: string, hasFate: boolean): boolean {
    const before = known.get(id);
    if (before !== undefined) return before;
    const isOver = ended.has(id) || (options.hasRecords === false && (hasFate || shownIn.hasShown(id)));
    known.set(id, isOver);
    return isOver;
  }

  /** The ballot changed while an unsandboxed command ran: ignore its marks and report it. */
  function askAgain({ answers }: Marks, withdrawn: readonly string[]): BallotReading {
    for (const id of [...answers.map((answer) => answer.id), ...withdrawn]) {
      suspect.add(id);
      again.set(id, 'the file changed while a command ran without a sandbox');
    }
    return { ...NOTHING, problems: suspect.size > 0 ? [whileExposed(FILE)] : [] };
  }

  async function show(
    open: readonly Approval[],
    ended: readonly Approval[],
    fates: ReadonlyMap<string, Fate>,
  ): Promise<Problem[]> {
    delete due.write;
    for (const { id } of open) known.set(id, true);
    // Another request has taken its place.
    for (const { id } of ended) again.delete(id);
    const seen = disk.stamp(file);
    const isUpToDate = isShown(open, seen) && ended.length === 0 && again.size === 0 && !(lacksEnd && open.length > 0);
    if (isUpToDate) {
      await acceptUnanswered(seen);
      return [];
    }
    const dead = await deadPeers();
    const stamp = disk.stamp(file);
    const before = readContent(disk, file, FILE) ?? '';
    if (typeof before !== 'string') return []; // read() reports it
    const waitMs = stamp === undefined ? 0 : untilWrite(stamp, before);
    if (waitMs > 0) {
      hold('write', waitMs);
      return [];
    }
    const change = updated(before, FILE, { open, ended, fates, again, isKnown }, shownIn);
    const countedBefore = counted;
    if (change !== undefined && !(await write(change, stamp, dead))) return [];
    if (stamp === countedBefore || suspect.size > 0) exposed.accept(disk.stamp(file), dead);
    suspect.clear();
    again.clear();
    await noteShown(open);
    return change !== undefined && change.left > 0 ? fresh([full(FILE, change.left)]) : [];
  }

  /** Notes that the open entries of the file, as this process wrote it, have been shown. */
  async function noteShown(open: readonly Approval[]): Promise<void> {
    const marked = new Set(marks?.answers.map(({ id }) => id));
    const shown = open.filter(({ id }) => marks?.present.has(id) === true && !marked.has(id));
    await consent.noteShown(shown.map(({ id, request: { digest } }) => ({ id, digest })));
  }

  /** How long the file must stay as it is, because a person may be saving it. */
  function untilWrite(stamp: string, text: string): number {
    if (own.isOwn(stamp)) return 0;
    const needed = splitEnd(text).isComplete ? INTERVALS.ballotSavingMs : INTERVALS.ballotHalfSavedMs;
    return Math.max(needed - settled.quietMs(stamp), dueMs('read') ?? 0);
  }

  function isShown(open: readonly Approval[], stamp: string | undefined): boolean {
    if (stamp === undefined) return open.length === 0;
    return open.every(({ id }) => marks?.present.has(id) === true);
  }

  /** The ballot changed while it was exposed, but without any new answer. */
  async function acceptUnanswered(stamp: string | undefined): Promise<void> {
    if (stamp !== counted || !exposed.isSuspect(stamp)) return;
    const dead = await deadPeers();
    if (stamp === counted && stamp === disk.stamp(file)) exposed.accept(stamp, dead);
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

  async function write(
    change: { text: string; marks: Marks },
    stamp: string | undefined,
    dead: ReadonlySet<string>,
  ): Promise<boolean> {
    const isWritten = await replace(change.text, stamp, (tmpStamp) => own.note(tmpStamp, dead));
    if (!isWritten) return false;
    // Marks made since the last read are part of the new text but have not been counted yet.
    counted = stamp === counted || suspect.size > 0 ? disk.stamp(file) : undefined;
    lastInode = inodeOf(disk.stamp(file) ?? '');
    marks = change.marks;
    lacksEnd = false;
    await disk.syncFolder(path.dirname(file));
    return true;
  }

  function fresh(problems: readonly Problem[]): Problem[] {
    const unreported = problems.filter(({ where, message }) => !reported.has(`${where?.line} ${message}`));
    for (const { where, message } of unreported) reported.add(`${where?.line} ${message}`);
    return unreported.map(({ code, message, where, hint }) => problem(code, message, { where, hint }));
  }
}
