/**
 * The inbox as files. A line's key is its `id`, or else its bytes and the number of equal lines
 * before it. The task id derives from the key, so reading a line again yields the same task. Writes
 * happen in the order task, log, cursor; a crash between them only repeats harmless steps.
 */
import { createHash, type Hash } from 'node:crypto';
import path from 'node:path';
import { defined } from '../../domain/defined.js';
import { fenced, isUnreadable } from '../../domain/fence.js';
import { safePart } from '../../domain/task/id.js';
import { sourceOf, type Mail } from '../../domain/coordination/mail.js';
import { problem, type Problem, problemError } from '../../domain/problem.js';
import type { Disk } from '../../ports/disk.js';
import type { Inbox } from '../../ports/inbox.js';
import { inboxLines, readInboxLine, type InboxLine } from '../../text/records/inbox.js';
import { cursors, EMPTY, type Cursor, type Place } from './cursor.js';

/** A line after the cursor. */
interface Entry {
  end: Place;
  key: string;
  digest: string;
  /** Absent if nothing is left to do for this line. */
  mail?: Mail;
}

/** A file, as far as this process has read it. */
interface InboxFile {
  stamp: string;
  origin: string;
  cursor: Place;
  read: Place;
  /** How often each line occurred, by the hash of its bytes. */
  counts: Map<string, number>;
  entries: Entry[];
}

const MAX_INBOX_BYTES = 64 * 1024 * 1024;
/** Rotated files are read too: lines may have been added just before the rotation. */
const NAME = /^[A-Za-z0-9][\w.-]*\.jsonl(?:\.\d+)?$/;
const OUT = /outbox\.jsonl(?:\.\d+)?$/;

export function inbox({ root, disk, peer }: { root: string; disk: Disk; peer?: string }): Inbox {
  const folder = path.join(root, 'inbox');
  const cursorStore = cursors(disk, root, peer);
  const files = new Map<string, InboxFile>();
  const reported = new Map<string, string>();
  /** The stamp each file had when every line was done, from its cursor. */
  const doneStamps = new Map<string, string | undefined>();
  /** The stamp of each file after our last append. */
  const endStamps = new Map<string, string>();

  return { take, done, append, all };

  async function take(): ReturnType<Inbox['take']> {
    const problems: Problem[] = [];
    const names = inboxNames(problems);
    for (const name of files.keys()) if (!names.includes(name)) files.delete(name);
    const changed = names.filter(hasChanged).flatMap((name) => {
      const content = readFile(name, problems);
      return content === undefined ? [] : [{ name, ...content }];
    });
    // New names first: one may be a rotated file, which needs the cursor of its old name.
    changed.sort(
      (a, b) => Number(cursorStore.load(a.name) !== undefined) - Number(cursorStore.load(b.name) !== undefined),
    );
    for (const { name, bytes, stamp } of changed) await readOn(name, bytes, stamp, problems);
    const mail = names.flatMap((name) => files.get(name)?.entries.flatMap((entry) => entry.mail ?? []) ?? []);
    return { mail, problems };
  }

  async function done(mail: readonly Mail[]): Promise<void> {
    const ids = new Set(mail.map((entry) => entry.task));
    for (const [name, file] of files) {
      const taken = file.entries.filter((entry) => entry.mail !== undefined && ids.has(entry.mail.task));
      await cursorStore.note(file.origin, taken);
      for (const entry of taken) delete entry.mail;
      const open = file.entries.findIndex((entry) => entry.mail !== undefined);
      const place = open < 0 ? file.read : open === 0 ? file.cursor : file.entries[open - 1]!.end;
      file.entries = open < 0 ? [] : file.entries.slice(open);
      if (place.offset === file.cursor.offset) continue;
      const stamp = open < 0 ? { stamp: file.stamp } : {};
      await cursorStore.save(name, { ...place, origin: file.origin, ...stamp });
      file.cursor = place;
    }
  }

  async function append(name: string, line: Record<string, unknown>): Promise<void> {
    if (!NAME.test(name) || !name.endsWith('.jsonl')) {
      throw problemError('bad_name', `${JSON.stringify(name)} is not a valid inbox file name`, {
        hint: 'use a name such as slack-messages.jsonl',
      });
    }
    const file = path.join(folder, name);
    disk.makeFolder(folder);
    const isNew = disk.create(file, '');
    const torn = !isNew && disk.stamp(file) !== endStamps.get(name) && !endsWithNewline(file);
    endStamps.set(name, disk.append(file, `${torn ? '\n' : ''}${JSON.stringify(line)}\n`));
    await disk.sync(file);
    if (isNew) await disk.syncFolder(folder);
  }

  async function all(): ReturnType<Inbox['all']> {
    const { mail } = await take();
    const open = new Set(mail.map((entry) => entry.task));
    return inboxNames().flatMap((name) => {
      const read = fenced(`inbox/${name}`, () => disk.read(path.join(folder, name), MAX_INBOX_BYTES));
      if (read.kind !== 'file') return [];
      const lines = linesOf(read.bytes, name, cursorStore.load(name)?.origin ?? originOf(name));
      return [...lines].flatMap(({ mail: entry }) => (entry ? [{ ...entry, taken: !open.has(entry.task) }] : []));
    });
  }

  /** Whether the file changed since this process, or else any process, read it to its end. */
  function hasChanged(name: string): boolean {
    const stamp = fenced(name, () => disk.stamp(path.join(folder, name)));
    if (isUnreadable(stamp)) return true;
    const file = files.get(name);
    if (file !== undefined) return file.stamp !== stamp;
    if (!doneStamps.has(name)) doneStamps.set(name, cursorStore.load(name)?.stamp);
    return doneStamps.get(name) !== stamp;
  }

  /** Oldest first, judging by the names: `a.jsonl.2`, `a.jsonl.1`, `a.jsonl`. */
  function inboxNames(problems: Problem[] = []): string[] {
    const number = (name: string): number => Number(/\.(\d+)$/.exec(name)?.[1] ?? 0);
    const listed = fenced('inbox', () => disk.list(folder));
    if (isUnreadable(listed)) {
      report('.', listed.problem, problems);
      return [...files.keys()];
    }
    reported.delete('.');
    return listed
      .filter((name) => NAME.test(name) && !OUT.test(name))
      .sort((a, b) => (originOf(a) < originOf(b) ? -1 : originOf(a) > originOf(b) ? 1 : number(b) - number(a)));
  }

  function readFile(name: string, problems: Problem[]): { bytes: Buffer; stamp: string } | undefined {
    const read = fenced(`inbox/${name}`, () => disk.read(path.join(folder, name), MAX_INBOX_BYTES));
    if (read.kind === 'file') {
      reported.delete(name);
      return read;
    }
    if (read.kind === 'missing') return undefined;
    if (read.kind === 'unreadable') return report(name, read.problem, problems);
    const why =
      read.kind === 'not_a_file'
        ? `it is a ${read.what}`
        : `it has ${read.size} bytes; the limit is ${MAX_INBOX_BYTES}`;
    const finding = problem('bad_file', `this inbox file is not read: ${why}`, { where: { file: `inbox/${name}` } });
    return report(name, finding, problems);
  }

  /** Reported once, as long as the same problem lasts. */
  function report(name: string, finding: Problem, problems: Problem[]): undefined {
    if (reported.get(name) !== finding.message) problems.push(finding);
    reported.set(name, finding.message);
    return undefined;
  }

  /**
   * Continues where this process stopped reading. A replaced file is read from its cursor, or from
   * the start if that does not match either.
   */
  async function readOn(name: string, bytes: Buffer, stamp: string, problems: Problem[]): Promise<void> {
    let file = files.get(name);
    let hash = file && prefixHash(bytes, file.read);
    if (file === undefined || hash === undefined) {
      file = await startFile(name, bytes);
      hash = prefixHash(bytes, file.read)!;
      files.set(name, file);
    }
    const { entries, origin, counts } = file;
    const seen = cursorStore.seen(origin);
    const pending = new Map(entries.flatMap((entry) => (entry.mail ? [[entry.key, entry.digest] as const] : [])));
    let at = file.read;
    for (const line of inboxLines(bytes, at)) {
      hash.update(bytes.subarray(at.offset, line.end));
      at = { offset: line.end, line: line.line + 1, hash: hash.copy().digest('hex') };
      const entry = lineOf(line, name, origin, counts);
      if (entry.problem) problems.push(entry.problem);
      const before = seen.get(entry.key) ?? pending.get(entry.key);
      const isNew = entry.mail !== undefined && before === undefined;
      if (entry.mail && before !== undefined && before !== entry.digest) problems.push(duplicateId(entry.mail));
      if (isNew) pending.set(entry.key, entry.digest);
      entries.push(defined({ end: at, key: entry.key, digest: entry.digest, mail: isNew ? entry.mail! : undefined }));
    }
    file.read = at;
    file.stamp = stamp;
  }

  async function startFile(name: string, bytes: Buffer): Promise<InboxFile> {
    const own = cursorStore.load(name);
    let cursor: Cursor = { offset: 0, line: 1, hash: EMPTY, origin: own?.origin ?? originOf(name) };
    if (own !== undefined && prefixHash(bytes, own) !== undefined) cursor = own;
    else if (own === undefined) {
      const longest = cursorStore
        .all()
        .filter((other) => other.offset > 0 && prefixHash(bytes, other) !== undefined)
        .sort((a, b) => b.offset - a.offset)[0];
      if (longest !== undefined) {
        const { stamp: _, ...place } = longest;
        cursor = place;
        await cursorStore.save(name, cursor); // before the old name's cursor changes
      }
    }
    const counts = new Map<string, number>();
    for (const before of inboxLines(bytes.subarray(0, cursor.offset))) increment(counts, shortHash(before.bytes));
    const { origin, offset, line, hash } = cursor;
    const place = { offset, line, hash };
    return { stamp: '', origin, cursor: place, read: place, counts, entries: [] };
  }

  function endsWithNewline(file: string): boolean {
    const read = disk.read(file, MAX_INBOX_BYTES);
    return read.kind !== 'file' || read.bytes.length === 0 || read.bytes.at(-1) === 0x0a;
  }
}

interface InboxEntry {
  key: string;
  digest: string;
  mail?: Mail;
  problem?: Problem;
}

function lineOf(line: InboxLine, name: string, origin: string, counts: Map<string, number>): InboxEntry {
  const raw = shortHash(line.bytes);
  const n = increment(counts, raw);
  const file = `inbox/${name}`;
  const read = readInboxLine(line, file);
  if (!read.ok) return { key: raw, digest: raw, problem: read.problem };
  const { fields } = read;
  const key = fields.id === undefined ? `${raw}${n > 1 ? `-${n}` : ''}` : shortHash(`id\n${fields.id}`);
  const taskOf = (each: string): string => `inbox-${safePart(origin.replace(/\.jsonl$/, ''))}-${each}`;
  const task = taskOf(key);
  const follows = fields.inReplyTo === undefined ? {} : { follows: taskOf(shortHash(`id\n${fields.inReplyTo}`)) };
  return {
    key,
    digest: shortHash(fields.text),
    mail: { ...fields, ...follows, task, file, line: line.line, source: sourceOf(origin) },
  };
}

function* linesOf(bytes: Buffer, name: string, origin: string): Generator<InboxEntry> {
  const counts = new Map<string, number>();
  for (const line of inboxLines(bytes)) yield lineOf(line, name, origin, counts);
}

/** The running hash at this place; undefined if the bytes before it have changed. */
function prefixHash(bytes: Buffer, place: Place): Hash | undefined {
  if (bytes.length < place.offset) return undefined;
  const hash = createHash('sha256').update(bytes.subarray(0, place.offset));
  return hash.copy().digest('hex') === place.hash ? hash : undefined;
}

function duplicateId({ file, line, id }: Mail): Problem {
  return problem(
    'duplicate',
    `the id ${JSON.stringify(id)} already belongs to another message, so this line is ignored`,
    {
      where: { file, line, column: 1 },
      hint: 'give it a unique id, or remove the id',
    },
  );
}

function originOf(name: string): string {
  return name.replace(/\.\d+$/, '');
}

function increment(counts: Map<string, number>, key: string): number {
  const n = (counts.get(key) ?? 0) + 1;
  counts.set(key, n);
  return n;
}

function shortHash(content: Uint8Array | string): string {
  return createHash('sha256').update(content).digest('hex').slice(0, 20);
}
