/**
 * Outcomes are honest: an agent that could not do its task fails it, and every asker learns of it.
 */
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import type { Task } from '../../../src/domain/task/task.js';
import type { ModelRequest } from '../../../src/ports/model.js';
import { recordText } from '../../../src/rules/staffing/track-record.js';
import { cluster, ROOT, untilQuiet, type Proc } from '../../kit/cluster.js';
import { simDisk, type SimDisk } from '../../kit/sim-disk.js';
import { agent, writeStory } from '../../kit/stories/story.js';

interface Given {
  agents: Record<string, string>;
  tasks?: Record<string, unknown>;
  files?: Record<string, string>;
  script: string;
}

interface Scene {
  disk: SimDisk;
  proc: Proc;
  calls: () => ModelRequest[];
  task: (id: string) => Promise<Task & { state: string }>;
}

async function played({ agents, tasks = {}, files = {}, script }: Given): Promise<Scene> {
  const disk = simDisk();
  writeStory(disk, { name: '', agents, tasks, files, script, results: {}, calls: 0 });
  const world = cluster(script);
  const proc = world.start(disk);
  await untilQuiet(proc);
  return {
    disk,
    proc,
    calls: () => world.calls,
    async task(id) {
      const placed = await proc.ports.tasks.read(id);
      assert.ok(placed, `task ${id} does not exist`);
      return { ...placed.task, state: placed.state };
    },
  };
}

const REPORTER = agent('description: Reports\ntools: [read_file, final_report, update_task]');
const QUITS = '- {agent: ana, call: [{final_report: {report: "There is no key.", success: false}}]}\n';

for (const [how, call] of Object.entries({
  final_report: '{final_report: {report: There is no key, success: false}}',
  update_task: '{update_task: {status: failed, note: There is no key}}',
}))
  test(`${how} can end a task as failed`, async () => {
    const it = await played({
      agents: { ana: REPORTER },
      tasks: { door: { description: 'Open the door', to: 'ana' } },
      script: `- {agent: ana, call: [${call}]}\n`,
    });
    const door = await it.task('door');
    assert.deepEqual([door.state, door.error?.code, door.result], ['failed', 'gave_up', 'There is no key']);
    assert.match(door.error!.message, /ana could not do it: There is no key/);
    assert.match([...it.disk.tree()].find(([file]) => file.includes('/sessions/'))![1], /status: error/);
  });

test('a caller reads success: false, with the whole report', async () => {
  const it = await played({
    agents: { boss: agent('description: Asks\ntools: [delegate_to_agent]'), ana: REPORTER },
    tasks: { top: { description: 'Get in', to: 'boss' } },
    script: `${QUITS}- {agent: boss, turn: 1, call: [{delegate_to_agent: {agent: ana, task: Open the door}}]}
- {agent: boss, turn: 2, say: I climb through the window.}
`,
  });
  const answer = it.calls()[2]!.messages.find((message) => message.role === 'tool')!;
  const heard = JSON.parse(answer.content) as Record<string, unknown>;
  assert.deepEqual([heard['success'], heard['result']], [false, 'There is no key.']);
  assert.match(String(heard['error']), /ana could not do it/);
  assert.equal((await it.task('top')).state, 'completed');
});

test('a chain stops at the stage that could not do its part', async () => {
  const it = await played({
    agents: {
      ana: agent('description: First\ntools: [final_report]\nhandoff: ben'),
      ben: agent('description: Second'),
    },
    tasks: { chain: { description: 'Open the door', to: 'ana' } },
    script: `${QUITS}- {agent: ben, say: Everything is fine.}\n`,
  });
  const chain = await it.task('chain');
  assert.deepEqual([chain.state, chain.error?.code], ['failed', 'gave_up']);
  assert.deepEqual(
    it.calls().map((call) => call.agent),
    ['ana'],
  );
});

test('a board shows the failure, and what depends on it does not start', async () => {
  const it = await played({
    agents: { ana: REPORTER, ben: agent('description: Second') },
    files: {
      'tasks/plan.task.md':
        '## TODO\n- [ ] @ana "Open the door" id: door\n- [ ] @ben "Go in" id: enter depends_on: door\n',
    },
    script: `${QUITS}- {agent: ben, say: I am in.}\n`,
  });
  const board = it.disk.tree().get(path.join(ROOT, 'tasks/plan.task.md'))!;
  assert.match(board, /- \[-\] @ana "Open the door"/);
  assert.match(board, /error: .*There is no key/);
  assert.doesNotMatch(board, /- \[x\]|completed_at/);
  assert.equal((await it.task('enter')).error?.code, 'dependency_failed');
  assert.ok(it.calls().every((call) => call.agent === 'ana'));
});

test('the record of the agent counts the failure', async () => {
  const it = await played({
    agents: { ana: REPORTER },
    tasks: { door: { description: 'Open the door', to: 'ana' } },
    script: QUITS,
  });
  assert.equal(recordText(it.proc.ports.bids.records()['ana']!), '0 accepted, 0 rejected, 1 failed');
});

test('a retry asks the agent for another attempt', async () => {
  const it = await played({
    agents: { ana: REPORTER },
    tasks: { door: { description: 'Open the door', to: 'ana' } },
    script: `${QUITS.replace('ana,', 'ana, turn: 1,')}
- {agent: ana, turn: 2, when: try this task again, call: [{final_report: {report: It was open.}}]}
`,
  });
  const intent = { kind: 'retry', id: 'r1', task: 'door', by: 'human', at: '2026-01-01T00:00:00.000Z' } as const;
  await it.proc.ports.intents.submit(intent);
  await untilQuiet(it.proc);
  const door = await it.task('door');
  assert.deepEqual([door.state, door.result], ['completed', 'It was open.']);
});

test('prose does not end the task of an agent that reports: it is reminded once', async () => {
  const it = await played({
    agents: { ana: REPORTER },
    tasks: { door: { description: 'Open the door', to: 'ana' } },
    script: `- {agent: ana, turn: 1, say: I would first look for the key. Let me do that now.}
- {agent: ana, turn: 2, when: does not end this task, call: [{final_report: {report: It is open.}}]}
`,
  });
  assert.equal((await it.task('door')).result, 'It is open.');
});

test('after the reminder, prose ends the task as failed and is kept', async () => {
  const it = await played({
    agents: { ana: REPORTER },
    tasks: { door: { description: 'Open the door', to: 'ana' } },
    script: '- {agent: ana, say: I would first look for the key.}\n',
  });
  const door = await it.task('door');
  assert.deepEqual([door.state, door.error?.code], ['failed', 'model_failed']);
  assert.equal(door.result, 'I would first look for the key.');
  assert.equal(it.calls().length, 2);
});

test('an agent without final_report is reminded of a call that it wrote as text', async () => {
  const it = await played({
    agents: { ana: agent('description: Reads\ntools: [read_file]') },
    tasks: { door: { description: 'Read the label', to: 'ana' } },
    files: { 'label.md': 'Push' },
    script: `- {agent: ana, turn: 1, say: '\`\`\`{"tool": "read_file", "args": {"path": "label.md"}}\`\`\`'}
- {agent: ana, turn: 2, when: as a tool call, call: [{read_file: {path: label.md}}]}
- {agent: ana, turn: 3, when: Push, say: It says Push.}
`,
  });
  assert.equal((await it.task('door')).result, 'It says Push.');
});

test('the text of a call is never the result', async () => {
  const it = await played({
    agents: { ana: agent('description: Reads\ntools: [read_file]') },
    tasks: { door: { description: 'Read the label', to: 'ana' } },
    script: `- {agent: ana, say: '{"tool": "read_file", "args": {"path": "label.md"}}'}\n`,
  });
  const door = await it.task('door');
  assert.deepEqual([door.state, it.calls().length], ['failed', 2]);
});

test('a member of a team may answer in text, although it has final_report', async () => {
  const it = await played({
    agents: {
      lead: agent('description: Leads\nteam: {members: [ana], terminationMode: maxRounds, maxRounds: 1}'),
      ana: REPORTER,
    },
    tasks: { talk: { description: 'Discuss', to: 'lead' } },
    script: '- {agent: ana, say: I am for it.}\n- {agent: lead, when: I am for it, say: We are for it.}\n',
  });
  assert.equal((await it.task('talk')).result, 'We are for it.');
  assert.equal(it.calls().length, 2);
});

test('turns whose calls all fail are warned of after three and end the task after six', async () => {
  const it = await played({
    agents: { ana: agent('description: Reads\ntools: [read_file]') },
    tasks: { door: { description: 'Read the label', to: 'ana' } },
    script: '- {agent: ana, call: [{read_file: {path: "no-{{turn}}.md"}}, {open_door: {try: "{{turn}}"}}]}\n',
  });
  const door = await it.task('door');
  assert.deepEqual([door.state, door.error?.code, it.calls().length], ['failed', 'over_limit', 6]);
  const warnings = it.calls()[5]!.messages.filter((message) => message.kind === 'error_warning');
  assert.match(warnings[0]!.content, /3 turns in a row had no successful call/);
  assert.equal(warnings.length, 1);
  assert.match(door.error!.message, /no successful call in 6 turns; the last error was: unknown_tool/);
});

test('one successful call ends a row of failed ones', async () => {
  const it = await played({
    agents: { ana: agent('description: Reads\ntools: [read_file]') },
    tasks: { door: { description: 'Read the label', to: 'ana' } },
    files: { 'label.md': 'Push' },
    script: `- {agent: ana, turn: [5, 10], call: [{read_file: {path: label.md}}]}
- {agent: ana, turn: {to: 12}, call: [{read_file: {path: "no-{{turn}}.md"}}]}
- {agent: ana, say: Enough.}
`,
  });
  assert.equal((await it.task('door')).result, 'Enough.');
});

test('a router that chooses wrongly twice fails for that reason', async () => {
  const it = await played({
    agents: {
      desk: agent('description: Routes\nrouter: {destinations: [ana]}'),
      ana: agent('description: Answers'),
    },
    tasks: { call: { description: 'Hello', to: 'desk' } },
    script: '- {agent: desk, call: [{route_to: {agent: "nobody-{{turn}}"}}]}\n',
  });
  const { error } = await it.task('call');
  assert.match(error!.message, /chose no agent \(no route_to call in 2 turns, only invalid calls\)/);
  assert.doesNotMatch(error!.message, /budget/);
  assert.equal(it.calls().length, 2);
});

test('a router that answers in text is reminded', async () => {
  const it = await played({
    agents: {
      desk: agent('description: Routes\nrouter: {destinations: [ana]}'),
      ana: agent('description: Answers'),
    },
    tasks: { call: { description: 'Hello', to: 'desk' } },
    script: `- {agent: desk, turn: 1, say: I choose ana.}
- {agent: desk, turn: 2, call: [{route_to: {agent: ana}}]}
- {agent: ana, say: Hello too.}
`,
  });
  assert.equal((await it.task('call')).result, 'Hello too.');
});
