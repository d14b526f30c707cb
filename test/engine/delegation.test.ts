/** What a caller may say about the work it gives away: values for the other's prompt, and how long it may take. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hall, untilQuiet } from '../kit/hall.js';
import { simDisk } from '../kit/sim-disk.js';
import { lay } from '../kit/stories.js';

const AGENTS = {
  lead: '---\ndescription: Leads\ntools: [delegate_to_agent]\nagents: [hand]\n---\nLead.\n',
  hand: '---\ndescription: Helps\nvariables: {tone: plain}\n---\nBe {{tone}}. {{tool_descriptions}}\n',
};

test('variables fill the prompt of the agent that is asked, and a time-out becomes its budget', async () => {
  const { result, child } = await delegated('variables: {tone: kind}, timeout_seconds: 90');
  assert.match(result, /"agent_name":"hand".*"result":"kindly".*"success":true,"error":null/);
  assert.equal(child?.budget?.timeMs, 90_000);
});

test('without them the agent is as its file says', async () => {
  const { result, child } = await delegated('context: nothing more');
  assert.match(result, /"result":"plainly"/);
  assert.equal(child?.budget?.timeMs, undefined);
});

test('a caller cannot set what is not a variable of that agent: where text came from stays known', async () => {
  for (const name of ['taint', 'original_goal', 'speed']) {
    const { result, child } = await delegated(`variables: {${name}: x}`);
    assert.match(result, new RegExp(`bad_field: that agent has no variable ${name}; it has tone`));
    assert.equal(child, undefined);
  }
});

async function delegated(more: string) {
  const script = `
- {agent: lead, turn: 1, call: [{delegate_to_agent: {agent: hand, task: say it, ${more}}}]}
- {agent: lead, turn: 2, say: done}
- {agent: hand, when: {system: Be kind}, say: kindly}
- {agent: hand, when: {system: Be plain}, say: plainly}
`;
  const disk = simDisk();
  lay(disk, {
    name: 'x',
    agents: AGENTS,
    tasks: { ask: { description: 'x', to: 'lead' } },
    script,
    results: {},
    calls: 0,
  });
  const world = hall(script);
  const { engine, parts } = world.enter(disk);
  await untilQuiet({ engine, parts, die: () => undefined });
  const opened = await parts.store.openSession('lead-ask');
  const messages = opened.kind === 'open' ? opened.session.messages : [];
  const child = (await parts.store.ended()).find(({ task }) => task.to === 'hand')?.task;
  return { result: messages.find((message) => message.role === 'tool')?.content ?? '', child };
}
