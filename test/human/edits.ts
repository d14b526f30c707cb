/**
 * A person edits a conversation while its agent works, on the real file system and from another
 * process. The last saved text is there at the end, removed text stays removed, and every noticed
 * edit is in the event log.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import type { test as nodeTest } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { openWorkspace, type Event, type Model } from '../../src/app/index.js';
import { SEED } from '../kit/seed.js';
import type { TakeSeat } from './seats.js';

const EDITS = 30;
const PERSON = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../../../test/human/person.mjs');

interface Left {
  standing: string[];
  removed: string[];
  ways: Record<'rename' | 'over' | 'append', number>;
}

const FILES = {
  'guild.yaml': 'model: scripted/m\nlimits: { turns: 100000 }\n',
  'agents/ana.md': '---\ndescription: Works\ntools: [read_file]\n---\nWork.\n',
  'memory/facts.md': 'A fact.\n',
};

export function edits(test: typeof nodeTest, take: TakeSeat, round: number): void {
  const seed = SEED + round;
  test(
    `nothing a person saves while the agent works is overwritten or lost (SEED=${seed})`,
    { timeout: 3_600_000 },
    async (t) => {
      const { desk, work, shows, leave } = await take(t, FILES);
      const { root } = desk;
      const file = path.join(root, 'sessions/ana-talk.session.yaml');

      let person: Promise<Left> | undefined;
      let isDone = false;
      const heard = new Set<string>();
      const model: Model = {
        async call({ turn, messages }) {
          for (const { content } of messages) for (const [mark] of content.matchAll(/person-\d+/g)) heard.add(mark);
          if (turn >= 2 && fs.existsSync(file)) person ??= edit(file, seed).finally(() => (isDone = true));
          await sleep(10);
          const toolCalls = isDone
            ? []
            : [{ id: 'c', name: 'read_file', arguments: { path: 'memory/facts.md', lines: turn } }];
          const cost = { inputTokens: 1, outputTokens: 1, cachedTokens: 0, microUsd: 0 };
          return {
            ok: true,
            answer: { text: `Step ${turn}`, toolCalls, finish: isDone ? 'stop' : 'tool_calls', ...cost },
          };
        },
      };
      const events: Event[] = [];
      const stop = new AbortController();
      t.after(() => stop.abort());
      const ended = new AbortController();
      const workspace = await openWorkspace(work.root, {
        model,
        watchers: {
          event(one) {
            events.push(one);
            if (one.name === 'task.completed' || one.name === 'task.failed') ended.abort();
          },
        },
      });
      await workspace.add({ id: 'talk', description: 'Work on and on', to: 'ana' });
      const watching = workspace.watch(stop.signal);
      await Promise.race([once(ended.signal, 'abort'), watching]);
      const placed = await workspace.task('talk');
      assert.equal(placed?.state, 'completed', `${JSON.stringify(placed?.task.error)}; see ${root}`);
      const { standing, removed, ways } = await person!;
      // A last message that was saved after the answer becomes a new task, so the agent goes on.
      await shows(() => /^status: completed *$/m.test(fs.readFileSync(file, 'utf8')));
      stop.abort();
      await watching;
      await workspace.close();
      await leave();
      const text = fs.readFileSync(file, 'utf8');
      assert.ok(Array.isArray((parse(text) as { messages: unknown }).messages), `see ${root}`);
      const times = (mark: string): number => text.split(mark).length - 1;
      assert.deepEqual(
        standing.filter((mark) => times(mark) !== 1),
        [],
        `saved by the person and not there once; see ${root}`,
      );
      assert.deepEqual(
        removed.filter((mark) => times(mark) !== 0),
        [],
        `removed by the person and there again; see ${root}`,
      );
      const edited = events.filter((one) => one.name === 'session.edited');
      assert.ok(edited.length >= 1, `${edited.length} edits were noticed`);
      assert.ok(edited.every((one) => typeof one['diff'] === 'string'));
      assert.ok(standing.every((mark) => heard.has(mark) || times(mark) === 1));
      assert.ok(heard.size > 0, 'the model never saw what the person wrote');
      t.diagnostic(
        `${JSON.stringify(ways)} saves, ${edited.length} edits noticed, ${standing.length} sentences left, ${heard.size} heard`,
      );
    },
  );
}

async function edit(file: string, seed: number): Promise<Left> {
  const child = spawn(process.execPath, [PERSON, file, String(EDITS), String(seed)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  child.stdout.on('data', (data) => (said += String(data)));
  await once(child, 'close');
  return JSON.parse(said) as Left;
}
