/**
 * The workspace as an agent's file tools see it. Each access resolves the path (locate.ts), asks
 * the policy, then opens it without following links (open.ts) and checks that it opened what was
 * judged. If the place was swapped in between, all steps are repeated a few times, then refused.
 */
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import { asProblem } from '../../domain/problem.js';
import type { BoundBase } from '../../domain/task/approval.js';
import { mediaTypeOf, sizeText } from '../../domain/file-ref.js';
import type { Disk } from '../../ports/disk.js';
import type { History } from '../../ports/history.js';
import type { WorkspaceFiles, FolderReply, PathUse, PathVerdict, Search } from '../../ports/workspace-files.js';
import { locate, type PlaceKind } from './locate.js';
import { inFile, inFolder, makeFolders, readHead, walkRoot, type OpenFolder, type WalkRoot } from './open.js';
import { fingerprint, isStill } from './fingerprint.js';
import { isOwnSession, isSessionFile } from './session-owner.js';
import { asText, notText } from './text.js';
import { filesBelow } from './walk.js';

/** Judges paths; provided by the policy. */
interface PathRule {
  spelling(path: string): { verdict: 'ok' | 'ask' | 'refuse'; reason: string };
  path(question: { agent: string; use: PathUse; path: string; kind: PlaceKind; outside?: boolean }): {
    verdict: 'ok' | 'ask' | 'refuse';
    reason: string;
  };
}

interface WorkspaceFilesOptions {
  root: string;
  disk: Disk;
  judge: PathRule;
  search: Search;
  /** Receives the path of each file that is written: the disk sees only its descriptor. */
  writes?: Pick<History, 'changing' | 'changed'> | undefined;
  /** How folders are walked. Default: by descriptor if the system supports it. */
  walk?: 'descriptor' | 'path';
}

const MAX_WRITE_BYTES = 8 * 1024 * 1024;
const TRIES = 4;

/** `root` must exist. */
export function workspaceFiles(options: WorkspaceFilesOptions): WorkspaceFiles {
  const { root, disk, judge: rule, search, walk, writes } = options;
  const base = walkRoot(root, walk);
  const judge = (agent: string, use: PathUse, path: string): JudgedPlace => judgePlace(base, rule, agent, use, path);

  return {
    judge(agent, use, path) {
      const { parts, kind: _, ...verdict } = judge(agent, use, path);
      return parts === undefined ? verdict : { ...verdict, path: parts.join('/') };
    },

    read(agent, path, maxBytes, allowed = false) {
      return retryOnSwap(path, () => {
        const place = judge(agent, 'read', path);
        const refused = refusal(place, path, allowed);
        return refused ?? withBytes(base, place, path, maxBytes, textIn);
      });
    },

    readMedia(agent, path, maxBytes, allowed = false) {
      return retryOnSwap(path, () => {
        const place = judge(agent, 'read', path);
        const refused = refusal(place, path, allowed);
        return refused ?? withBytes(base, place, path, maxBytes, mediaIn);
      });
    },

    baseOf(path) {
      const place = locate(base.path, path);
      return place.at === 'inside' ? fingerprint(base, place.parts, place.kind) : undefined;
    },

    async write(agent, path, text, allowed = false, expected) {
      const bytes = Buffer.from(text);
      if (bytes.length > MAX_WRITE_BYTES) {
        return { ok: false, code: 'over_limit', reason: `${path}: a write is limited to ${MAX_WRITE_BYTES} bytes` };
      }
      return retryOnSwapAsync(path, async () => {
        const place = judge(agent, 'write', path);
        const refused = refusal(place, path, allowed);
        if (refused) return refused;
        const file = [root, ...place.parts!].join('/');
        writes?.changing(file);
        const written = await writeAt(base, disk, place, bytes, expected);
        if (written.ok) writes?.changed(file);
        return written;
      });
    },

    list(agent, path) {
      return retryOnSwap(path, () => {
        const place = judge(agent, 'list', path);
        const refused = refusal(place, path, false);
        if (refused) return refused;
        if (place.kind === 'missing') return missing(path);
        const isVisible = (name: string): boolean =>
          rule.path({ agent, use: 'list', path: [...place.parts!, name].join('/'), kind: 'missing' }).verdict !==
          'refuse';
        return { ok: true, value: listAt(base, place.parts!, isVisible) };
      });
    },

    async makeFolder(agent, path, allowed = false) {
      return retryOnSwapAsync(path, async () => {
        const place = judge(agent, 'make_folder', path);
        const refused = refusal(place, path, allowed);
        if (refused) return refused;
        const { folder: opened, created } = await makeFolders(base, place.parts!, createDurably(disk));
        opened.close();
        return { ok: true, value: { created: created > 0 } };
      });
    },

    async search(agent, query, { under = '.', limit }) {
      const place = judge(agent, 'list', under);
      const refused = refusal(place, under, false);
      if (refused) return refused;
      if (place.kind === 'missing') return missing(under);
      const mayRead = (path: string): boolean => rule.path({ agent, use: 'read', path, kind: 'file' }).verdict === 'ok';
      const { found, note } = await search(query, filesBelow(base, place.parts!, agent, mayRead), { limit });
      return { ok: true, value: found, note };
    },
  };
}

/** A verdict and the place it applies to. */
interface JudgedPlace extends PathVerdict {
  parts?: string[];
  kind?: PlaceKind;
}

function judgePlace(base: WalkRoot, rule: PathRule, agent: string, use: PathUse, path: string): JudgedPlace {
  const spelling = rule.spelling(path);
  if (spelling.verdict === 'refuse') return spelling;
  const place = locate(base.path, path);
  if (place.at === 'nowhere') return { verdict: 'refuse', reason: place.reason };
  if (place.at === 'outside') return rule.path({ agent, use, path: '', kind: 'missing', outside: true });
  const { parts, kind } = place;
  if (use === 'write' && path.endsWith('/')) return { verdict: 'refuse', reason: 'it names a folder, not a file' };
  const real = rule.path({ agent, use, path: parts.join('/'), kind });
  // A protected name stays protected even if it is a link, so every link on the way is judged too.
  const named = place.passed.map((passed) => rule.path({ agent, use, path: passed.join('/'), kind }));
  const strictest = named.reduce((a, b) => (STRICTNESS[b.verdict] > STRICTNESS[a.verdict] ? b : a), real);
  if (use === 'read' && strictest.verdict === 'ok' && isSessionFile(parts) && !isOwn(base, parts, agent))
    return { verdict: 'ask', reason: "it is another agent's conversation", parts, kind };
  return { ...strictest, parts, kind };
}

/** A file that cannot be read now is refused when it is opened. */
function isOwn(base: WalkRoot, parts: string[], agent: string): boolean {
  try {
    return inFile(base, parts, ({ fd, size }) =>
      isOwnSession(readHead(fd, size, SESSION_HEAD_BYTES).toString('utf8'), agent),
    );
  } catch {
    return true;
  }
}

const SESSION_HEAD_BYTES = 4096;
const STRICTNESS = { ok: 0, ask: 1, refuse: 2 };

function refusal(
  place: JudgedPlace,
  path: string,
  allowed: boolean,
): { ok: false; reason: string; code: 'not_allowed' | 'needs_human' } | undefined {
  if (place.verdict === 'ok' || (place.verdict === 'ask' && allowed)) return undefined;
  return {
    ok: false,
    reason: `${path}: ${place.reason}`,
    code: place.verdict === 'ask' ? 'needs_human' : 'not_allowed',
  };
}

function withBytes<Value>(
  base: WalkRoot,
  place: JudgedPlace,
  path: string,
  maxBytes: number,
  use: (head: Buffer, size: number, path: string) => FolderReply<Value>,
): FolderReply<Value> {
  if (place.kind === 'missing') return missing(path);
  return inFile(base, place.parts!, (file) => {
    if (file.kind !== place.kind) throw swapped();
    const head = readHead(file.fd, file.size, maxBytes);
    if (!file.isStill()) throw swapped();
    return use(head, file.size, path);
  });
}

function textIn(head: Buffer, size: number, path: string): FolderReply<{ text: string; bytes: number; cut: boolean }> {
  const cut = size > head.length;
  const text = asText(head, cut);
  if (text === undefined) return { ok: false, code: 'bad_file', reason: `${path}: ${notText(head)}` };
  return { ok: true, value: { text, bytes: size, cut } };
}

function mediaIn(
  head: Buffer,
  size: number,
  path: string,
): FolderReply<{ mediaType: string; data: Uint8Array } | undefined> {
  const mediaType = mediaTypeOf(head);
  if (mediaType === undefined) return { ok: true, value: undefined };
  if (size > head.length)
    return {
      ok: false,
      code: 'over_limit',
      reason: `${path} has ${sizeText(size)}; at most ${sizeText(head.length)} can be shown`,
    };
  return { ok: true, value: { mediaType, data: head } };
}

function ownTmp(base: WalkRoot, disk: Disk): string {
  const folder = `${base.path}/.guild/tmp`;
  disk.makeFolder(folder, 0o700);
  return folder;
}

/** Writes a temp file and renames it. The open folder keeps both names from being redirected. */
async function writeAt(
  base: WalkRoot,
  disk: Disk,
  place: JudgedPlace,
  bytes: Buffer,
  expected: BoundBase | undefined,
): Promise<FolderReply<{ bytes: number; created: boolean }>> {
  const { folder: parent } = await makeFolders(base, place.parts!.slice(0, -1), createDurably(disk));
  const name = `.guild-${randomBytes(9).toString('hex')}.tmp`;
  // When folders are walked by path, a folder that the agent can write may be swapped for a link;
  // the program's folders cannot.
  const tmp = base.byDescriptor ? parent.at(name) : `${ownTmp(base, disk)}/${name}`;
  const target = parent.at(place.parts!.at(-1));
  let pending = false;
  try {
    const mode = modeOf(parent, place);
    pending = disk.create(tmp, bytes);
    if (!pending) throw swapped();
    if (mode !== undefined) fs.chmodSync(tmp, mode);
    await disk.sync(tmp);
    if (!parent.isThere()) throw swapped();
    if (expected !== undefined && !isStill(base, place, expected))
      return {
        ok: false,
        code: 'not_allowed',
        reason: `${expected.path} changed after the approval; nothing was written`,
      };
    const written = base.byDescriptor ? undefined : fs.lstatSync(tmp);
    if (!disk.rename(tmp, target)) throw swapped();
    pending = false;
    if (written !== undefined && !parent.holds(place.parts!.at(-1)!, written)) throw swapped();
    await disk.syncFolder(parent.at());
    return { ok: true, value: { bytes: bytes.length, created: place.kind === 'missing' } };
  } finally {
    if (pending) removeQuietly(disk, tmp);
    parent.close();
  }
}

/** The old file's permissions, after checking that it is still the file that was judged. */
function modeOf(parent: OpenFolder, place: JudgedPlace): number | undefined {
  const stat = fs.lstatSync(parent.at(place.parts!.at(-1)), { throwIfNoEntry: false });
  if (stat === undefined) {
    if (place.kind === 'missing') return undefined;
    throw swapped();
  }
  if (!stat.isFile() || place.kind !== 'file' || stat.nlink > 1) throw swapped();
  return stat.mode & 0o777;
}

function listAt(
  base: WalkRoot,
  parts: string[],
  isVisible: (name: string) => boolean,
): { name: string; kind: 'file' | 'folder' | 'other'; bytes: number }[] {
  return inFolder(base, parts, (folder) =>
    fs
      .readdirSync(folder.at())
      .filter(isVisible)
      .sort()
      .map((name) => {
        const place = locate(base.path, [base.path, ...parts, name].join('/'));
        const kind = place.at !== 'inside' ? 'other' : place.kind === 'twin' ? 'file' : place.kind;
        const bytes = kind === 'file' ? fs.lstatSync(folder.at(name), { throwIfNoEntry: false })?.size : 0;
        return { name, kind: kind === 'missing' ? 'other' : kind, bytes: bytes ?? 0 };
      }),
  );
}

function createDurably(disk: Disk): (path: string, parent: string) => Promise<void> {
  return async (path, parent) => {
    disk.makeFolder(path);
    await disk.syncFolder(parent);
  };
}

/** The place changed between judging and opening it. */
function swapped(): Error {
  return Object.assign(new Error('it changed'), { code: 'ELOOP' });
}

/** Error codes of a place that is no longer what was judged: judge it again. */
const SWAPPED = new Set(['ELOOP', 'ENOTDIR', 'ENOENT', 'ENXIO', 'EISDIR']);

function retryOnSwap<T>(path: string, use: () => FolderReply<T>): FolderReply<T> {
  for (let tries = 1; ; tries++) {
    try {
      return use();
    } catch (error) {
      const reply = failed(path, error, tries);
      if (reply) return reply;
    }
  }
}

async function retryOnSwapAsync<T>(path: string, use: () => Promise<FolderReply<T>>): Promise<FolderReply<T>> {
  for (let tries = 1; ; tries++) {
    try {
      return await use();
    } catch (error) {
      const reply = failed(path, error, tries);
      if (reply) return reply;
    }
  }
}

/** Undefined if the access should be tried again. */
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
    ? { ok: false, code: 'not_found', reason: `${path}: it no longer exists` }
    : { ok: false, code: 'not_allowed', reason: `${path}: it is being replaced all the time` };
}

function missing(path: string): { ok: false; reason: string; code: 'not_found' } {
  return { ok: false, code: 'not_found', reason: `there is no ${path}` };
}

function removeQuietly(disk: Disk, path: string): void {
  try {
    disk.remove(path);
  } catch {
    // the failure that led here is reported instead
  }
}
