/**
 * Nested patterns that are cancelled at any moment: no task stays open, every record has its cost
 * with everything under it, and a retry reaches the same answer without repeating calls. `STEP=1`
 * tries every moment.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Model } from '../../../src/ports/model.js';
import { cluster, ROOT, untilQuiet, type Proc } from '../../kit/cluster.js';
import { outcome } from '../../kit/outcome.js';
import { sampleOf } from '../../kit/sample.js';
import { SEED } from '../../kit/seed.js';
import { simDisk } from '../../kit/sim-disk.js';
import { writeStory, type Story } from '../../kit/stories.js';

const agent = (front: string): string => `---\ndescription: x\n${front}\n---\nDo what you are asked.\n`;

/** A router to a team. One member delegates to an agent with advisors and a handoff; one routes. */
const NEST: Story = {
  name: 'a nest of patterns',
  agents: {
    front: agent('router: {destinations: [squad, misc]}\nhandoff: scribe'),
    misc: agent(''),
    squad: agent('team: {members: [ana, bob], maxRounds: 2}\nmetacognition: {temperature: 0}'),
    ana: agent('tools: [delegate_to_agent, create_task]\nagents: [expert, aide]'),
    aide: agent(''),
    expert: agent('advisors: [law, tax]\nhandoff: polish'),
    law: agent(''),
    tax: agent(''),
    polish: agent(''),
    bob: agent('router: {destinations: [bert]}'),
    bert: agent(''),
    scribe: agent(''),
  },
  tasks: { top: { description: 'What is the rate?', to: 'front' } },
  script: `
- {agent: front, call: [{route_to: {agent: squad, reason: big}}]}
- {agent: ana, task: "*-1", turn: 1, call: [{create_task: {to: aide, description: look}}, {delegate_to_agent: {agent: expert, task: rate?}}]}
- {agent: ana, task: "*-2", turn: 1, call: [{vote_conclude: {}}]}
- {agent: bob, call: [{route_to: {agent: bert, reason: b}}]}
- {agent: bert, task: "*-2*", turn: 1, call: [{vote_conclude: {}}]}
- {agent: squad, task: "*check-1", call: [{give_verdict: {advances: true, reason: fine}}]}
- {agent: "*", say: "Seven, says {{agent}}."}
`,
  results: { top: 'Seven, says scribe.' },
  calls: 0,
};

async function play(cancelAt: number): Promise<{ events: number; calls: number; cancelled: boolean; wrong: string[] }> {
  const disk = simDisk();
  writeStory(disk, NEST);
  const house = cluster(NEST.script);
  let events = 0;
  let sent: Promise<void> | undefined;
  const proc: Proc = house.start(disk, {
    watchers: {
      event() {
        if (++events === cancelAt) sent = submit(proc, 'cancel');
      },
    },
  });
  await untilQuiet(proc);
  await sent;
  await untilQuiet(proc);
  const open = (): string[] => ['pending', 'active', 'waiting'].flatMap((state) => disk.list(`${ROOT}/tasks/${state}`));
  const wrong = open().map((name) => `open: ${name}`);
  const cancelled = disk.list(`${ROOT}/tasks/failed`).includes('top.json');
  if (cancelled) {
    wrong.push(...outcome(disk, { ...NEST, results: {} }));
    await submit(proc, 'retry');
    await untilQuiet(proc);
  }
  wrong.push(...open().map((name) => `open after the retry: ${name}`), ...outcome(disk, NEST));
  return { events, calls: house.calls.length, cancelled, wrong };
}

function submit(proc: Proc, kind: 'cancel' | 'retry'): Promise<void> {
  return proc.ports.intents.submit({ id: kind, kind, task: 'top', by: 'human', at: '2026-01-01T00:00:00.000Z' });
}

test(`a tree cancelled at any moment has correct costs, and a retry repeats no call (SEED=${SEED})`, async () => {
  const full = await play(Infinity);
  assert.deepEqual(full.wrong, []);
  let cancelled = 0;
  const events = Array.from({ length: full.events }, (_, i) => i + 1);
  const tried = sampleOf('cancelled books', events, 8);
  for (const at of tried) {
    const run = await play(at);
    assert.deepEqual(run.wrong, [], `cancelled at event ${at}`);
    if (run.cancelled) cancelled++;
    assert.equal(run.calls, full.calls, `cancelled at event ${at}`);
  }
  assert.ok(cancelled > tried.length / 2, `${cancelled} of ${tried.length} came in time`);
});

test('a cancel during a model call deep in the tree ends the call, and all ancestors have its cost', async () => {
  const disk = simDisk();
  writeStory(disk, NEST);
  const house = cluster(NEST.script);
  const proc = house.start(disk);
  const { model } = proc.ports;
  const thinking = new Promise<void>((resolve) => (proc.ports.model = hanging(model, 'tax', resolve)));
  const working = untilQuiet(proc);
  await thinking;
  await submit(proc, 'cancel');
  await working;
  await untilQuiet(proc);
  assert.deepEqual(outcome(disk, { ...NEST, results: { top: /cancelled by human/ } }), []);
  proc.ports.model = model;
  await submit(proc, 'retry');
  await untilQuiet(proc);
  assert.deepEqual(outcome(disk, NEST), []);
});

/** Calls of this agent hang until they are aborted. */
function hanging(model: Model, agent: string, onCall: () => void): Model {
  return {
    call(request) {
      if (request.agent !== agent) return model.call(request);
      onCall();
      return new Promise((resolve) => {
        const aborted = { ok: false, failure: { class: 'aborted', message: 'aborted' } } as const;
        request.signal!.addEventListener('abort', () => resolve(aborted));
      });
    },
  };
}
