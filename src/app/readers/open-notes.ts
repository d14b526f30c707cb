/** The channels of a workspace, for reading and publishing without an engine or models. */
import path from 'node:path';
import { bus } from '../../adapters/bus/index.js';
import { ledgerBus } from '../../adapters/bus/ledger.js';
import { clock, ids } from '../../adapters/clock/index.js';
import { disk as realDisk } from '../../adapters/disk/index.js';
import type { Config } from '../../domain/config/config.js';
import type { Env } from '../../domain/config/env.js';
import { defined } from '../../domain/defined.js';
import { nearestHint } from '../../domain/nearest.js';
import { OWN_CHANNELS, type Note, type NotePriority } from '../../domain/coordination/note.js';
import { problem, ProblemError, type Problem } from '../../domain/problem.js';
import { HUMAN } from '../../domain/task/task.js';
import { watchers } from '../../engine/core/context.js';
import { publishNote } from '../../engine/core/notes.js';
import type { Bus } from '../../ports/bus.js';
import { farPartsOf, openReader } from './open-reader.js';
import { readConfig } from './read-config.js';
import { roster } from '../../adapters/roster/index.js';

export interface NotesView {
  /** All channels: the program's own, those of guild.yaml, and those that have notes. */
  channels(): ChannelShown[];
  /** Throws if there is no such channel. */
  read(channel: string, last?: number): Note[];
  /** Publishes as the human. Resolves with a problem if that failed. */
  tell(channel: string, text: string, priority?: NotePriority): Promise<Problem | undefined>;
  /** Calls `hear` for each new note. Returns a function that stops it. */
  follow(channel: string, hear: (note: Note) => void): () => void;
  /** Lines that could not be read. */
  problems(): Promise<Problem[]>;
  close(): Promise<void>;
}

interface ChannelShown {
  channel: string;
  notes: number;
  /** The time of the newest note. */
  at?: string;
  writers: string;
  readers: string[];
}

export async function openNotes(folder: string, env: Env = process.env): Promise<NotesView> {
  const root = path.resolve(folder);
  const store = openReader(root);
  const disk = realDisk();
  const { config } = readConfig(disk, root, env);
  const parts = farPartsOf(store);
  const notes: Bus = parts
    ? ledgerBus({ ...parts, clock: clock() })
    : bus({ root, disk, clock: clock(), peer: store.presence.peer.id });
  const problems = await notes.refresh();
  const names = (): string[] =>
    [...new Set([...OWN_CHANNELS, ...Object.keys(config.channels), ...notes.channels()])].sort();
  const known = (channel: string): string => {
    if (names().includes(channel)) return channel;
    throw new ProblemError(unknown(channel, names()));
  };

  return {
    channels: () => names().map((channel) => shown(channel, notes.read(channel), config)),
    read: (channel, last) => notes.read(known(channel), last),
    tell(channel, text, priority) {
      const agents = roster(disk, root);
      const tellers = { ...store, bus: notes, config, clock: clock(), ids: ids(), agents, watchers: watchers() };
      agents.refresh();
      const body = { type: 'said', text } as const;
      return publishNote(tellers, defined({ channel, from: HUMAN, body, priority }), { durable: true });
    },
    follow(channel, hear) {
      const off = notes.subscribe(known(channel), hear);
      const stop = notes.follow();
      return () => {
        off();
        stop();
      };
    },
    problems: async () => [...problems.splice(0), ...(await notes.refresh())],
    close: () => store.close(),
  };
}

function shown(channel: string, notes: readonly Note[], { channels }: Config): ChannelShown {
  const rules = Object.hasOwn(channels, channel) ? channels[channel] : undefined;
  const own = rules === undefined;
  const at = notes.at(-1)?.at;
  return defined({
    channel,
    notes: notes.length,
    at,
    writers: own ? (channel.startsWith('team/') ? 'its team' : 'the program') : (rules.writers?.join(', ') ?? 'all'),
    readers: rules?.readers ?? [],
  });
}

function unknown(channel: string, names: readonly string[]): Problem {
  const hint = [nearestHint(channel, names, undefined), `channels: ${names.join(', ')}`].filter(Boolean).join(' ');
  return problem('not_found', `there is no channel ${JSON.stringify(channel)}`, { hint });
}
