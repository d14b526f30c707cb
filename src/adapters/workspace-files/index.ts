/**
 * The workspace as an agent's file tools see it. Each use takes the same three steps: find out where the path really
 * leads (folder/locate), ask the rule, then open it without following anything (folder/open) and make sure that what was
 * opened is what was judged. If something was swapped in between, all three are done again; what keeps changing is refused.
 */
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import { asProblem } from '../../domain/problem.js';
import type { Disk } from '../../ports/disk.js';
import type { WorkspaceFiles, FolderReply, PathUse, PathVerdict, Search } from '../../ports/workspace-files.js';
import { locate, type PlaceKind } from './locate.js';
import { groundAt, makeFolders, openFile, openFolder, readHead, type Ground, type OpenFolder } from './open.js';
import { asText, notText } from './text.js';
import { filesBelow } from './walk.js';

/** What may be touched. The rule itself is given by the app. */
interface PathRule {
  spelling(path: string): { verdict: 'ok' | 'ask' | 'refuse'; reason: string };
  path(question: { agent: string; use: PathUse; path: string; kind: PlaceKind; outside?: boolean }): {
    verdict: 'ok' | 'ask' | 'refuse';
    reason: string;
  };
}

interface FolderOptions {
  root: string;
  disk: Disk;
  judge: PathRule;
  search: Search;
  /** How folders are walked; by descriptor where the system can. */
  walk?: 'descriptor' | 'path';
}

const MAX_WRITE_BYTES = 8 * 1024 * 1024;
const TRIES = 4;

/** `root` must exist. */
export function workspaceFiles({ root, disk, judge: rule, search, walk }: FolderOptions): WorkspaceFiles {
  const ground = groundAt(root, walk);
  const judge = (agent: string, use: PathUse, path: string): Spot => judged(ground, rule, agent, use, path);

  return {
    judge(agent, use, path) {
      const { parts, kind: _, ...verdict } = judge(agent, use, path);
      return parts === undefined ? verdict : { ...verdict, path: parts.join('/') };
    },

    read(agent, path, maxBytes, allowed = false) {
      return steady(path, () => {
        const spot = judge(agent, 'read', path);
        const no = refusal(spot, path, allowed);
        return no ?? readAt(ground, spot, path, maxBytes);
      });
    },

    async write(agent, path, text, allowed = false) {
      const bytes = Buffer.from(text);
      if (bytes.length > MAX_WRITE_BYTES) {
        return { ok: false, code: 'over_limit', reason: `${path}: more than ${MAX_WRITE_BYTES} bytes at once` };
      }
      return steadyAsync(path, async () => {
        const spot = judge(agent, 'write', path);
        return refusal(spot, path, allowed) ?? (await writeAt(ground, disk, spot, bytes));
      });
    },

    list(agent, path) {
      return steady(path, () => {
        const spot = judge(agent, 'list', path);
        const no = refusal(spot, path, false);
        if (no) return no;
        if (spot.kind === 'missing') return missing(path);
        const shown = (name: string): boolean =>
          rule.path({ agent, use: 'list', path: [...spot.parts!, name].join('/'), kind: 'missing' }).verdict !==
          'refuse';
        return { ok: true, value: listAt(ground, spot.parts!, shown) };
      });
    },

    async makeFolder(agent, path, allowed = false) {
      return steadyAsync(path, async () => {
        const spot = judge(agent, 'make_folder', path);
        const no = refusal(spot, path, allowed);
        if (no) return no;
        const { folder: opened, made } = await makeFolders(ground, spot.parts!, makeWith(disk));
        opened.close();
        return { ok: true, value: { created: made > 0 } };
      });
    },

    async search(agent, query, { under = '.', limit }) {
      const spot = judge(agent, 'list', under);
      const no = refusal(spot, under, false);
      if (no) return no;
      if (spot.kind === 'missing') return missing(under);
      const mayRead = (path: string): boolean => rule.path({ agent, use: 'read', path, kind: 'file' }).verdict === 'ok';
      const { found, note } = await search(query, filesBelow(ground, spot.parts!, agent, mayRead), { limit });
      return { ok: true, value: found, ...(note === undefined ? {} : { note }) };
    },
  };
}

/** A verdict with the place it was given for. */
interface Spot extends PathVerdict {
  parts?: string[];
  kind?: PlaceKind;
}

function judged(ground: Ground, rule: PathRule, agent: string, use: PathUse, path: string): Spot {
  const spelling = rule.spelling(path);
  if (spelling.verdict === 'refuse') return spelling;
  const place = locate(ground.root, path);
  if (place.at === 'nowhere') return { verdict: 'refuse', reason: place.reason };
  if (place.at === 'outside') return rule.path({ agent, use, path: '', kind: 'missing', outside: true });
  const { parts, kind } = place;
  if (use === 'write' && path.endsWith('/')) return { verdict: 'refuse', reason: 'it names a folder, not a file' };
  const real = rule.path({ agent, use, path: parts.join('/'), kind });
  // Names are protected even where a link lies in their place, so every link on the way counts, too.
  const named = place.passed.map((passed) => rule.path({ agent, use, path: passed.join('/'), kind }));
  const strictest = named.reduce((a, b) => (STRICTNESS[b.verdict] > STRICTNESS[a.verdict] ? b : a), real);
  return { ...strictest, parts, kind };
}

const STRICTNESS = { ok: 0, ask: 1, refuse: 2 };

function refusal(
  spot: Spot,
  path: string,
  allowed: boolean,
): { ok: false; reason: string; code: 'not_allowed' | 'needs_human' } | undefined {
  if (spot.verdict === 'ok' || (spot.verdict === 'ask' && allowed)) return undefined;
  return {
    ok: false,
    reason: `${path}: ${spot.reason}`,
    code: spot.verdict === 'ask' ? 'needs_human' : 'not_allowed',
  };
}

function readAt(
  ground: Ground,
  spot: Spot,
  path: string,
  maxBytes: number,
): FolderReply<{ text: string; bytes: number; cut: boolean }> {
  if (spot.kind === 'missing') return missing(path);
  return inFolder(openFolder(ground, spot.parts!.slice(0, -1)), (parent) => {
    const file = openFile(parent, spot.parts!.at(-1)!);
    try {
      if (file.kind !== spot.kind) throw swapped();
      const head = readHead(file.fd, file.size, maxBytes);
      if (!file.isStill()) throw swapped();
      const cut = file.size > head.length;
      const text = asText(head, cut);
      if (text === undefined) return { ok: false, code: 'bad_file', reason: `${path}: ${notText(head)}` };
      return { ok: true, value: { text, bytes: file.size, cut } };
    } finally {
      fs.closeSync(file.fd);
    }
  });
}

/** Beside its place first, then over it in one step; the folder is held open meanwhile, so neither name can be led astray. */
async function writeAt(
  ground: Ground,
  disk: Disk,
  spot: Spot,
  bytes: Buffer,
): Promise<FolderReply<{ bytes: number; created: boolean }>> {
  const { folder: parent } = await makeFolders(ground, spot.parts!.slice(0, -1), makeWith(disk));
  const beside = parent.at(`.guild-${randomBytes(9).toString('hex')}.tmp`);
  const target = parent.at(spot.parts!.at(-1));
  let pending = false;
  try {
    const mode = modeOf(parent, spot);
    pending = disk.create(beside, bytes);
    if (!pending) throw swapped();
    if (mode !== undefined) fs.chmodSync(beside, mode);
    await disk.sync(beside);
    if (!parent.isThere()) throw swapped();
    if (!disk.rename(beside, target)) throw swapped();
    pending = false;
    await disk.syncFolder(parent.at());
    return { ok: true, value: { bytes: bytes.length, created: spot.kind === 'missing' } };
  } finally {
    if (pending) removeQuietly(disk, beside);
    parent.close();
  }
}

/** The old file's permissions, after making sure that it still is what was judged. */
function modeOf(parent: OpenFolder, spot: Spot): number | undefined {
  const stat = fs.lstatSync(parent.at(spot.parts!.at(-1)), { throwIfNoEntry: false });
  if (stat === undefined) {
    if (spot.kind === 'missing') return undefined;
    throw swapped();
  }
  if (!stat.isFile() || spot.kind !== 'file' || stat.nlink > 1) throw swapped();
  return stat.mode & 0o777;
}

function listAt(
  ground: Ground,
  parts: string[],
  shown: (name: string) => boolean,
): { name: string; kind: 'file' | 'folder' | 'other'; bytes: number }[] {
  return inFolder(openFolder(ground, parts), (opened) =>
    fs
      .readdirSync(opened.at())
      .filter(shown)
      .sort()
      .map((name) => {
        const place = locate(ground.root, [ground.root, ...parts, name].join('/'));
        const kind = place.at !== 'inside' ? 'other' : place.kind === 'twin' ? 'file' : place.kind;
        const bytes = kind === 'file' ? fs.lstatSync(opened.at(name), { throwIfNoEntry: false })?.size : 0;
        return { name, kind: kind === 'missing' ? 'other' : kind, bytes: bytes ?? 0 };
      }),
  );
}

function inFolder<T>(opened: OpenFolder, use: (opened: OpenFolder) => T): T {
  try {
    return use(opened);
  } finally {
    opened.close();
  }
}

function makeWith(disk: Disk): (path: string, parent: string) => Promise<void> {
  return async (path, parent) => {
    disk.makeFolder(path);
    await disk.syncFolder(parent);
  };
}

/** Somebody changed the place between judging and opening it. */
function swapped(): Error {
  return Object.assign(new Error('it changed'), { code: 'ELOOP' });
}

/** Codes of a place that is no longer what was judged: worth judging again. */
const SWAPPED = new Set(['ELOOP', 'ENOTDIR', 'ENOENT', 'ENXIO', 'EISDIR']);

function steady<T>(path: string, use: () => FolderReply<T>): FolderReply<T> {
  for (let tries = 1; ; tries++) {
    try {
      return use();
    } catch (error) {
      const reply = failed(path, error, tries);
      if (reply) return reply;
    }
  }
}

async function steadyAsync<T>(path: string, use: () => Promise<FolderReply<T>>): Promise<FolderReply<T>> {
  for (let tries = 1; ; tries++) {
    try {
      return await use();
    } catch (error) {
      const reply = failed(path, error, tries);
      if (reply) return reply;
    }
  }
}

/** Undefined: try again. */
function failed(
  path: string,
  error: unknown,
  tries: number,
): { ok: false; reason: string; code: 'not_found' | 'not_allowed' | 'disk_failed' } | undefined {
  const code = (error as NodeJS.ErrnoException).code ?? '';
  if (code === '') throw error;
  if (!SWAPPED.has(code))
    return { ok: false, code: 'disk_failed', reason: `${path}: ${asProblem({ code, message: code }).message}` };
  if (tries < TRIES) return undefined;
  return code === 'ENOENT'
    ? { ok: false, code: 'not_found', reason: `${path}: it is gone` }
    : { ok: false, code: 'not_allowed', reason: `${path}: it keeps changing into something else` };
}

function missing(path: string): { ok: false; reason: string; code: 'not_found' } {
  return { ok: false, code: 'not_found', reason: `there is no ${path}` };
}

function removeQuietly(disk: Disk, path: string): void {
  try {
    disk.remove(path);
  } catch {
    // The failure that led here is the one to tell.
  }
}
