/**
 * Reads the running turns of all other processes of a workspace. A process that dies or hangs up
 * ends its turns here; one that cannot be reached is tried again.
 */
import type { Env } from '../../domain/config/env.js';
import net from 'node:net';
import path from 'node:path';
import { INTERVALS } from '../../domain/intervals.js';
import { applyProgress, freshTurn, type LiveTurn } from '../../domain/live-turn.js';
import type { Progress } from '../../domain/progress.js';
import { isOwnSocket, isPrivateFolder, SOCKET, socketFolders } from './place.js';
import { listed, removeIfDead } from './sweep.js';
import { MAX_LINE_CHARS, readLine, type WireLine } from './wire.js';

interface FollowOptions {
  root: string;
  env: Env;
  /** The peer id of this process; its own turns are left out. */
  own?: (() => string) | undefined;
  /** `turn`: the turn as it is now, after this progress. */
  onProgress(progress: Progress, turn: LiveTurn): void;
  /** A turn was found, or its cost changed. */
  onTurn(turn: LiveTurn): void;
  /** The process no longer works on it, or is gone. */
  onEnd(turn: LiveTurn): void;
}

export interface Following {
  turns(): LiveTurn[];
  close(): void;
}

/** Further turns of the same process are not shown. */
const MAX_TURNS = 500;
const RETRY_MS = 2000;

interface Reader {
  socket: net.Socket;
  turns: Map<string, LiveTurn>;
}

export function followProgress(options: FollowOptions): Following {
  const readers = new Map<string, Reader>();
  /** Sockets that failed, and when they are tried again. */
  const failed = new Map<string, number>();
  const folders = socketFolders(options.root, options.env);
  const timer = setInterval(look, INTERVALS.folderCheckMs);
  timer.unref();
  look();
  return {
    turns: () => [...readers.values()].flatMap(({ turns }) => [...turns.values()]),
    close() {
      clearInterval(timer);
      for (const { socket } of readers.values()) socket.removeAllListeners('close').destroy();
      readers.clear();
    },
  };

  function look(): void {
    for (const folder of folders) {
      const names = listed(folder).filter((name) => name.endsWith(SOCKET));
      if (names.length === 0 || !isPrivateFolder(folder)) continue;
      for (const name of names) {
        const file = path.join(folder, name);
        if (name === `${options.own?.()}${SOCKET}` || readers.has(file)) continue;
        if ((failed.get(file) ?? 0) <= Date.now() && isOwnSocket(file)) connect(file);
      }
    }
  }

  function connect(file: string): void {
    const socket = net.connect(file);
    const reader: Reader = { socket, turns: new Map() };
    let rest = '';
    readers.set(file, reader);
    socket.unref();
    socket.setEncoding('utf8');
    socket.on('error', (error) => removeIfDead(file, error));
    socket.on('close', () => {
      readers.delete(file);
      failed.set(file, Date.now() + RETRY_MS);
      for (const turn of reader.turns.values()) options.onEnd(turn);
    });
    socket.on('data', (text: string) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop()!;
      for (const each of lines) {
        const line = each.length > MAX_LINE_CHARS ? undefined : readLine(each);
        if (line !== undefined) hear(reader.turns, line);
      }
      if (rest.length > MAX_LINE_CHARS) socket.destroy();
    });
  }

  function hear(turns: Map<string, LiveTurn>, line: WireLine): void {
    if ('end' in line) {
      const turn = turns.get(line.end);
      turns.delete(line.end);
      if (turn !== undefined) options.onEnd(turn);
      return;
    }
    const task = 'turn' in line ? line.turn.task : line.progress.task;
    if (!turns.has(task) && turns.size >= MAX_TURNS) return;
    if ('turn' in line) {
      turns.set(task, line.turn);
      options.onTurn(line.turn);
      return;
    }
    const turn = turns.get(task) ?? freshTurn(line.progress, new Date().toISOString());
    applyProgress(turn, line.progress);
    turns.set(task, turn);
    options.onProgress(line.progress, turn);
  }
}
