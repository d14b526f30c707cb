/** The cost of a team: every member reads the request once, and a broadcast costs no call. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ModelRequest } from '../../../src/ports/model.js';
import { cluster, untilQuiet } from '../../kit/cluster.js';
import { simDisk } from '../../kit/sim-disk.js';
import { agent, writeStory } from '../../kit/stories/story.js';

const REQUEST = `Decide how we ship the release. ${'Consider cost, risk and time in detail. '.repeat(150)}`;
/** The same team and script at 3cfc890, in 25 calls. */
const BEFORE_BYTES = 566_844;

async function deliberated(): Promise<ModelRequest[]> {
  const disk = simDisk();
  const names = ['ana', 'ben', 'cyd'];
  const agents = {
    chair: agent(
      `description: Chairs\nteam: {members: [${names.join(', ')}], terminationMode: maxRounds, maxRounds: 4}`,
    ),
    ...Object.fromEntries(names.map((name) => [name, agent(`description: Is ${name}`)])),
  };
  const script = `
- {agent: [ana, ben, cyd], when: {tool: broadcast}, say: Done.}
- {agent: [ana, ben, cyd], call: [{broadcast: {message: "I am {{agent}} and I think we should wait a week before we ship."}}]}
- {agent: chair, say: We wait a week.}
`;
  writeStory(disk, {
    name: '',
    agents,
    tasks: { ship: { description: REQUEST, to: 'chair' } },
    script,
    results: {},
    calls: 0,
  });
  const world = cluster(script);
  const proc = world.start(disk);
  const sent: ModelRequest[] = [];
  const { model } = proc.ports;
  proc.ports.model = {
    call(request) {
      sent.push({ ...request, messages: [...request.messages] });
      return model.call(request);
    },
  };
  await untilQuiet(proc);
  assert.equal((await proc.ports.tasks.read('ship'))?.task.result, 'We wait a week.');
  return sent;
}

const bytesOf = ({ system, tools, messages }: ModelRequest): number =>
  Buffer.byteLength(
    system + JSON.stringify(tools.map(({ name, description, parameters }) => [name, description, parameters])),
  ) +
  messages.reduce(
    (sum, { content, toolCalls = [] }) => sum + Buffer.byteLength(content + JSON.stringify(toolCalls)),
    0,
  );

test('a team of three over four rounds sends at most half of the bytes it did', async () => {
  const sent = await deliberated();
  const bytes = sent.reduce((sum, request) => sum + bytesOf(request), 0);
  if (process.env['MEASURE']) console.log(`${sent.length} calls, ${bytes} bytes`);
  assert.ok(bytes <= BEFORE_BYTES / 2, `${bytes} bytes in ${sent.length} calls; ${BEFORE_BYTES} before`);
});

test('each conversation of a team contains the request once', async () => {
  for (const { messages, task } of await deliberated()) {
    const text = messages.map(({ content }) => content).join('\n');
    assert.equal(text.split('Decide how we ship').length - 1, 1, task);
  }
});

test('twelve turns of three members are twelve calls', async () => {
  const sent = await deliberated();
  assert.equal(sent.filter(({ agent: name }) => name !== 'chair').length, 12);
});
