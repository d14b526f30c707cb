/** Separately started agents: one provides what another needs, also if a process is killed. */
import assert from 'node:assert/strict';
import { place, succeeds, type Place, type Running, type Spawned } from '../../kit/guild.js';
import { until } from '../../kit/until.js';
import { sampleTests } from '../../kit/sample.js';

const test = sampleTests('cli/commands/mesh', 4);

const SCRIPT = `
- {agent: ana, turn: 1, call: [{request_dependency: {type: expertise, need: the columns, expertise: [schema, sql]}}]}
- {agent: ana, turn: 2, when: '/"status":"resolved","provider":"(\\w+)"/', say: "By {{1}}."}
- {agent: cyd, say: "id, name"}
`;
const agent = (front: string): string => `---\ndescription: Does its part\n${front}\n---\nDo what you are asked.\n`;

const files = (ben: string, dan = 'say: never', coordination = 'mode: mesh'): Record<string, string> => ({
  'guild.yaml': `model: pretend/x\nproviders:\n  pretend: { kind: scripted, script: script.yaml }\nwatch: { rescan: 1s }\ngit: false\ncoordination: { ${coordination} }\n`,
  'script.yaml': `${SCRIPT}- {agent: ben, ${ben}}\n- {agent: dan, ${dan}}\n`,
  'agents/ana.md': agent('tools: [request_dependency]'),
  'agents/ben.md': agent('expertise: [schema, sql]'),
  'agents/cyd.md': agent('expertise: [schema]'),
  'agents/dan.md': agent('expertise: [colours]'),
});

/**
 * One command for each agent; all of them know each other. The one to kill runs in a separate
 * process.
 */
async function peers(workspace: Place, victim?: Spawned): Promise<Map<string, Running>> {
  const names = ['ana', 'ben', 'cyd', 'dan'].filter((name) => !victim?.child.spawnargs.includes(name));
  const all = new Map(names.map((name) => [name, workspace.start('agent', 'start', name)]));
  await until(() => workspace.list('agents/live').filter((name) => name.endsWith('.json')).length === 4);
  return all;
}

async function stop(all: Iterable<Running>): Promise<void> {
  for (const { interrupt, ended } of all) {
    interrupt();
    await ended;
  }
}

const completed = (workspace: Place): string | undefined =>
  workspace.list('tasks/completed').includes('q.json')
    ? (JSON.parse(workspace.read('tasks/completed/q.json')) as { result: string }).result
    : undefined;

test('one of four agents needs something, two can provide it, and the fitter one does', async (t) => {
  const workspace = place(t, files('say: "id, name"'));
  const all = await peers(workspace);
  succeeds(await workspace.guild('task', 'add', 'Write the query', '--to', 'ana', '--id', 'q'));
  assert.match(await until(() => completed(workspace)), /^By (ben|cyd)\.$/);
  assert.equal(
    workspace.list('tasks/completed').filter((name) => name.includes('provide')).length,
    1,
    'one of them was asked',
  );
  await stop(all.values());
});

test('the chosen provider is killed during its work: the next best provides it', async (t) => {
  const workspace = place(t, files('wait: 30m, say: never'));
  const ben = workspace.spawn('agent', 'start', 'ben');
  const all = await peers(workspace, ben);
  succeeds(await workspace.guild('task', 'add', 'Write the query', '--to', 'ana', '--id', 'q'));
  const isAtIt = (): boolean => workspace.list('tasks/active').some((name) => name.includes('provide-1_ben'));
  await until(() => isAtIt() || completed(workspace) !== undefined);
  ben.child.kill('SIGKILL');
  await ben.ended;
  assert.equal(await until(() => completed(workspace)), 'By cyd.');
  await stop(all.values());
});

const LED = 'coordinator: dan';

test('under a coordinator, the coordinator chooses the provider', async (t) => {
  const workspace = place(
    t,
    files('say: "id, name"', 'call: [{assign_provider: {agent: cyd, reason: it is her turn}}]', LED),
  );
  const all = await peers(workspace);
  succeeds(await workspace.guild('task', 'add', 'Write the query', '--to', 'ana', '--id', 'q'));
  assert.equal(await until(() => completed(workspace)), 'By cyd.');
  await stop(all.values());
});

test('the coordinator is killed while it chooses: the rule chooses', async (t) => {
  const workspace = place(t, files('say: "id, name"', 'wait: 30m, say: never', LED));
  const dan = workspace.spawn('agent', 'start', 'dan');
  const all = await peers(workspace, dan);
  succeeds(await workspace.guild('task', 'add', 'Write the query', '--to', 'ana', '--id', 'q'));
  await until(() => workspace.list('tasks/active').some((name) => name.includes('match_dan')));
  dan.child.kill('SIGKILL');
  await dan.ended;
  assert.equal(await until(() => completed(workspace)), 'By ben.');
  await stop(all.values());
});
