/** The cost of a team: every member reads the request once, and a broadcast costs no call. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ModelRequest } from '../../../src/ports/model.js';
import { cluster, untilQuiet } from '../../kit/cluster.js';
import { simDisk } from '../../kit/sim-disk.js';
import { agent, writeStory } from '../../kit/stories/story.js';

const SHORT = 'Decide how we ship the release. ';
const LONG = `${SHORT}${'Consider cost, risk and time in detail. '.repeat(150)}`;
const OPINION = '"I am {{agent}} and I think we should wait a week before we ship."';
const BROADCAST = `call: [{broadcast: {message: ${OPINION}}}]`;
const PROSE = `say: ${OPINION}`;

/** `before`: what the same team and script sent at 3cfc890, where a broadcast cost another call. */
const CASES = [
  { what: 'a long request, with broadcasts', request: LONG, turn: BROADCAST, before: 566_844 },
  { what: 'a long request, in prose', request: LONG, turn: PROSE, before: 287_316 },
  { what: 'a short request, with broadcasts', request: SHORT, turn: BROADCAST, before: 50_844 },
  { what: 'a short request, in prose', request: SHORT, turn: PROSE, before: 23_316 },
];

async function deliberated({ request, turn } = CASES[0]!): Promise<ModelRequest[]> {
  const disk = simDisk();
  const names = ['ana', 'ben', 'cyd'];
  const tools = turn === BROADCAST ? '\ntools: [broadcast]' : '';
  const agents = {
    chair: agent(
      `description: Chairs\nteam: {members: [${names.join(', ')}], terminationMode: maxRounds, maxRounds: 4}`,
    ),
    ...Object.fromEntries(names.map((name) => [name, agent(`description: Is ${name}${tools}`)])),
  };
  const script = `
- {agent: [ana, ben, cyd], when: {tool: broadcast}, say: Done.}
- {agent: [ana, ben, cyd], ${turn}}
- {agent: chair, say: We wait a week.}
`;
  writeStory(disk, {
    name: '',
    agents,
    tasks: { ship: { description: request, to: 'chair' } },
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

for (const given of CASES)
  test(`a team of three over four rounds sends at most half the bytes it did: ${given.what}`, async () => {
    const sent = await deliberated(given);
    const bytes = sent.reduce((sum, request) => sum + bytesOf(request), 0);
    if (process.env['MEASURE']) console.log(`${given.what}: ${sent.length} calls, ${bytes} bytes`);
    assert.ok(bytes <= given.before / 2, `${bytes} bytes in ${sent.length} calls; ${given.before} before`);
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
