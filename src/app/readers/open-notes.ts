/** The channels of a workspace, for somebody who reads along or says something: no engine, no models. */
import path from 'node:path';
import { bus } from '../../adapters/bus/index.js';
import { clock, ids } from '../../adapters/clock/index.js';
import { disk } from '../../adapters/disk/index.js';
import type { Config } from '../../domain/config/config.js';
import { nearestHint } from '../../domain/nearest.js';
import { OWN_CHANNELS, type Note, type NotePriority } from '../../domain/coordination/note.js';
import { problem, ProblemError, type Problem } from '../../domain/problem.js';
import { HUMAN } from '../../domain/task/task.js';
import { watchers } from '../../engine/core/context.js';
import { publishNote } from '../../engine/core/notes.js';
import { openReader } from './open-reader.js';
import { readConfig } from './read-config.js';
import { roster } from '../../adapters/roster/index.js';

export interface NotesView {
  /** Every channel there is: the program's own, those of guild.yaml, and those that something was told on. */
  channels(): ChannelShown[];
  /** Throws if there is no such channel. */
  read(channel: string, last?: number): Note[];
  /** In the name of the human. What is wrong, if it was not told. */
  tell(channel: string, text: string, priority?: NotePriority): Promise<Problem | undefined>;
  /** Called for each note told from now on. Returns how to stop. */
  follow(channel: string, hear: (note: Note) => void): () => void;
  /** Lines that could not be read. */
  problems(): Problem[];
  close(): Promise<void>;
}

interface ChannelShown {
  channel: string;
  notes: number;
  /** When the newest was told. */
  at?: string;
  writers: string;
  readers: string[];
}

export function openNotes(folder: string, env: Record<string, string | undefined> = process.env): NotesView {
  const root = path.resolve(folder);
  const store = openReader(root);
  const on = disk();
  const { config } = readConfig(on, root, env);
  const notes = bus({ root, disk: on, clock: clock(), peer: store.presence.peer.id });
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
      const agents = roster(on, root);
      const tellers = { ...store, bus: notes, config, clock: clock(), ids: ids(), agents, watchers: watchers() };
      agents.refresh();
      const body = { type: 'said', text } as const;
      return publishNote(tellers, { channel, from: HUMAN, body, ...(priority ? { priority } : {}) }, { durable: true });
    },
    follow(channel, hear) {
      const off = notes.subscribe(known(channel), hear);
      const stop = notes.follow();
      return () => {
        off();
        stop();
      };
    },
    problems: () => notes.refresh(),
    close: () => store.close(),
  };
}

function shown(channel: string, told: readonly Note[], { channels }: Config): ChannelShown {
  const rules = Object.hasOwn(channels, channel) ? channels[channel] : undefined;
  const own = rules === undefined;
  const at = told.at(-1)?.at;
  return {
    channel,
    notes: told.length,
    ...(at === undefined ? {} : { at }),
    writers: own ? (channel.startsWith('team/') ? 'its team' : 'the program') : (rules.writers?.join(', ') ?? 'all'),
    readers: rules?.readers ?? [],
  };
}

function unknown(channel: string, names: readonly string[]): Problem {
  const hint = [nearestHint(channel, names, undefined), `channels: ${names.join(', ')}`].filter(Boolean).join(' ');
  return problem('not_found', `there is no channel ${JSON.stringify(channel)}`, { hint });
}
