/**
 * A story in the browser, slowly enough to watch: one pass, then a moment of rest. The person
 * answers by clicking; the story waits as long as it takes.
 */
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { packageFolder } from '../../../app/starter.js';
import { acceptTrust } from '../../../app/trust/trust.js';
import { INTERVALS } from '../../../domain/intervals.js';
import { problem, ProblemError } from '../../../domain/problem.js';
import { EXIT, text, type Call } from '../../args/command.js';
import { onInterrupt } from '../../process/interrupt.js';
import { narrator } from '../../render/narrator.js';

interface Story {
  example: string;
  about: string;
  /** Tasks that arrive from outside when everything else is at rest, in this order. */
  later: { file: string; task: object }[];
}

export const STORIES: Record<string, Story> = {
  office: {
    example: 'office',
    about: 'Sarah asks on Slack whether Redis is running. You decide twice, in the Inbox.',
    later: [],
  },
  swarm: {
    example: 'swarm',
    about: 'Agents bid for a task and break it down. Then a task needs an agent that does not exist, and one is made.',
    later: [
      {
        file: 'tasks/pending/diagram.json',
        task: { description: 'Draw the data model of the API', requirements: ['diagram_drawing'] },
      },
    ],
  },
  deadlock: {
    example: 'deadlock',
    about: 'Three agents wait for each other in a cycle. Watch the Wait graph: the cycle is found and broken.',
    later: [],
  },
};

export function storyOf(name: string): Story {
  const story = STORIES[name];
  if (story !== undefined) return story;
  throw new ProblemError(
    problem('bad_usage', `there is no story ${JSON.stringify(name)}`, {
      hint: `these exist: ${Object.keys(STORIES).join(', ')}`,
    }),
  );
}

/** Seconds between two passes, unless the person says otherwise. */
const PACE_S = 2.5;

function paceOf(value: string | undefined): number {
  const seconds = value === undefined ? PACE_S : Number(value);
  if (Number.isFinite(seconds) && seconds >= 0 && seconds <= 60) return seconds * 1000;
  throw new ProblemError(problem('bad_usage', `--pace is a number of seconds up to 60, not ${JSON.stringify(value)}`));
}

/** `begin` puts the first task or message into the folder. */
export async function playInWindow(
  call: Call,
  folder: string,
  story: Story,
  begin: (folder: string) => void,
): Promise<number> {
  const { terminal, io } = call;
  const restMs = paceOf(text(call.values, 'pace'));
  fs.cpSync(packageFolder('examples', story.example), folder, { recursive: true });
  // The folder is a copy of files that came with this program.
  acceptTrust(folder, io.env);
  const { startServer } = await import('../../../web/server.js');
  const worker = (): { pid: number } => ({ pid: process.pid });
  const server = await startServer({ root: folder, env: io.env, port: 0, readOnly: false, worker });
  terminal.say(`${terminal.bold(story.about)}\nThe workspace is ${folder}. Open this address; it works once:`);
  if (call.json) terminal.json({ url: server.link(), workspace: folder });
  else terminal.out(server.link());
  begin(folder);
  const stop = new AbortController();
  const off = onInterrupt(io, () => stop.abort());
  try {
    await play(call, folder, story, { restMs, signal: stop.signal });
    if (!stop.signal.aborted) {
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
  restMs: number;
  signal: AbortSignal;
}

async function play(call: Call, folder: string, story: Story, { restMs, signal }: Playing): Promise<void> {
  const narration = narrator(call);
  const workspace = await call.open(folder, { watchers: narration });
  narration.know(workspace);
  const later = [...story.later];
  try {
    while (!signal.aborted) {
      const { moved } = await workspace.pump();
      if (moved) {
        await rest(restMs, signal);
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
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
