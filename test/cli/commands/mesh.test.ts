/** Each agent is started on its own, as people do. One gives what another needs, also when a process is killed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { place, succeeds, type Place, type Running, type Spawned } from '../../kit/guild.js';
import { until } from '../../kit/until.js';

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

/** One command for each agent, all of them known to the others. The one to kill has a process of its own. */
async function peers(here: Place, victim?: Spawned): Promise<Map<string, Running>> {
  const names = ['ana', 'ben', 'cyd', 'dan'].filter((name) => !victim?.child.spawnargs.includes(name));
  const all = new Map(names.map((name) => [name, here.start('agent', 'start', name)]));
  await until(() => here.list('agents/live').filter((name) => name.endsWith('.json')).length === 4);
  return all;
}

async function stop(all: Iterable<Running>): Promise<void> {
  for (const { interrupt, ended } of all) {
    interrupt();
    await ended;
  }
}

const completed = (here: Place): string | undefined =>
  here.list('tasks/completed').includes('q.json')
    ? (JSON.parse(here.read('tasks/completed/q.json')) as { result: string }).result
    : undefined;

test('of four agents one needs, two could, the fitter one gives', async (t) => {
  const here = place(t, files('say: "id, name"'));
  const all = await peers(here);
  succeeds(await here.guild('task', 'add', 'Write the query', '--to', 'ana', '--id', 'q'));
  assert.match(await until(() => completed(here)), /^By (ben|cyd)\.$/);
  assert.equal(
    here.list('tasks/completed').filter((name) => name.includes('provide')).length,
    1,
    'one of them was asked',
  );
  await stop(all.values());
});

test('the one that was chosen is killed while it is at it: the next best gives it', async (t) => {
  const here = place(t, files('wait: 30m, say: never'));
  const ben = here.spawn('agent', 'start', 'ben');
  const all = await peers(here, ben);
  succeeds(await here.guild('task', 'add', 'Write the query', '--to', 'ana', '--id', 'q'));
  const isAtIt = (): boolean => here.list('tasks/active').some((name) => name.includes('provide-1_ben'));
  await until(() => isAtIt() || completed(here) !== undefined);
  ben.child.kill('SIGKILL');
  await ben.ended;
  assert.equal(await until(() => completed(here)), 'By cyd.');
  await stop(all.values());
});

const LED = 'coordinator: dan';

test('under a coordinator: it says who gives it', async (t) => {
  const here = place(
    t,
    files('say: "id, name"', 'call: [{assign_provider: {agent: cyd, reason: it is her turn}}]', LED),
  );
  const all = await peers(here);
  succeeds(await here.guild('task', 'add', 'Write the query', '--to', 'ana', '--id', 'q'));
  assert.equal(await until(() => completed(here)), 'By cyd.');
  await stop(all.values());
});

test('the coordinator is killed while it chooses: the rule chooses', async (t) => {
  const here = place(t, files('say: "id, name"', 'wait: 30m, say: never', LED));
  const dan = here.spawn('agent', 'start', 'dan');
  const all = await peers(here, dan);
  succeeds(await here.guild('task', 'add', 'Write the query', '--to', 'ana', '--id', 'q'));
  await until(() => here.list('tasks/active').some((name) => name.includes('match_dan')));
  dan.child.kill('SIGKILL');
  await dan.ended;
  assert.equal(await until(() => completed(here)), 'By ben.');
  await stop(all.values());
});
