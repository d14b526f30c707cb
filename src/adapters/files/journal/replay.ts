/**
 * Replays the journals of dead processes: every file that they had not finished gets its content
 * and its name. Replay is idempotent, and it never overwrites what a person or another process
 * wrote later. Where the disk has neither the content before nor the content after, ours is kept as
 * evidence.
 */
import path from 'node:path';
import { problem, type Problem } from '../../../domain/problem.js';
import { sameContent } from '../../../domain/stamp.js';
import { isEnded } from '../../../domain/task/task.js';
import type { Disk } from '../../../ports/disk.js';
import { contentSum } from '../base/content-sum.js';
import { claimName, parseClaimName, type Layout } from '../base/layout.js';
import { hasEnded } from '../base/where-now.js';
import { appendOrCreate } from '../base/append-or-create.js';
import { statusSpan } from '../../../text/session/parse.js';
import type { DeadJournal } from './dead-journals.js';
import { fold, type HeldEffect, type HeldPage, type HeldSession, type HeldTask } from './fold.js';
import { isEndPut, type SessionAdd } from './step.js';
import { locate, locateNow, type Located } from './locate.js';

interface Replayed {
  problems: Problem[];
  /** Files that must be durable before the journals are removed. */
  files: Set<string>;
  /** Conversations that only its journal had, by process. */
  unseen: Map<string, number>;
}

export function replay(disk: Disk, layout: Layout, journals: readonly DeadJournal[], me: string): Replayed {
  const claims = claimsOnDisk(disk, layout);
  const folded = fold(journals, new Map([...claims].map(([id, { peer }]) => [id, peer])));
  const problems: Problem[] = [];
  const files = new Set<string>();
  const unseen = new Map<string, number>();
  let count = 0;
  for (const task of folded.tasks) replayTask(task);
  for (const page of folded.pages) replayPage(page);
  for (const session of folded.sessions) replaySession(session);
  for (const effect of folded.effects) replayEffect(effect);
  for (const [day, lines] of folded.events) replayEvents(day, lines);
  return { problems, files, unseen };

  function replayTask(task: HeldTask): void {
    const { id, peer, agent, last, texts, isSettled } = task;
    // It was not locked: a live process may have claimed or ended it since the claims were listed.
    const found = locate(disk, layout, id, claims.get(id)?.file) ?? locateNow(disk, layout, id);
    const target =
      last.state === 'active'
        ? path.join(layout.tasks('active'), claimName(id, agent, peer))
        : layout.task(last.state, id);
    const text = last.text ?? texts.at(-1);
    if (found === undefined) {
      // It was in place, so a person must have deleted it.
      if (isSettled || text === undefined) return;
      return put(target, text);
    }
    files.add(found.file);
    const isTorn = isTornOf(found.bytes, texts);
    if (found.file === target) {
      // A power cut may keep the new name and lose the new content.
      const isStale = text !== found.bytes.toString('utf8') && isWrittenBy(task, found);
      if (text !== undefined && !isSettled && (isTorn || isStale)) put(target, text);
      return;
    }
    if (isEnded(found.state) && !isTorn) return lateEnd(task, text);
    if (task.isThisBoot && found.state === 'active' && found.owner !== peer) return;
    const isOurs = isTorn || isWrittenBy(task, found) || (found.state === 'active' && found.owner === peer);
    if (isSettled) return;
    // A person's second file under the target's name is not replaced.
    if (!isOurs || disk.stamp(target) !== undefined) return refuse(task, found, text);
    move(found, target, text ?? found.bytes.toString('utf8'));
  }

  /** Another process ended it, or a person moved it there. */
  function lateEnd(task: HeldTask, text: string | undefined): void {
    if (isEndPut(task.last) && !task.isSettled && text !== undefined) keepEvidence(task, text);
  }

  function refuse(task: HeldTask, found: Located, text: string | undefined): void {
    if (text !== undefined) keepEvidence(task, text);
    const file = path.relative(layout.root, found.file);
    problems.push(
      problem('duplicate', `a process that died had another version of ${file}; the file stays as it is`, {
        where: { file },
        hint: `compare it with the files in ${path.relative(layout.root, layout.evidence)}`,
      }),
    );
  }

  function keepEvidence({ id, peer, agent }: HeldTask, text: string): void {
    put(path.join(layout.evidence, claimName(id, agent, peer)), text);
  }

  /** It never has two names, even if this process dies in between. */
  function move(found: Located, target: string, text: string): void {
    if (found.bytes.toString('utf8') !== text) put(found.file, text);
    disk.rename(found.file, target);
    files.delete(found.file);
    files.add(target);
  }

  function replayPage({ page, file: relative, text, texts, was, isSettled }: HeldPage): void {
    const file = path.join(layout.root, relative);
    const read = disk.read(file);
    files.add(file);
    if (isSettled) return;
    // Also while the task is retried: a torn page would look like a person's at its next end.
    if (read.kind === 'file' && isTornOf(read.bytes, texts)) return put(file, text);
    const isReplaced = read.kind === 'file' && was !== undefined && sameContent(read.stamp, was);
    if (hasEnded(disk, layout, page) && (read.kind === 'missing' || isReplaced)) put(file, text);
  }

  function replaySession({ id, peer, chunks: all, isSettled }: HeldSession): void {
    const file = layout.session(id);
    const read = disk.read(file);
    files.add(file);
    if (isSettled || (read.kind !== 'file' && read.kind !== 'missing')) return;
    if (read.kind === 'missing') {
      if (all[0]!.at !== 0) return;
      unseen.set(peer, (unseen.get(peer) ?? 0) + 1);
      return put(file, textOf(all));
    }
    const chunks = sinceEdit(all, read.bytes.length);
    const missing = chunks.findIndex((chunk) => !hasChunk(read.bytes, chunk));
    if (missing < 0) return;
    const rest = chunks.slice(missing);
    const { at } = rest[0]!;
    if (read.bytes.length <= at || isTornOf(withoutStatus(read.bytes, rest[0]!), [textOf(rest)]))
      return put(file, read.bytes.toString('utf8', 0, at) + textOf(rest));
    // A person's text stays, and acknowledged messages that it lacks follow it. Messages are placed
    // in order, so one that is missing before another was edited or removed; but a power cut may
    // leave zeros.
    const isThere = rest.map(({ text }) => read.bytes.includes(text));
    const last = read.bytes.includes(0) ? -1 : isThere.lastIndexOf(true);
    const lacking = rest.filter(({ at: from }, n) => n > last && !isThere[n] && from > 0);
    if (lacking.length > 0) put(file, withNewline(read.bytes.toString('utf8')) + textOf(lacking));
  }

  function replayEffect({ effect, text, isSettled }: HeldEffect): void {
    const file = layout.effect(effect);
    const read = disk.read(file);
    files.add(file);
    if (isSettled) return;
    if (read.kind === 'missing' || (read.kind === 'file' && isTornOf(read.bytes, [text]))) put(file, text);
  }

  function replayEvents(day: string, lines: readonly string[]): void {
    const file = path.join(layout.events, `${day}.jsonl`);
    files.add(file);
    if (lines.length === 0) return;
    const read = disk.read(file, Infinity);
    const text = read.kind === 'file' ? read.bytes.toString('utf8') : '';
    const present = new Set(text.split('\n'));
    const missing = [...new Set(lines)].filter((line) => !present.has(line));
    if (missing.length === 0) return;
    const lead = text === '' || text.endsWith('\n') ? '' : '\n';
    appendOrCreate(disk, file, `${lead}${missing.join('\n')}\n`, path.join(layout.tmp, `${me}-events`));
  }

  /** Atomic: a reader sees the old content or the new. */
  function put(file: string, text: string): void {
    const tmp = path.join(layout.tmp, `${me}-replay${++count}`);
    disk.remove(tmp);
    disk.create(tmp, text);
    disk.rename(tmp, file);
    files.add(file);
  }
}

interface DiskClaim {
  peer: string;
  file: string;
}

function claimsOnDisk(disk: Disk, layout: Layout): Map<string, DiskClaim> {
  const claims = new Map<string, DiskClaim>();
  for (const name of disk.list(layout.tasks('active'))) {
    const claim = parseClaimName(name);
    if (claim === undefined || (claim.leaving && claims.has(claim.id))) continue;
    claims.set(claim.id, { peer: claim.peer, file: path.join(layout.tasks('active'), name) });
  }
  return claims;
}

function isWrittenBy({ texts, bases }: HeldTask, { bytes }: Located): boolean {
  return bases.includes(contentSum(bytes)) || texts.includes(bytes.toString('utf8'));
}

/**
 * A chunk that does not begin where the one before it ended follows a person's edit. If the edit is
 * on the disk, only later text may be missing; removed text stays removed.
 */
function sinceEdit(chunks: readonly SessionAdd[], size: number): readonly SessionAdd[] {
  const first = chunks.findLastIndex((chunk, i) => {
    const before = chunks[i - 1];
    return before !== undefined && chunk.at !== before.at + Buffer.byteLength(before.text);
  });
  return first > 0 && size >= chunks[first]!.at ? chunks.slice(first) : chunks;
}

function hasChunk(bytes: Buffer, chunk: SessionAdd): boolean {
  const text = Buffer.from(chunk.text);
  return withoutStatus(bytes, chunk).subarray(0, text.length).equals(text);
}

/** The bytes from this chunk on. The status in the header is patched in place: not compared. */
function withoutStatus(bytes: Buffer, { at, text }: SessionAdd): Buffer {
  const found = Buffer.from(bytes.subarray(at));
  const span = at === 0 ? statusSpan(text) : undefined;
  if (span === undefined) return found;
  const wanted = Buffer.from(text);
  for (let i = span.offset; i < Math.min(span.offset + span.length, found.length); i++)
    if (found[i] !== 0) found[i] = wanted[i]!;
  return found;
}

function textOf(chunks: readonly SessionAdd[]): string {
  return chunks.map(({ text }) => text).join('');
}

/**
 * Whether these bytes can be the remains of one of these unsynced texts after a power cut: a
 * beginning of the text, then nothing or zeros. There may be more zeros than text, because the file
 * had grown further. A whole text is not torn.
 */
function isTornOf(bytes: Buffer, texts: readonly string[]): boolean {
  const end = bytes.findLastIndex((byte) => byte !== 0) + 1;
  return texts.some((text) => {
    const whole = Buffer.from(text);
    if (end > whole.length || bytes.equals(whole)) return false;
    return bytes.subarray(0, end).equals(whole.subarray(0, end));
  });
}

function withNewline(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}
