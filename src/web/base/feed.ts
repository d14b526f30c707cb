/**
 * One read of the folder for all windows. A change raises the version; each answer is computed once
 * per version and shared. Events are only hints: a page is up to date once it has read again.
 */
import { createHash, randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { attempt } from '../../domain/attempt.js';
import { readOwnRequests, type OwnRequests, openShown } from '../../app/approvals.js';
import { farPartsOf } from '../../app/readers/open-reader.js';
import { CONFIG_FILE } from '../../app/readers/read-config.js';
import { openStates, type Snapshot, type StatesView } from '../../app/readers/open-states.js';
import { INTERVALS } from '../../domain/intervals.js';

interface Answer {
  etag: string;
  body: string;
}

export interface Feed {
  readonly boot: string;
  readonly root: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly states: StatesView;
  /** The request in a task, if it may be drawn. */
  readonly own: OwnRequests;
  /** The version as pages see it: opaque, and different after each start of the server. */
  cursor(): string;
  /** The open tasks and agents as they are at this version. */
  snapshot(): Promise<Snapshot>;
  /** The answer under this key, computed once per version for all windows. */
  answer(key: string, load: () => Promise<unknown>): Promise<Answer>;
  followEnded(): EndedFollowed;
  /** A change that fired no file event: an intent of this server. */
  ring(): void;
  onChange(hear: () => void): () => void;
  close(): Promise<void>;
}

interface EndedFollowed {
  /**
   * The ended tasks whose files changed since the last call; undefined if that is not known, as at
   * the first call.
   */
  changed(): ReadonlySet<string> | undefined;
  stop(): void;
}

export async function openFeed(root: string, env: Record<string, string | undefined>): Promise<Feed> {
  const states = openStates(root, env, openShown(root, env));
  // With a shared store, the folders say nothing about the work.
  const isShared = farPartsOf(states.store) !== undefined;
  const hearers = new Set<() => void>();
  const boot = randomBytes(8).toString('hex');
  let version = 1;
  let timer: NodeJS.Timeout | undefined;
  let answers = new Map<string, Promise<Answer>>();
  let looked: Promise<Snapshot> | undefined;

  const ring = (): void => {
    timer ??= setTimeout(changed, INTERVALS.windowGatherMs);
  };
  const changed = (): void => {
    timer = undefined;
    version++;
    answers = new Map();
    looked = undefined;
    for (const hear of hearers) hear();
  };
  const offRing = await states.store.presence.onRing(ring);
  const offNotes = states.follow(ring);
  const endings = new Set<(file: string | null) => void>();
  const heardEnd = (file: string | null): void => {
    for (const hear of endings) hear(file);
    ring();
  };
  const ended = ENDED.flatMap((folder) => watch(path.join(root, folder), heardEnd));
  const settings = watch(root, (name) => name === CONFIG_FILE && ring());
  const watched = [...WATCHED.flatMap((folder) => watch(path.join(root, folder), ring)), ...ended, ...settings];

  return {
    boot,
    own: readOwnRequests(root, env, isShared),
    root,
    env,
    states,
    cursor: () => `${boot}.${version}`,
    snapshot: () => (looked ??= states.look()),
    answer(key, load) {
      const known = answers.get(key);
      if (known !== undefined) return known;
      const made = load().then(answerOf);
      answers.set(key, made);
      made.catch(() => answers.delete(key));
      return made;
    },
    followEnded() {
      if (ended.length < ENDED.length || isShared) return UNKNOWN;
      let changed: Set<string> | undefined;
      const hear = (file: string | null): void => {
        if (file === null) changed = undefined;
        else changed?.add(path.basename(file, '.json'));
      };
      endings.add(hear);
      return {
        changed() {
          const since = changed;
          changed = new Set();
          return since;
        },
        stop: () => void endings.delete(hear),
      };
    },
    ring,
    onChange(hear) {
      hearers.add(hear);
      return () => hearers.delete(hear);
    },
    async close() {
      clearTimeout(timer);
      offNotes();
      for (const watcher of watched) watcher.close();
      await offRing();
      await states.store.close();
    },
  };
}

const UNKNOWN: EndedFollowed = { changed: () => undefined, stop: () => undefined };

/** Files that people edit, and whose saves wake no process. */
const WATCHED = ['sessions', 'agents', 'tasks'];
const ENDED = ['tasks/completed', 'tasks/failed'];

/** Returns no watcher if the folder does not exist or cannot be watched. */
function watch(folder: string, ring: (name: string | null) => void): fs.FSWatcher[] {
  return attempt(
    () => [fs.watch(folder, { persistent: false }, (_, name) => ring(name)).on('error', () => undefined)],
    [],
  );
}

/** An answer and its version. */
export function answerOf(value: unknown): Answer {
  const body = JSON.stringify(value);
  return { body, etag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 27)}"` };
}
