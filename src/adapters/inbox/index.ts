/**
 * The inbox as files. A line has a key: its `id` if it has one, else its own bytes and how many equal lines stand before it.
 * The key makes the id of its task, so whoever reads the line again, from whatever file and after whatever loss, wants the
 * same task. The order of writes is: the task, the key in the log, the cursor; a stop between any two repeats what is
 * harmless to repeat.
 */
import { createHash, type Hash } from 'node:crypto';
import path from 'node:path';
import { safePart } from '../../domain/task/id.js';
import { sourceOf, type Mail } from '../../domain/coordination/mail.js';
import { problem, ProblemError, type Problem } from '../../domain/problem.js';
import type { Disk } from '../../ports/disk.js';
import type { Inbox } from '../../ports/inbox.js';
import { inboxLines, readInboxLine, type InboxLine } from '../../text/records/inbox.js';
import { cursors, EMPTY, type Cursor, type Place } from './cursor.js';

/** One line behind the cursor's place. */
interface Entry {
  end: Place;
  key: string;
  digest: string;
  /** Absent: nothing is to be done for it. */
  mail?: Mail;
}

/** One file, as far as this process has read it. */
interface Known {
  stamp: string;
  origin: string;
  cursor: Place;
  read: Place;
  /** How often each line was met, by the hash of its bytes. */
  counts: Map<string, number>;
  entries: Entry[];
}

const MAX_INBOX_BYTES = 64 * 1024 * 1024;
/** Rotated files are read too, for what was added just before they were; what goes out is not. */
const NAME = /^[A-Za-z0-9][\w.-]*\.jsonl(?:\.\d+)?$/;
const OUT = /outbox\.jsonl(?:\.\d+)?$/;

export function inbox({ root, disk, peer }: { root: string; disk: Disk; peer?: string }): Inbox {
  const folder = path.join(root, 'inbox');
  const keep = cursors(disk, root, peer);
  const known = new Map<string, Known>();
  /** Problems told, by file, so that none is told twice for the same state of a file. */
  const told = new Map<string, string>();
  /** The stamp each file had when all of it was done, as its cursor tells. */
  const settled = new Map<string, string | undefined>();
  /** The stamp each file had after our last line. */
  const ends = new Map<string, string>();

  return { take, done, append, all };

  async function take(): ReturnType<Inbox['take']> {
    const problems: Problem[] = [];
    const names = namesIn();
    const there = new Set(names);
    for (const name of known.keys()) if (!there.has(name)) known.delete(name);
    const changed = names.filter(hasChanged);
    const files = changed.flatMap((name) => {
      const bytes = readFile(name, problems);
      return bytes === undefined ? [] : [{ name, ...bytes }];
    });
    // Names that are new come first: one may be a rotated file, known by a cursor that its old name is about to lose.
    files.sort((a, b) => Number(keep.load(a.name) !== undefined) - Number(keep.load(b.name) !== undefined));
    for (const { name, bytes, stamp } of files) await readOn(name, bytes, stamp, problems);
    const mail = names.flatMap((name) => known.get(name)?.entries.flatMap((entry) => entry.mail ?? []) ?? []);
    return { mail, problems };
  }

  async function done(mail: readonly Mail[]): Promise<void> {
    const ids = new Set(mail.map((one) => one.task));
    for (const [name, file] of known) {
      const taken = file.entries.filter((entry) => entry.mail !== undefined && ids.has(entry.mail.task));
      await keep.note(file.origin, taken);
      for (const entry of taken) delete entry.mail;
      const open = file.entries.findIndex((entry) => entry.mail !== undefined);
      const place = open < 0 ? file.read : open === 0 ? file.cursor : file.entries[open - 1]!.end;
      file.entries = open < 0 ? [] : file.entries.slice(open);
      if (place.offset === file.cursor.offset) continue;
      const stamp = open < 0 ? { stamp: file.stamp } : {};
      await keep.save(name, { ...place, origin: file.origin, ...stamp });
      file.cursor = place;
    }
  }

  async function append(name: string, line: Record<string, unknown>): Promise<void> {
    if (!NAME.test(name) || !name.endsWith('.jsonl')) {
      throw new ProblemError(
        problem('bad_name', `${JSON.stringify(name)} cannot be a file of the inbox`, {
          hint: 'use a name such as slack-messages.jsonl',
        }),
      );
    }
    const file = path.join(folder, name);
    disk.makeFolder(folder);
    const isNew = disk.create(file, '');
    const torn = !isNew && disk.stamp(file) !== ends.get(name) && !endsWhole(file);
    ends.set(name, disk.append(file, `${torn ? '\n' : ''}${JSON.stringify(line)}\n`));
    await disk.sync(file);
    if (isNew) await disk.syncFolder(folder);
  }

  async function all(): ReturnType<Inbox['all']> {
    const { mail } = await take();
    const open = new Set(mail.map((one) => one.task));
    return namesIn().flatMap((name) => {
      const read = disk.read(path.join(folder, name), MAX_INBOX_BYTES);
      if (read.kind !== 'file') return [];
      const lines = linesOf(read.bytes, name, keep.load(name)?.origin ?? originOf(name));
      return [...lines].flatMap(({ mail: one }) => (one ? [{ ...one, taken: !open.has(one.task) }] : []));
    });
  }

  /** Since this process read it; or, if it never did, since whoever read it to its end. */
  function hasChanged(name: string): boolean {
    const stamp = disk.stamp(path.join(folder, name));
    const file = known.get(name);
    if (file !== undefined) return file.stamp !== stamp;
    if (!settled.has(name)) settled.set(name, keep.load(name)?.stamp);
    return settled.get(name) !== stamp;
  }

  /** In order of age as far as names tell: `a.jsonl.2`, `a.jsonl.1`, `a.jsonl`. */
  function namesIn(): string[] {
    const number = (name: string): number => Number(/\.(\d+)$/.exec(name)?.[1] ?? 0);
    return disk
      .list(folder)
      .filter((name) => NAME.test(name) && !OUT.test(name))
      .sort((a, b) => (originOf(a) < originOf(b) ? -1 : originOf(a) > originOf(b) ? 1 : number(b) - number(a)));
  }

  function readFile(name: string, problems: Problem[]): { bytes: Buffer; stamp: string } | undefined {
    const read = disk.read(path.join(folder, name), MAX_INBOX_BYTES);
    if (read.kind === 'file') return read;
    if (read.kind === 'missing') return undefined;
    const why =
      read.kind === 'not_a_file'
        ? `it is a ${read.what}`
        : `it has ${read.size} bytes; the limit is ${MAX_INBOX_BYTES}`;
    tell(
      name,
      problem('bad_file', `this file of the inbox is not read: ${why}`, { where: { file: `inbox/${name}` } }),
      problems,
    );
    return undefined;
  }

  function tell(name: string, one: Problem, problems: Problem[]): void {
    if (told.get(name) === one.message) return;
    told.set(name, one.message);
    problems.push(one);
  }

  /** From where the file was read to; from its cursor if it is not the file it was; from its start if that does not fit either. */
  async function readOn(name: string, bytes: Buffer, stamp: string, problems: Problem[]): Promise<void> {
    let file = known.get(name);
    let hash = file && prefixHash(bytes, file.read);
    if (file === undefined || hash === undefined) {
      file = await begin(name, bytes);
      hash = prefixHash(bytes, file.read)!;
      known.set(name, file);
    }
    const { entries, origin, counts } = file;
    const seen = keep.seen(origin);
    const met = new Map(entries.flatMap((entry) => (entry.mail ? [[entry.key, entry.digest] as const] : [])));
    let at = file.read;
    for (const line of inboxLines(bytes, at)) {
      hash.update(bytes.subarray(at.offset, line.end));
      at = { offset: line.end, line: line.line + 1, hash: hash.copy().digest('hex') };
      const found = lineOf(line, name, origin, counts);
      if (found.problem) problems.push(found.problem);
      const before = seen.get(found.key) ?? met.get(found.key);
      const isNew = found.mail !== undefined && before === undefined;
      if (found.mail && before !== undefined && before !== found.digest) problems.push(twin(found.mail));
      if (isNew) met.set(found.key, found.digest);
      entries.push({ end: at, key: found.key, digest: found.digest, ...(isNew ? { mail: found.mail! } : {}) });
    }
    file.read = at;
    file.stamp = stamp;
  }

  async function begin(name: string, bytes: Buffer): Promise<Known> {
    const own = keep.load(name);
    let cursor: Cursor = { offset: 0, line: 1, hash: EMPTY, origin: own?.origin ?? originOf(name) };
    if (own !== undefined && prefixHash(bytes, own) !== undefined) cursor = own;
    else if (own === undefined) {
      const longest = keep
        .all()
        .filter((one) => one.offset > 0 && prefixHash(bytes, one) !== undefined)
        .sort((a, b) => b.offset - a.offset)[0];
      if (longest !== undefined) {
        const { stamp: _, ...place } = longest;
        cursor = place;
        await keep.save(name, cursor); // before the old name's cursor changes
      }
    }
    const counts = new Map<string, number>();
    for (const one of inboxLines(bytes.subarray(0, cursor.offset))) counted(counts, short(one.bytes));
    const { origin, offset, line, hash } = cursor;
    const place = { offset, line, hash };
    return { stamp: '', origin, cursor: place, read: place, counts, entries: [] };
  }

  function endsWhole(file: string): boolean {
    const read = disk.read(file, MAX_INBOX_BYTES);
    return read.kind !== 'file' || read.bytes.length === 0 || read.bytes.at(-1) === 0x0a;
  }
}

interface Found {
  key: string;
  digest: string;
  mail?: Mail;
  problem?: Problem;
}

function lineOf(line: InboxLine, name: string, origin: string, counts: Map<string, number>): Found {
  const raw = short(line.bytes);
  const n = counted(counts, raw);
  const file = `inbox/${name}`;
  const read = readInboxLine(line, file);
  if (!read.ok) return { key: raw, digest: raw, problem: read.problem };
  const { fields } = read;
  const key = fields.id === undefined ? `${raw}${n > 1 ? `-${n}` : ''}` : short(`id\n${fields.id}`);
  const task = `inbox-${safePart(origin.replace(/\.jsonl$/, ''))}-${key}`;
  return {
    key,
    digest: short(fields.text),
    mail: { ...fields, task, file, line: line.line, source: sourceOf(origin) },
  };
}

function* linesOf(bytes: Buffer, name: string, origin: string): Generator<Found> {
  const counts = new Map<string, number>();
  for (const line of inboxLines(bytes)) yield lineOf(line, name, origin, counts);
}

/** The running hash at this place, if the file still begins with the bytes that were before it. */
function prefixHash(bytes: Buffer, place: Place): Hash | undefined {
  if (bytes.length < place.offset) return undefined;
  const hash = createHash('sha256').update(bytes.subarray(0, place.offset));
  return hash.copy().digest('hex') === place.hash ? hash : undefined;
}

function twin({ file, line, id }: Mail): Problem {
  return problem(
    'duplicate',
    `the id ${JSON.stringify(id)} stands for another message already; this line is not taken`,
    {
      where: { file, line, column: 1 },
      hint: 'give it an id of its own, or none',
    },
  );
}

function originOf(name: string): string {
  return name.replace(/\.\d+$/, '');
}

function counted(counts: Map<string, number>, key: string): number {
  const n = (counts.get(key) ?? 0) + 1;
  counts.set(key, n);
  return n;
}

function short(content: Uint8Array | string): string {
  return createHash('sha256').update(content).digest('hex').slice(0, 20);
}
