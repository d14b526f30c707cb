/**
 * Plays a story in the browser, slowly enough to watch. It starts when the window is opened. Models
 * answer slowly, each new scene stays for a while, and the window says what is happening. The
 * person answers by clicking; the story waits as long as it takes.
 */
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Watchers } from '../../../app/index.js';
import { packageFolder } from '../../../app/starter.js';
import { acceptTrust } from '../../../app/trust/trust.js';
import { INTERVALS } from '../../../domain/intervals.js';
import { problemError } from '../../../domain/problem.js';
import type { WindowServer } from '../../../web/server.js';
import { EXIT, type Call } from '../../args/command.js';
import { onInterrupt } from '../../process/interrupt.js';
import { narrator } from '../../render/narrator.js';
import { sceneOf, type NowPlaying, type Story } from './stories.js';

/** About how many seconds a model call and a new scene take, unless the person says otherwise. */
const PACE_S = 2.5;

export function paceOf(value: string | undefined): number {
  const seconds = value === undefined ? PACE_S : Number(value);
  if (Number.isFinite(seconds) && seconds >= 0 && seconds <= 60) return seconds * 1000;
  throw problemError('bad_usage', `--pace must be a number of seconds up to 60, not ${JSON.stringify(value)}`);
}

/** `begin` puts the first task or message into the folder. */
export async function playInWindow(
  call: Call,
  folder: string,
  { story, turnMs, begin }: { story: Story; turnMs: number; begin: (folder: string) => void },
): Promise<number> {
  const { terminal, io } = call;
  fs.cpSync(packageFolder('examples', story.example), folder, { recursive: true });
  // The folder is a copy of files that came with this program.
  acceptTrust(folder, io.env);
  const { startServer } = await import('../../../web/server.js');
  const scene = sceneOf(story);
  const stop = new AbortController();
  const off = onInterrupt(io, () => stop.abort());
  const opened = new AbortController();
  const server = await startServer({
    root: folder,
    env: io.env,
    port: 0,
    readOnly: false,
    worker: () => ({ pid: process.pid, later: [] }),
    story: scene.step,
    onOpen: () => opened.abort(),
  });
  terminal.say(`${terminal.bold(story.about)}\nThe workspace is ${folder}.`);
  terminal.say('Open this address in a browser within a minute. It works once, and the story starts then:');
  if (call.json) terminal.json({ url: server.link(), workspace: folder });
  else terminal.out(server.link());
  try {
    await aborted(AbortSignal.any([opened.signal, stop.signal]));
    if (!stop.signal.aborted) begin(folder);
    await play(call, folder, story, { scene, turnMs, server, signal: stop.signal });
    if (!stop.signal.aborted) {
      scene.end();
      server.ring();
      terminal.say('\nThe story has ended. Look around in the browser; Ctrl-C stops.');
      await aborted(stop.signal);
    }
    return EXIT.done;
  } finally {
    off();
    await server.close();
  }
}

interface Playing {
  scene: NowPlaying;
  turnMs: number;
  server: WindowServer;
  signal: AbortSignal;
}

async function play(call: Call, folder: string, story: Story, playing: Playing): Promise<void> {
  const { scene, turnMs, server, signal } = playing;
  const narration = narrator(call);
  const event: Watchers['event'] = (seen) => {
    narration.event(seen);
    if (scene.see(seen)) server.ring();
  };
  const workspace = await call.open(folder, { watchers: { ...narration, event }, turnMs });
  narration.know(workspace);
  const later = [...story.later];
  try {
    while (!signal.aborted) {
      const before = scene.step();
      const { moved } = await workspace.pump();
      if (moved) {
        // A new scene has text to read; the steps between two scenes are only watched.
        await rest(scene.step() === before ? turnMs / 5 : turnMs * scene.stays(), signal);
        continue;
      }
      const next = later.shift();
      if (next !== undefined) fs.writeFileSync(path.join(folder, next.file), JSON.stringify(next.task));
      else if ((await workspace.openTasks()).length === 0) return;
      await rest(INTERVALS.folderCheckMs, signal);
    }
  } finally {
    narration.close();
    await workspace.close();
  }
}

async function rest(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined);
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
