/** Teams in a running engine: twenty members, and a member with a smaller budget. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cluster, untilQuiet } from '../../kit/cluster.js';
import { simDisk } from '../../kit/sim-disk.js';
import { writeStory } from '../../kit/stories.js';

const agent = (front: string): string => `---\ndescription: x\n${front}\n---\nSpeak.\n`;

test('each of twenty members gets every contribution of the others once, in one conversation', async () => {
  const names = Array.from({ length: 20 }, (_, i) => `m${i + 1}`);
  const { calls, result, ports } = await deliberated(names, {}, [
    '- {agent: "m*", task: "*-1", say: "I am {{agent}}."}',
    '- {agent: "m*", task: "*-2", turn: 1, call: [{vote_conclude: {}}]}',
    '- {agent: "m*", say: Enough.}',
  ]);
  assert.equal(result?.state, 'completed');
  assert.equal(calls.length, 20 + 20 + 1, 'a vote costs no call of its own');
  const second = calls
    .find((call) => call.task === 'plan.member-m7-2')!
    .messages.find(({ content }) => content.startsWith('Round 2'))!.content;
  assert.equal(second.match(/I am m\d+/g)?.length, 19);
  assert.ok(!second.includes('I am m7.'));
  assert.equal((await ports.sessions.list()).length, 21);
});

test('a member that runs out of budget before it speaks leaves, and the others continue', async () => {
  const { result, calls } = await deliberated(
    ['ann', 'ben'],
    { ben: agent('budget: {turns: 1}\ntools: [read_file]') },
    [
      '- {agent: ben, call: [{read_file: {path: memory/x.md}}]}',
      '- {agent: ann, turn: 1, call: [{broadcast: {message: me first}}]}',
      '- {agent: ann, when: ben failed and is no longer in the team, call: [{vote_conclude: {}}]}',
      '- {agent: ann, say: Enough.}',
    ],
  );
  assert.equal(result?.state, 'completed', result?.task.error?.message);
  assert.match(calls.at(-1)!.messages.at(-1)!.content, /ben failed and is no longer in the team: the budget of turns/);
});

async function deliberated(names: string[], more: Record<string, string>, lines: string[]) {
  const team = `team: {members: [${names.join(', ')}], terminationMode: consensus, maxRounds: 4}`;
  const agents = { chair: agent(team), ...Object.fromEntries(names.map((name) => [name, agent('')])), ...more };
  const script = [...lines, '- {agent: chair, say: decided}'].join('\n');
  const disk = simDisk();
  writeStory(disk, {
    name: 'x',
    agents,
    tasks: { plan: { description: 'x', to: 'chair' } },
    script,
    results: {},
    calls: 0,
  });
  const world = cluster(script);
  const proc = world.start(disk);
  await untilQuiet(proc);
  return { calls: world.calls, ports: proc.ports, result: await proc.ports.tasks.read('plan') };
}
