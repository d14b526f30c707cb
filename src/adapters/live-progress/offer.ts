/**
 * Offers the running turns of this process on a socket that only its user can open. A reader gets
 * each turn as it is, then each change. Readers that are slow or talk back are cut off: work never
 * waits for a display.
 */
import type { Env } from '../../domain/config/env.js';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import type { Event } from '../../domain/event.js';
import { addCost, applyProgress, ENDS_TURN, freshTurn, type LiveTurn } from '../../domain/live-turn.js';
import type { Progress } from '../../domain/progress.js';
import { makeSocketFolder, SOCKET, UNFINISHED } from './place.js';
import { sweep } from './sweep.js';
import { lineOf, type WireLine } from './wire.js';

export interface Offer {
  progress(now: Progress): void;
  event(event: Event): void;
  /** Removes the socket. */
  close(): void;
}

const MAX_READERS = 32;
const MAX_UNREAD_BYTES = 4 * 1024 * 1024;

/** The socket is created at the first progress, because most commands never work on tasks. */
export function offerProgress({ root, env, peer }: { root: string; env: Env; peer: string }): Offer {
  const turns = new Map<string, LiveTurn>();
  const readers = new Set<net.Socket>();
  let server: net.Server | undefined;
  let file: string | undefined;
  let isStarted = false;

  return {
    progress(now) {
      if (!isStarted) start();
      let turn = turns.get(now.task);
      if (turn === undefined) turns.set(now.task, (turn = freshTurn(now, new Date().toISOString())));
      applyProgress(turn, now);
      send({ progress: now });
    },
    event(event) {
      const turn = event.task === undefined ? undefined : turns.get(event.task);
      if (turn === undefined) return;
      if (addCost(turn, event)) return send({ turn });
      if (!ENDS_TURN.has(event.name)) return;
      turns.delete(turn.task);
      send({ end: turn.task });
    },
    close() {
      isStarted = true;
      server?.close();
      for (const reader of readers) reader.destroy();
      if (file !== undefined) fs.rmSync(file, { force: true });
      file = undefined;
    },
  };

  function start(): void {
    isStarted = true;
    const name = `${peer}${SOCKET}`;
    const folder = makeSocketFolder(root, env, name);
    if (folder === undefined) return;
    sweep(folder);
    const early = path.join(folder, `${peer}${UNFINISHED}`);
    server = net.createServer(greet);
    // Without a socket only the display suffers.
    server.on('error', () => undefined);
    server.unref();
    server.listen({ path: early, exclusive: true }, () => {
      const wanted = path.join(folder, name);
      try {
        fs.chmodSync(early, 0o600);
        // A reader would sweep a socket on which nobody listens yet.
        fs.renameSync(early, wanted);
        file = wanted;
      } catch {
        server!.close();
      }
    });
  }

  function greet(reader: net.Socket): void {
    reader.unref();
    reader.on('error', () => undefined);
    reader.on('close', () => readers.delete(reader));
    reader.on('data', () => reader.destroy());
    if (readers.size >= MAX_READERS) return void reader.destroy();
    readers.add(reader);
    for (const turn of turns.values()) reader.write(lineOf({ turn }));
  }

  function send(line: WireLine): void {
    if (readers.size === 0) return;
    const text = lineOf(line);
    for (const reader of readers)
      if (reader.writableLength > MAX_UNREAD_BYTES) reader.destroy();
      else reader.write(text);
  }
}
