/**
 * Which files of a workspace are in its history, and where in the tree of a commit. Ended work goes
 * into folders by time there, so that a commit rewrites only small trees.
 */
import { FOREIGN_AGENT_FOLDERS } from '../../../domain/agent/places.js';
import { isSecretPath } from '../../../rules/policy/names/secret-names.js';
import { EXTRA } from './stamps.js';

/** Folders of the workspace that history covers, apart from those by time. */
export const OPEN_PLACES: readonly string[] = [
  'guild.yaml',
  'guild.yml',
  'agents',
  'templates',
  ...FOREIGN_AGENT_FOLDERS,
  'plugins',
  'storage',
  'tasks',
  'memory',
  'context',
  'inbox',
  'quarantine',
];

/** Folders of ended work and of conversations: flat, and possibly very large. */
export const TIMED_PLACES: readonly string[] = [
  'tasks/completed',
  'tasks/failed',
  'results',
  'sessions',
  'storage/blobs',
];

const COVERED = new Set([...OPEN_PLACES, ...TIMED_PLACES].map((place) => place.split('/')[0]!));

/** Whether people's changes to this file are part of history. */
export function isCovered(path: string): boolean {
  return isInPlace(path) && !isKeptOut(path);
}

/** Like `isCovered`, for a path that is known not to be excluded. */
export function isInPlace(path: string): boolean {
  const top = path.slice(0, (path.indexOf('/') + 1 || path.length + 1) - 1);
  if (!COVERED.has(top)) return false;
  if (top === 'templates') return /^templates\/[^/]+\.agent\.ya?ml$/.test(path);
  if (top.startsWith('.')) return FOREIGN_AGENT_FOLDERS.some((folder) => path.startsWith(`${folder}/`));
  return true;
}

/** Private files, views, folders with their own history, unfinished writes and secrets. */
export function isKeptOut(path: string): boolean {
  if (PRIVATE.test(path) || UNFINISHED.test(path)) return true;
  return isSecretPath(path);
}

const PRIVATE =
  /^(?:\.guild|events|bus|agents\/live|scratch|\.doctor-[^/]*)(?:\/|$)|^agents\/registry\.json$|(?:^|\/)(?:\.git|node_modules)(?:\/|$)/;
const UNFINISHED = /(?:^|\/)(?:\.guild-[0-9a-f]+\.tmp|\.#[^/]*|[^/]+\.leaving|[^/]*(?:~|\.sw[a-z]))$/;

/**
 * Paths that an undo leaves alone. Messages and recorded events happened regardless of the undo,
 * blobs are addressed by hash, and an agent's folder has its own repository.
 */
export function staysAfterUndo(path: string): boolean {
  return isKeptOut(path) || /^(?:inbox|quarantine|storage\/blobs|workspaces)\//.test(path);
}

/** Files that normally only the program writes. */
export function isProgramsOwn(path: string): boolean {
  return /^(?:tasks\/(?:pending|active|waiting|completed|failed|bids)|sessions|results|storage\/blobs)\//.test(path);
}

const TIMED = /^(tasks\/(?:completed|failed)|results|sessions|storage\/blobs)\/([^/]+)$/;
const IN_HISTORY =
  /^(tasks\/(?:completed|failed)|results|sessions|storage\/blobs)\/\d{4}-\d\d\/\d\d\/\d\d\/\d\d\/([^/]+)$/;

export function isTimed(path: string): boolean {
  return TIMED.test(path);
}

/**
 * `results/a.md` of minute 29 million is `results/2026-11/17/09/05/a.md`. A file that is not kept
 * by time has an invalid minute and stays where it is.
 */
export function pathInHistory(path: string, minute: number): string {
  const [, place, name] = TIMED.exec(path) ?? [];
  if (place === undefined || minute <= EXTRA) return path;
  const at = new Date(minute * 60_000).toISOString();
  return `${place}/${at.slice(0, 7)}/${at.slice(8, 10)}/${at.slice(11, 13)}/${at.slice(14, 16)}/${name}`;
}

export function pathInWorkspace(path: string): string {
  const [, place, name] = IN_HISTORY.exec(path) ?? [];
  return place === undefined ? path : `${place}/${name}`;
}

/** The minute of a path by time; undefined for any other path. */
export function minuteOf(path: string): number | undefined {
  if (!IN_HISTORY.test(path)) return undefined;
  const [month, day, hour, minute] = path.split('/').slice(-5) as [string, string, string, string];
  return Date.parse(`${month}-${day}T${hour}:${minute}:00Z`) / 60_000;
}
