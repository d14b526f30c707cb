/** Dependencies of all five types, in a running engine: who is asked, what the asker gets, and what happens when nobody can give it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hall, play, type Guest } from '../kit/hall.js';
import { simDisk } from '../kit/sim-disk.js';
import { lay, type Story } from '../kit/stories.js';

const agent = (front: string): string => `---\ndescription: Does its part\n${front}\n---\nDo what you are asked.\n`;

interface Ended {
  result(id: string): Promise<string>;
  guest: Guest;
  calls: string[];
}

async function tell(story: Pick<Story, 'agents' | 'tasks' | 'script'> & Partial<Story>, config = {}): Promise<Ended> {
  const disk = simDisk();
  lay(disk, { name: 'x', results: {}, calls: 0, ...story });
  const house = hall(story.script, story.asks);
  const guest = house.enter(disk, { config });
  await play(guest, story, disk);
  return {
    guest,
    calls: house.calls.map(({ agent: name, task }) => `${name} ${task}`),
    async result(id) {
      const placed = await guest.parts.store.read(id);
      return placed?.task.result ?? placed?.task.error?.message ?? `it is ${placed?.state}`;
    },
  };
}

const PAIR = {
  ana: agent('tools: [request_dependency]'),
  ben: agent('expertise: [schema]'),
  cyd: agent('expertise: [colours]'),
};

test('data are asked of the agent that has them, and come back as a resolution', async () => {
  const { result, calls } = await tell({
    agents: PAIR,
    tasks: { t: { description: 'Write the query', to: 'ana' } },
    script: `
- {agent: ana, turn: 1, call: [{request_dependency: {type: data, need: the columns of users, data_type: schema}}]}
- {agent: ben, when: the columns of users, say: "id, name"}
- {agent: ana, turn: 2, when: '/"status":"resolved","provider":"ben","data":"id, name"/', say: Done.}
`,
  });
  assert.equal(await result('t'), 'Done.');
  assert.equal(calls.length, 3);
});
