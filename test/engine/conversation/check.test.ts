/** Goal checks in a running engine: model and prompt, invalid verdicts, cost, stop and retry. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import type { Config } from '../../../src/domain/config/config.js';
import type { Task } from '../../../src/domain/task/task.js';
import { cluster, play, ROOT, untilQuiet, type Proc, type Cluster } from '../../kit/cluster.js';
import { outcome } from '../../kit/outcome.js';
import { simDisk, type SimDisk } from '../../kit/sim-disk.js';
import { writeStory, type Story } from '../../kit/stories.js';

const ana = (more = 'metacognition: {}'): string => `---\ndescription: Writes\n${more}\n---\nDo what you are asked.\n`;
const YES = '{give_verdict: {advances: true, reason: fine}}';

interface Played {
  disk: SimDisk;
  house: Cluster;
  proc: Proc;
  story: Story;
  task(id?: string): Task & { state: string };
}

async function played(given: Partial<Story> & Pick<Story, 'script'>, config: Partial<Config> = {}): Promise<Played> {
  const story: Story = {
    name: 'check',
    agents: { ana: ana() },
    tasks: { plan: { description: 'When?', to: 'ana' } },
    results: {},
    calls: 0,
    ...given,
  };
  const disk = simDisk();
  writeStory(disk, story);
  const house = cluster(story.script, story.asks);
  const proc = house.start(disk, { config });
  await play(proc, story, disk);
  const task = (id = 'plan'): Task & { state: string } => {
    for (const state of ['completed', 'failed', 'pending', 'active', 'waiting']) {
      const read = disk.read(path.join(ROOT, 'tasks', state, `${id}.json`));
      if (read.kind === 'file') return { ...(JSON.parse(read.bytes.toString('utf8')) as Task), state };
    }
    throw new Error(`there is no ${id}`);
  };
  return { disk, house, proc, story, task };
}

const submit = (proc: Proc, kind: 'retry' | 'stop', task: string): Promise<void> =>
  proc.ports.intents.submit({ kind, id: `i-${kind}`, task, by: 'human', at: '2026-01-01T00:00:00.000Z' });

test('a check uses the model, prompt and settings of metacognition, one tool, and its own session', async () => {
  const minds = 'model: demo/work\ntemperature: 0.9\ntools: [read_file]\nsession: shared';
  const { house, disk, task } = await played({
    agents: {
      ana: `${ana(`${minds}\nmetacognition: {model: demo/judge, prompt: 'Judge as {{tone}}.', max_tokens: 99}\nvariables: {tone: a friend}`)}\n# User Prompt Template\nPlease {{task}}\n`,
    },
    script: `
- {agent: ana, task: plan.work, say: On Monday.}
- {agent: ana, task: plan.check-1, call: [${YES}]}
`,
  });
  assert.equal(task().result, 'On Monday.', JSON.stringify(task().error));
  const [work, check] = house.calls;
  assert.deepEqual([work!.model, check!.model], ['demo/work', 'demo/judge']);
  assert.deepEqual([work!.settings, check!.settings], [{ temperature: 0.9 }, { maxTokens: 99 }]);
  assert.match(check!.system, /^Judge as a friend\.\n\nYou are the agent "ana"/);
  assert.deepEqual(check!.toolChoice, { tool: 'give_verdict' });
  assert.deepEqual(
    [work!.tools, check!.tools].map((tools) => tools.map((tool) => tool.name)),
    [['read_file'], ['give_verdict']],
  );
  assert.match(work!.messages[0]!.content, /^Please When\?/);
  assert.equal(check!.messages.length, 1);
  assert.match(check!.messages[0]!.content, /^Does this result advance the goal\?[^]*<\/result__\w+>$/);
  assert.deepEqual(
    disk
      .list(path.join(ROOT, 'sessions'))
      .filter((name) => name.endsWith('.yaml'))
      .sort(),
    ['ana.session.yaml', 'plan.check-1.session.yaml'],
  );
});

test('a check is charged under its own role, and the costs add up', async () => {
  const { disk, story, task } = await played({
    script: `
- {agent: ana, task: plan.work, say: Soon., usage: {input: 10, output: 1}}
- {agent: ana, task: plan.check-1, call: [{give_verdict: {advances: false, reason: no day}}], usage: {input: 20, output: 2}}
- {agent: ana, task: plan.work-2, say: On Monday., usage: {input: 40, output: 4}}
- {agent: ana, task: plan.check-2, call: [${YES}], usage: {input: 80, output: 8}}
`,
  });
  assert.deepEqual(outcome(disk, story), []);
  const inputs = (id: string): unknown => (task(id).usage as unknown as { input_tokens: number }).input_tokens;
  assert.deepEqual(
    ['plan.work', 'plan.check-1', 'plan.work-2', 'plan.check-2', 'plan'].map(inputs),
    [10, 20, 40, 80, 150],
  );
  assert.deepEqual([task('plan.check-1').role, task('plan.check-2').role], ['check', 'check']);
});

const MALFORMED: [what: string, first: string][] = [
  ['text', 'say: "YES, it does."'],
  ['a call with a wrong type', 'call: [{give_verdict: {advances: "yes", reason: fine}}]'],
  ['a call without a reason', 'call: [{give_verdict: {advances: false, reason: " "}}]'],
  ['a call of another tool', 'call: [{read_file: {path: guild.yaml}}]'],
];
for (const [what, first] of MALFORMED) {
  test(`${what} instead of a verdict gets one reminder, and the next verdict counts`, async () => {
    const { house, task } = await played({
      script: `
- {agent: ana, task: plan.work, say: On Monday.}
- {agent: ana, task: plan.check-1, turn: 1, ${first}}
- {agent: ana, task: plan.check-1, turn: 2, call: [${YES}]}
`,
    });
    assert.equal(task().result, 'On Monday.');
    assert.equal(house.calls.length, 3);
    assert.match(house.calls[2]!.messages[2]!.content, /give_verdict|send \{evidence|reason is empty/);
  });

  test(`${what} twice fails the check and the task, and a retry repeats only the check`, async () => {
    const { house, proc, disk, task, story } = await played({
      script: `
- {agent: ana, task: plan.work, say: On Monday.}
- {agent: ana, task: plan.check-1, turn: [1, 2], ${first}}
- {agent: ana, task: plan.check-1, turn: 3, call: [${YES}]}
`,
    });
    assert.equal(task().state, 'failed');
    assert.match(task().error!.message, /the goal check of ana failed: no give_verdict call in 2 turns/);
    assert.equal(house.calls.length, 3);
    await submit(proc, 'retry', 'plan');
    await untilQuiet(proc);
    assert.equal(task().result, 'On Monday.');
    assert.equal(house.calls.length, 4, 'the work is not paid again');
    assert.deepEqual(outcome(disk, story), []);
  });
}

test('a verdict written as JSON counts, for models that call no tools', async () => {
  const { house, task } = await played({
    script: `
- {agent: ana, task: plan.work, say: On Monday.}
- {agent: ana, task: plan.check-1, say: '{"advances": true, "reason": "a day"}'}
`,
  });
  assert.equal(task().result, 'On Monday.');
  assert.equal(house.calls.length, 2);
});

test('a model failure fails the check, and the work is kept for a retry', async () => {
  const { task } = await played({
    script: `
- {agent: ana, task: plan.work, say: On Monday.}
- {agent: ana, task: plan.check-1, fail: auth, message: no key}
`,
  });
  assert.match(task().error!.message, /the goal check of ana failed: no key/);
  assert.equal(task('plan.work').result, 'On Monday.');
});

test('a budget that runs out before the check does not let an unchecked answer through', async () => {
  const { task, house } = await played({
    agents: { ana: ana('metacognition: {}\nbudget: {tokens: 6000}') },
    script: `
- {agent: ana, task: plan.work, say: On Monday., usage: {input: 5800, output: 100}}
- {agent: ana, task: plan.check-1, call: [${YES}]}
`,
  });
  assert.match(task().error!.message, /over_budget|used up/);
  assert.equal(house.calls.length, 1);
});

test('plan approval applies to the work, not to its check', async () => {
  const { house, task } = await played({
    agents: { ana: ana('metacognition: {}\nplan_approval: true') },
    human: (disk) => {
      const file = path.join(ROOT, 'tasks/approvals.task.md');
      const read = disk.read(file);
      const text = read.kind === 'file' ? read.bytes.toString('utf8') : '';
      if (!text.includes('- [_]')) return false;
      disk.save(file, text.replaceAll('- [_]', '- [x]'));
      return true;
    },
    script: `
- {agent: ana, task: plan.work, turn: 1, when: show your plan, say: Look at the calendar.}
- {agent: ana, task: plan.work, turn: 2, say: On Monday.}
- {agent: ana, task: plan.check-1, turn: 1, call: [${YES}]}
`,
  });
  assert.equal(task().result, 'On Monday.');
  assert.equal(house.calls.length, 3);
});

test('a task that is asked to stop still checks its last answer', async () => {
  const disk = simDisk();
  writeStory(disk, {
    name: 'x',
    agents: { ana: ana() },
    tasks: { plan: { description: 'When?' } },
    script: '',
    results: {},
    calls: 0,
  });
  const house = cluster(`
- {agent: ana, task: plan.work, say: On Monday.}
- {agent: ana, task: plan.check-1, call: [${YES}]}
`);
  const proc = house.start(disk);
  for (let pass = 0; pass < 50 && house.calls.length === 0; pass++) await proc.engine.pump();
  await submit(proc, 'stop', 'plan');
  await untilQuiet(proc);
  assert.deepEqual(
    house.calls.map((call) => call.task),
    ['plan.work', 'plan.check-1'],
  );
  assert.ok(disk.tree().has(`${ROOT}/tasks/completed/plan.json`));
});

test('a handoff with full context passes on both attempts', async () => {
  const { house } = await played({
    agents: {
      ana: ana('metacognition: {}\ncontext: full\nhandoff: ben'),
      ben: '---\ndescription: Ends\n---\nEnd it.\n',
    },
    script: `
- {agent: ana, task: plan.work, say: Soon.}
- {agent: ana, task: plan.check-1, call: [{give_verdict: {advances: false, reason: no day}}]}
- {agent: ana, task: plan.work-2, say: On Monday.}
- {agent: ana, task: plan.check-2, call: [${YES}]}
- {agent: ben, say: Good.}
`,
  });
  const handed = house.calls.at(-1)!.messages[0]!.content;
  assert.match(handed, /<conversation__[^]*Soon\.[^]*no day[^]*On Monday\.[^]*<\/conversation__/);
  assert.match(handed, /<response__\w+ agent="ana">\nOn Monday\./);
});
