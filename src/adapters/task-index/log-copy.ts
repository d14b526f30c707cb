/**
 * A copy of a shared store's event log on this machine, so that a command reads from the database
 * only what was added. The copy can always be deleted. Several processes may extend it at once:
 * pages never change, and the list of pages is replaced as a whole, so each list is complete.
 */
import { attempt } from '../../domain/attempt.js';
import { createHash, randomUUID } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import type { Lines } from '../../ports/ledger.js';
import { removeQuietly } from './sections.js';

/** The lines of the log after a place, at most `first` of them. */
export type ReadLines = (after: number, first: number) => Promise<Lines>;

export interface LogCopy {
  /** The pages, as names of files in the folder, oldest first. */
  readonly pages: readonly string[];
  /** The lines that follow the pages, too few to fill another page. */
  readonly rest: readonly string[];
  /** The place after all of them. */
  readonly end: number;
}

interface Page {
  file: string;
  bytes: number;
  end: number;
  /** The place before the last line, and its digest: a log that has it is the same log. */
  beforeLast: number;
  last: string;
}

/** The lines of one answer, and of one page. */
const STEP_LINES = 500;
const PAGE_LINES = 10_000;
/** Fewer bytes are read again each time. */
const LEAST_BYTES = 64 * 1024;
const LIST = 'pages.json';
const ABANDONED_MS = 24 * 60 * 60 * 1000;

/** Brings the copy in `folder` up to date. Without permission to write, all lines are in `rest`. */
export async function updateLogCopy(folder: string, read: ReadLines): Promise<LogCopy> {
  const pages = await soundPages(folder, read);
  const known = pages.length;
  const rest: string[] = [];
  let end = pages.at(-1)?.end ?? 0;
  for (;;) {
    const lines = await nextLines(end, read);
    if (lines.texts.length === 0) break;
    const page = rest.length === 0 ? await writePage(folder, end, lines, read) : undefined;
    if (page === undefined) rest.push(...lines.texts);
    else pages.push(page);
    end = lines.end;
  }
  if (pages.length > known) writeList(folder, pages);
  return { pages: pages.map(({ file }) => file), rest, end };
}

interface NextLines extends Lines {
  /** The last answer: where it starts, and how many lines it has. */
  lastFrom: number;
  lastCount: number;
}

async function nextLines(from: number, read: ReadLines): Promise<NextLines> {
  const next = { texts: [] as string[], end: from, lastFrom: from, lastCount: 0 };
  while (next.texts.length < PAGE_LINES) {
    const { texts, end } = await read(next.end, STEP_LINES);
    if (texts.length === 0) break;
    next.texts.push(...texts);
    [next.lastFrom, next.lastCount, next.end] = [next.end, texts.length, end];
    if (texts.length < STEP_LINES) break;
  }
  return next;
}

/**
 * The pages that are complete and still part of the log. A store that was made again, restored, or
 * taken over by a standby that was behind has other lines at these places.
 */
async function soundPages(folder: string, read: ReadLines): Promise<Page[]> {
  const pages = readList(folder);
  const broken = pages.findIndex(({ file, bytes }) => sizeOf(path.join(folder, file)) !== bytes);
  const whole = broken === -1 ? pages : pages.slice(0, broken);
  while (whole.length > 0) {
    const { beforeLast, last } = whole.at(-1)!;
    const { texts } = await read(beforeLast, 1);
    if (texts[0] !== undefined && digest(texts[0]) === last) break;
    whole.pop();
  }
  return whole;
}

/** Undefined: they are too few, or cannot be written. */
async function writePage(folder: string, from: number, lines: NextLines, read: ReadLines): Promise<Page | undefined> {
  const bytes = Buffer.from(lines.texts.map((line) => `${line}\n`).join(''));
  if (bytes.length < LEAST_BYTES) return undefined;
  const file = `${String(from).padStart(15, '0')}-${randomUUID().slice(0, 8)}.jsonl`;
  try {
    fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
    fs.writeFileSync(path.join(folder, file), bytes, { flag: 'wx', mode: 0o600 });
  } catch {
    removeQuietly(path.join(folder, file));
    return undefined;
  }
  const { lastFrom, lastCount, texts, end } = lines;
  const beforeLast = lastCount === 1 ? lastFrom : (await read(lastFrom, lastCount - 1)).end;
  return { file, bytes: bytes.length, end, beforeLast, last: digest(texts.at(-1)!) };
}

function readList(folder: string): Page[] {
  const pages: unknown = attempt(() => JSON.parse(fs.readFileSync(path.join(folder, LIST), 'utf8')));
  return Array.isArray(pages) && pages.every(isPage) ? pages : [];
}

function isPage(value: unknown): value is Page {
  const page = value as Partial<Page> | null;
  return (
    typeof page?.file === 'string' &&
    /^\d{15}-[0-9a-f]{8}\.jsonl$/.test(page.file) &&
    [page.bytes, page.end, page.beforeLast].every(Number.isSafeInteger) &&
    typeof page.last === 'string'
  );
}

function writeList(folder: string, pages: readonly Page[]): void {
  const temporary = path.join(folder, `.${randomUUID()}`);
  try {
    fs.writeFileSync(temporary, JSON.stringify(pages), { flag: 'wx', mode: 0o600 });
    fs.renameSync(temporary, path.join(folder, LIST));
  } catch {
    removeQuietly(temporary);
  }
  removeOthers(folder, new Set([LIST, ...pages.map(({ file }) => file)]));
}

/** Pages of processes that died or were slower. Those of a process at work are younger. */
function removeOthers(folder: string, kept: ReadonlySet<string>): void {
  for (const name of fs.readdirSync(folder)) {
    const file = path.join(folder, name);
    const writtenMs = kept.has(name) ? undefined : fs.lstatSync(file, { throwIfNoEntry: false })?.mtimeMs;
    if (writtenMs !== undefined && Date.now() - writtenMs > ABANDONED_MS) removeQuietly(file);
  }
}

function sizeOf(file: string): number | undefined {
  return fs.lstatSync(file, { throwIfNoEntry: false })?.size;
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}
