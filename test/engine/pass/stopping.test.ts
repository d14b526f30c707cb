/** Cancel, stop and retry, by intent and by moving files: they reach the whole tree of a task. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import type { Model } from '../../../src/ports/model.js';
import { crashDisk } from '../../kit/crash-disk.js';
import { cluster, play, ROOT, untilQuiet, type Proc } from '../../kit/cluster.js';
import { outcome } from '../../kit/outcome.js';
import { sampleNumbers } from '../../kit/sample.js';
import { simDisk, type SimDisk } from '../../kit/sim-disk.js';
import { writeStory, type Story } from '../../kit/stories.js';

const agent = (front: string): string => `---\n${front}\n---\nDo what you are asked.\n`;
const at = (file: string): string => path.join(ROOT, file);
const names = (disk: SimDisk, state: string): string[] => disk.list(at(`tasks/${state}`)).sort();
const open = (disk: SimDisk): string[] => ['pending', 'active', 'waiting'].flatMap((state) => names(disk, state));

function task(
  disk: SimDisk,
  state: string,
  id: string,
): { result?: string; retries?: number; error?: { code: string; message: string } } {
  const read = disk.read(at(`tasks/${state}/${id}.json`));
  assert.equal(
    read.kind,
    'file',
    `${state}/${id}: ${JSON.stringify([...disk.tree().keys()].filter((f) => f.includes('/tasks/')))}`,
  );
  return JSON.parse((read as { bytes: Buffer }).bytes.toString('utf8')) as never;
}

/** Two delegates, one of them waiting for a human: a tree of four open tasks. */
const TREE: Story = {
  name: 'a tree that waits',
  agents: {
    lead: agent('description: Leads\ntools: [delegate_to_agent]\nagents: [quick, asks]'),
    quick: agent('description: Quick'),
    asks: agent('description: Asks\ntools: [write_file]'),
  },
  tasks: { top: { description: 'Do both', to: 'lead' } },
  asks: ['write_file'],
  script: `
- {agent: lead, when: /not allowed|cancelled|I could not/, say: Only half of it.}
- {agent: lead, when: /You were asked to stop/, say: Stopped with half of it.}
- {agent: lead, turn: 1, call: [{delegate_to_agent: {agent: quick, task: q}}, {delegate_to_agent: {agent: asks, task: a}}]}
- {agent: lead, say: Both are done.}
- {agent: quick, say: Q}
- {agent: asks, when: /You were asked to stop/, say: I could not write it.}
- {agent: asks, when: /not_allowed/, say: I could not write it.}
- {agent: asks, turn: 1, call: [{write_file: {path: out.txt, content: x}}]}
- {agent: asks, say: A}
`,
  results: {},
  calls: 0,
};

async function waiting(): Promise<{ disk: SimDisk; proc: Proc; house: ReturnType<typeof cluster> }> {
  const disk = simDisk();
  writeStory(disk, TREE);
  const house = cluster(TREE.script, TREE.asks);
  const proc = house.start(disk);
  await untilQuiet(proc);
  assert.equal(open(disk).length, 3, 'the root, a delegate and an approval');
  return { disk, proc, house };
}

function submit(proc: Proc, kind: 'cancel' | 'stop' | 'retry', id: string): Promise<void> {
  const base = { id: `i${kind}`, task: id, by: 'human', at: '2026-01-01T00:00:00.000Z' };
  return proc.ports.intents.submit({ ...base, kind });
}

const move = (disk: SimDisk, from: string, to: string): void => {
  assert.ok(disk.rename(at(`tasks/${from}`), at(`tasks/${to}`)), from);
};

const approve = (disk: SimDisk): void => {
  const read = disk.read(at('tasks/approvals.task.md'));
  disk.save(
    at('tasks/approvals.task.md'),
    (read as { bytes: Buffer }).bytes.toString('utf8').replaceAll('- [_]', '- [x]'),
  );
};

test('cancel ends every open descendant and keeps what had ended', async () => {
  const { disk, proc } = await waiting();
  await submit(proc, 'cancel', 'top');
  await untilQuiet(proc);
  assert.deepEqual(open(disk), []);
  assert.equal(names(disk, 'failed').length, 3);
  assert.equal(names(disk, 'completed').length, 1);
  assert.equal(task(disk, 'failed', 'top').error!.code, 'cancelled');
  assert.deepEqual(outcome(disk, TREE), []);
});

test('the asker of a cancelled child continues without it', async () => {
  const { disk, proc } = await waiting();
  const child = names(disk, 'waiting')
    .find((name) => name.startsWith('top.'))!
    .replace('.json', '');
  await submit(proc, 'cancel', child);
  await untilQuiet(proc);
  assert.equal(task(disk, 'completed', 'top').result, 'Only half of it.');
});

test('a retry after a cancel continues from what succeeded', async () => {
  const { disk, proc, house } = await waiting();
  await submit(proc, 'cancel', 'top');
  await untilQuiet(proc);
  const before = house.calls.length;
  await submit(proc, 'retry', 'top');
  await untilQuiet(proc);
  assert.equal(open(disk).length, 3, 'it waits for the human again');
  assert.equal(house.calls.length, before, 'nothing is paid again');
  approve(disk);
  await untilQuiet(proc);
  assert.equal(task(disk, 'completed', 'top').result, 'Both are done.');
  assert.deepEqual(outcome(disk, TREE), []);
});

test('stop lets each conversation give one last answer', async () => {
  const { disk, proc } = await waiting();
  await submit(proc, 'stop', 'top');
  await untilQuiet(proc);
  assert.deepEqual(open(disk), []);
  const result = task(disk, 'completed', 'top').result!;
  assert.match(result, /half of it/);
  assert.deepEqual(await proc.ports.intents.list(), []);
});

test('moving a file to tasks/failed cancels the task and everything under it', async () => {
  for (const fresh of [false, true]) {
    const { disk, proc, house } = await waiting();
    move(disk, 'waiting/top.json', 'failed/top.json');
    if (fresh) proc.die();
    await untilQuiet(fresh ? house.start(disk) : proc);
    assert.deepEqual(open(disk), [], `fresh: ${fresh}`);
    assert.match(task(disk, 'failed', 'top').error!.message, /its file was moved/);
    assert.equal(names(disk, 'failed').length, 3);
    assert.deepEqual(outcome(disk, TREE), []);
  }
});

test('moving the file of a task that has not started to tasks/failed cancels it', async () => {
  const disk = simDisk();
  writeStory(disk, { ...TREE, tasks: { top: { description: 'later', to: 'lead', dependencies: ['never'] } } });
  const proc = cluster(TREE.script).start(disk);
  await untilQuiet(proc);
  move(disk, 'pending/top.json', 'failed/top.json');
  await untilQuiet(proc);
  assert.equal(task(disk, 'failed', 'top').error!.code, 'cancelled');
});

test('moving a file back to tasks/pending retries the task and what failed under it', async () => {
  const { disk, proc } = await waiting();
  await submit(proc, 'cancel', 'top');
  await untilQuiet(proc);
  move(disk, 'failed/top.json', 'pending/top.json');
  await untilQuiet(proc);
  assert.equal(open(disk).length, 3, 'it waits for the human again');
  approve(disk);
  await untilQuiet(proc);
  const top = task(disk, 'completed', 'top');
  assert.equal(top.result, 'Both are done.');
  assert.equal(top.retries, 1, 'an agent that failed may try again');
});

for (const kind of ['cancel', 'stop'] as const) {
  test(`${kind} with a crash at any change ends the whole tree`, async () => {
    for (const n of sampleNumbers(`${kind} with a crash`, 16)) {
      const { disk, proc, house } = await waiting();
      await submit(proc, kind, 'top');
      proc.die();
      const failing = crashDisk(disk, n);
      const second = house.start(failing);
      await untilQuiet(second).catch(() => undefined);
      second.die();
      const last = house.start(disk);
      await untilQuiet(last);
      last.die();
      assert.deepEqual(open(disk), [], `crash at ${n}`);
      assert.deepEqual(outcome(disk, TREE), [], `crash at ${n}`);
      task(disk, kind === 'cancel' ? 'failed' : 'completed', 'top');
      if (failing.count() < n) return;
    }
  });
}

test('a move by hand with a crash at any change ends the whole tree', async () => {
  for (const n of sampleNumbers('move with a crash', 16)) {
    const { disk, proc, house } = await waiting();
    move(disk, 'waiting/top.json', 'failed/top.json');
    proc.die();
    const failing = crashDisk(disk, n);
    const second = house.start(failing);
    await untilQuiet(second).catch(() => undefined);
    second.die();
    const last = house.start(disk);
    await untilQuiet(last);
    last.die();
    assert.deepEqual(open(disk), [], `crash at ${n}`);
    if (failing.count() < n) return;
  }
});

/** Every call hangs until it is aborted. */
function hanging(proc: Proc, onCall: () => void): void {
  const { model } = proc.ports;
  const hang: Model = {
    call: (request) => {
      if (request.agent === 'lead') return model.call(request);
      onCall();
      return new Promise((resolve) => {
        request.signal!.addEventListener('abort', () =>
          resolve({ ok: false, failure: { class: 'aborted', message: 'aborted' } }),
        );
      });
    },
  };
  proc.ports.model = hang;
}

test('cancel ends a model call that is under way in another process', async () => {
  const disk = simDisk();
  writeStory(disk, TREE);
  const house = cluster(TREE.script);
  const busy = house.start(disk);
  let calls = 0;
  const both = new Promise<void>((resolve) =>
    hanging(busy, () => {
      if (++calls === 2) resolve();
    }),
  );
  const working = untilQuiet(busy);
  await both;
  const other = house.start(disk);
  await submit(other, 'cancel', 'top');
  await other.engine.pump();
  await working;
  await untilQuiet(other);
  assert.deepEqual(open(disk), []);
  assert.equal(task(disk, 'failed', 'top').error!.code, 'cancelled');
});

test('a delegate whose failure was reported is not retried with its asker', async () => {
  const disk = simDisk();
  const story: Story = {
    ...TREE,
    tasks: { top: { description: 'go', to: 'lead' } },
    script: `
- {agent: lead, turn: 1, call: [{delegate_to_agent: {agent: quick, task: q}}]}
- {agent: lead, turn: 2, times: 1, fail: auth}
- {agent: lead, turn: 2, say: Without it then.}
- {agent: quick, fail: refused}
`,
  };
  writeStory(disk, story);
  const house = cluster(story.script);
  const proc = house.start(disk);
  await play(proc, {}, disk);
  task(disk, 'failed', 'top');
  const before = house.calls.length;
  await submit(proc, 'retry', 'top');
  await play(proc, {}, disk);
  assert.equal(task(disk, 'completed', 'top').result, 'Without it then.');
  assert.equal(house.calls.length, before + 1);
});

test('a child that ran out of budget is retried with a share of the raised budget', async () => {
  const disk = simDisk();
  const story: Story = {
    ...TREE,
    agents: {
      ...TREE.agents,
      lead: agent('description: Leads\nadvisors: [{agent: quick, required: true}]\nbudget: {tokens: 200}'),
    },
    tasks: { top: { description: 'x'.repeat(2000), to: 'lead' } },
    script: '- {agent: quick, say: Q}\n- {agent: lead, say: Done.}\n',
  };
  writeStory(disk, story);
  const proc = cluster(story.script).start(disk);
  await play(proc, {}, disk);
  assert.match(task(disk, 'failed', 'top').error!.message, /budget of tokens of top.advisor-quick/);
  disk.save(at('agents/lead.md'), story.agents['lead']!.replace('tokens: 200', 'tokens: 200k'));
  await submit(proc, 'retry', 'top');
  await play(proc, {}, disk);
  assert.equal(task(disk, 'completed', 'top').result, 'Done.');
});

const CHAIN: Story = {
  ...TREE,
  agents: {
    boss: agent('description: Decides\nadvisors: [{agent: legal, required: true}, risk]\nhandoff: scribe'),
    legal: agent('description: Law'),
    risk: agent('description: Risk'),
    scribe: agent('description: Writes'),
  },
  tasks: { top: { description: 'Do we start?', to: 'boss' } },
};

for (const [who, paidAgain] of [
  ['legal', 3], // the advisor, the work, the handoff
  ['boss', 2], // the work, the handoff
  ['scribe', 1],
] as const) {
  test(`a retry after ${who} failed does not repeat earlier answers`, async () => {
    const script = `
- {agent: ${who}, times: 1, fail: auth}
- {agent: "*", say: "Yes, says {{agent}}."}
`;
    const disk = simDisk();
    writeStory(disk, { ...CHAIN, script });
    const house = cluster(script);
    const proc = house.start(disk);
    await play(proc, {}, disk);
    assert.match(task(disk, 'failed', 'top').error!.message, new RegExp(who));
    const before = house.calls.length;
    await submit(proc, 'retry', 'top');
    await play(proc, {}, disk);
    assert.equal(task(disk, 'completed', 'top').result, 'Yes, says scribe.');
    assert.equal(house.calls.length - before, paidAgain);
    assert.deepEqual(outcome(disk, CHAIN), []);
  });
}

test('a stopped pattern ends with one turn for each stage', async () => {
  const disk = simDisk();
  const script = `
- {agent: [legal, risk], say: Fine.}
- {agent: [boss, scribe], when: /You were asked to stop/, say: "Short, says {{agent}}."}
- {agent: [boss, scribe], say: never}
`;
  writeStory(disk, { ...CHAIN, script });
  const proc = cluster(script).start(disk);
  await proc.engine.pump();
  await proc.engine.pump();
  await submit(proc, 'stop', 'top');
  await play(proc, {}, disk);
  assert.equal(task(disk, 'completed', 'top').result, 'Short, says scribe.');
  assert.deepEqual(open(disk), []);
});

test('a stopped task that has not started answers in one turn', async () => {
  const disk = simDisk();
  const script = '- {agent: quick, when: /You were asked to stop/, say: In short.}\n';
  writeStory(disk, { ...TREE, tasks: { top: { description: 'go', to: 'quick' } } });
  const proc = cluster(script).start(disk);
  await submit(proc, 'stop', 'top');
  await play(proc, {}, disk);
  assert.equal(task(disk, 'completed', 'top').result, 'In short.');
});
