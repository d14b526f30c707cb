/** A workspace adds an agent: every stage, the human's answer, and probation. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import type { Task } from '../../../src/domain/task/task.js';
import { cluster, ROOT, untilQuiet, type Proc, type Cluster } from '../../kit/cluster.js';
import { simDisk, type SimDisk } from '../../kit/sim-disk.js';
import { writeStory, type Story } from '../../kit/stories.js';

const BALLOT = path.join(ROOT, 'tasks/approvals.task.md');
const agent = (more: string): string => `---\n${more}\n---\nDo what you are asked.\n`;
const FINDER = agent('description: Finds out about the sea\ncapabilities: [research]\ntools: [read_file, write_file]');
const MAKER = agent('description: Makes agents\ncapabilities: [agent_creation]\nthreshold: never');

const draft = (
  more = '',
  source = 'description: Sings\\ntools: [read_file, write_file]\\ncapabilities: [singing]',
): string =>
  `{draft_agent: {name: bard, source: "---\\n${source}\\n---\\nSing.\\n", trial_task: Sing la, trial_expect: la${more}}}`;
const judge = (works: boolean, reason: string): string =>
  `{judge_trial: {works: ${works}, better: ${works}, reason: ${reason}}}`;

interface Run {
  disk: SimDisk;
  house: Cluster;
  proc: Proc;
  task(id?: string): Task & { state: string };
  text(file: string): string;
  mark(box: string): void;
}

async function run(
  script: string,
  agents: Record<string, string> = { finder: FINDER, maker: MAKER },
  song: object = { description: 'Sing of the sea', requirements: ['singing'] },
): Promise<Run> {
  const story: Story = { name: 'extend', agents, tasks: { song }, script, results: {}, calls: 0 };
  const disk = simDisk();
  writeStory(disk, story);
  const house = cluster(script);
  const proc = house.start(disk);
  const text = (file: string): string => {
    const read = disk.read(path.join(ROOT, file));
    return read.kind === 'file' ? read.bytes.toString('utf8') : '';
  };
  await untilQuiet(proc);
  return {
    disk,
    house,
    proc,
    text,
    mark: (box) => disk.save(BALLOT, text('tasks/approvals.task.md').replaceAll('- [_]', `- ${box}`)),
    task(id = 'song') {
      for (const state of ['completed', 'failed', 'pending', 'active', 'waiting']) {
        const json = text(`tasks/${state}/${id}.json`);
        if (json !== '') return { ...(JSON.parse(json) as Task), state };
      }
      throw new Error(`task ${id} does not exist`);
    },
  };
}

const WHOLE = `
- {agent: finder, task: song.new-research, say: A singer needs a tune.}
- {agent: maker, task: song.new-draft-1, turn: 1, when: A singer needs a tune, call: [${draft('', 'description: Sings\\ntools: [read_fil]\\ncapabilities: [singing]')}]}
- {agent: maker, task: song.new-draft-1, turn: 2, when: read_fil, call: [${draft('', 'description: Sings')}]}
- {agent: maker, task: song.new-draft-1, turn: 3, when: must include singing, call: [${draft()}]}
- {agent: maker, task: song.new-trial-1, when: {system: Sing.}, say: hm}
- {agent: maker, task: song.new-goal-1, when: {system: Sing.}, say: hm}
- {agent: finder, task: "song.new-rival-*", say: I cannot sing.}
- {agent: maker, task: song.new-judge-1, when: I cannot sing, call: [${judge(false, 'it only hums')}]}
- {agent: maker, task: song.new-draft-2, when: it only hums, call: [${draft(', script_file: tools/tune.sh, script_text: "echo la"')}]}
- {agent: maker, task: song.new-trial-2, say: la}
- {agent: maker, task: song.new-goal-2, say: O sea.}
- {agent: maker, task: song.new-judge-2, call: [${judge(true, 'it sings')}]}
- {agent: bard, task: song.work, say: "O sea, O sea."}
- {agent: bard, task: song.check-1, call: [{give_verdict: {advances: true, reason: a song}}]}
`;

test('each stage is a task: research, drafts, read-only trials, the approval, then the work', async () => {
  const it = await run(WHOLE);
  assert.equal(it.task().state, 'waiting');
  const shown = it.text('tasks/approvals.task.md');
  for (const text of [
    'probation: true',
    'echo la',
    'tried on "Sing la": la',
    'finder on the same task: I cannot sing.',
    'judged better',
    'it sings',
  ])
    assert.ok(shown.includes(text), `the ballot says ${text}:\n${shown}`);
  assert.equal(it.text('agents/bard.md'), '', 'nothing is written before the human approves');
  const trial = it.house.calls.find((call) => call.task === 'song.new-trial-2')!;
  assert.deepEqual(
    [trial.system.split('\n')[0], trial.tools.map((tool) => tool.name), trial.messages[0]!.content],
    ['Sing.', ['read_file'], 'Sing la'],
  );
  const rival = it.house.calls.find((call) => call.task === 'song.new-rival-1')!;
  assert.deepEqual(
    rival.tools.map((tool) => tool.name),
    ['read_file'],
  );
  it.mark('[x]');
  await untilQuiet(it.proc);
  assert.deepEqual([it.task().state, it.task().result, it.task().to], ['completed', 'O sea, O sea.', 'bard']);
  assert.match(it.text('agents/bard.md'), /^---\nprobation: true\ndescription: Sings\n/);
  assert.equal(it.text('workspaces/bard/tools/tune.sh'), 'echo la');
  assert.equal(it.task().usage?.turns, it.house.calls.length, 'the task pays for every call');
});

const UNABLE = `
- {agent: finder, task: '*.bid-*', call: [{place_bid: {reason: I cannot sing, able: false, fitness: 1, proceed: true}}]}
- {agent: searcher, task: '*.bid-*', call: [{place_bid: {reason: Nor can I, able: false, fitness: 1, proceed: true}}]}
- {agent: maker, task: song.new-draft-1, call: [${draft()}]}
- {agent: maker, task: song.new-judge-1, call: [${judge(true, 'it sings')}]}
- {agent: maker, task: song.new-trial-1, say: la}
- {agent: maker, task: song.new-goal-1, say: O sea.}
- {agent: finder, task: song.new-research, say: Use your voice.}
- {task: song.new-rival-1, say: I cannot sing.}
- {agent: bard, task: song.check-1, call: [{give_verdict: {advances: true, reason: a song}}]}
- {agent: bard, say: "O sea, O sea."}
`;
const BIDDERS = { finder: FINDER, searcher: FINDER, maker: MAKER };

test('if every bidder is unable, the human names the capability before an agent is drafted', async () => {
  const it = await run(UNABLE, BIDDERS, { description: 'Sing of the sea' });
  assert.equal(it.task().state, 'waiting');
  assert.match(it.text('tasks/approvals.task.md'), /No agent here is able[^]*I cannot sing[^]*Nor can I/);
  assert.ok(!it.house.calls.some((call) => call.agent === 'maker'), 'nothing is spent before the answer');
  const ballot = it
    .text('tasks/approvals.task.md')
    .replace('- [_]', '- [x]')
    .replace(/\n {2}answer:.*/, '\n  answer: Singing');
  it.disk.save(BALLOT, ballot);
  await untilQuiet(it.proc);
  assert.match(it.text('tasks/approvals.task.md'), /capabilities: \[singing\]/);
  it.mark('[x]');
  await untilQuiet(it.proc);
  const { state, to, requirements, result } = it.task();
  assert.deepEqual([state, to, requirements, result], ['completed', 'bard', ['singing'], 'O sea, O sea.']);
});

test('if the human does not want a new agent, the task fails with what the bidders said', async () => {
  const it = await run(UNABLE, BIDDERS, { description: 'Sing of the sea' });
  it.mark('[-]');
  await untilQuiet(it.proc);
  const { state, error } = it.task();
  assert.equal(state, 'failed');
  assert.match(
    error?.message ?? '',
    /searcher: unable: Nor can I; finder: unable: I cannot sing|finder: unable: I cannot sing; searcher: unable: Nor can I/,
  );
  assert.ok(!it.house.calls.some((call) => call.agent === 'maker'));
});

test('a rejected agent is not written, and the task fails with the reason', async () => {
  const it = await run(WHOLE);
  it.disk.save(BALLOT, it.text('tasks/approvals.task.md').replace('- [_]', '- [-]'));
  await untilQuiet(it.proc);
  assert.equal(it.task().state, 'failed');
  assert.match(
    it.task().error!.message,
    /no agent has the capability singing, and the new agent bard was not approved: the human refused this action/,
  );
  assert.equal(it.text('agents/bard.md'), '');
});

test('after two failed drafts the task fails with both reasons', async () => {
  const it = await run(
    `
- {agent: maker, task: "song.new-draft-*", call: [${draft()}]}
- {agent: maker, task: "song.new-trial-*", say: hm}
- {agent: maker, task: "song.new-goal-*", say: hm}
- {agent: maker, task: song.new-judge-1, call: [${judge(false, 'it hums')}]}
- {agent: maker, task: song.new-judge-2, call: [${judge(false, 'it still hums')}]}
`,
    { maker: MAKER },
  );
  assert.match(it.task().error!.message, /no draft of a new agent passed: it hums; then: it still hums/);
  assert.equal(it.task().error!.code, 'nobody_fit');
});

test('without an agent that drafts agents, a missing capability fails the task without a model call', async () => {
  const it = await run('', { finder: FINDER });
  assert.match(it.task().error!.message, /no agent has the capability singing/);
  assert.equal(it.house.calls.length, 0);
});

test('an agent on probation whose work is rejected is retired, and its file is kept', async () => {
  const bard = agent('description: Sings\ncapabilities: [singing]\nprobation: true');
  const it = await run(
    `
- {agent: bard, task: "*.work*", say: hm}
- {agent: bard, task: "*.check-*", call: [{give_verdict: {advances: false, reason: no song}}]}
`,
    { bard, maker: MAKER },
  );
  assert.equal(it.task().error!.code, 'off_goal');
  for (const id of ['song2', 'song3']) {
    it.disk.save(
      path.join(ROOT, `tasks/pending/${id}.json`),
      JSON.stringify({ description: `Sing ${id}`, to: 'bard' }),
    );
    await untilQuiet(it.proc);
  }
  await it.proc.engine.pump();
  assert.deepEqual([it.text('agents/bard.md'), it.text('agents/retired/bard.md')], ['', bard]);
  await it.proc.engine.pump();
  assert.equal(it.proc.ports.agents.all().has('bard'), false);
});
