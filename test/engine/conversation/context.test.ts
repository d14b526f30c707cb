/**
 * Text that goes from one agent to the next: the context of a handoff and the length of results.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cluster, play, ROOT, type Cluster } from '../../kit/cluster.js';
import { simDisk, type SimDisk } from '../../kit/sim-disk.js';
import { writeStory } from '../../kit/stories.js';

const agent = (front: string): string => `---\n${front}\n---\nDo what you are asked.\n`;

async function played(agents: Record<string, string>, script: string): Promise<{ disk: SimDisk; house: Cluster }> {
  const disk = simDisk();
  writeStory(disk, {
    name: 'context',
    agents,
    files: { 'facts.md': 'The runtime is podman.\n' },
    tasks: { ask: { description: 'Which runtime?', to: 'first' } },
    script,
    results: {},
    calls: 0,
  });
  const house = cluster(script);
  await play(house.start(disk), {}, disk);
  return { disk, house };
}

const result = (disk: SimDisk, id: string): string =>
  (JSON.parse(disk.tree().get(`${ROOT}/tasks/completed/${id}.json`)!) as { result: string }).result;

const CHAIN = `
- {agent: first, turn: 1, call: [{read_file: {path: facts.md}}]}
- {agent: first, turn: 2, say: Podman it is.}
- {agent: second, say: Done.}
`;

for (const [context, has, lacks] of [
  ['none', [/^Which runtime\?/], [/Podman it is/, /The runtime is podman/]],
  ['last', [/Podman it is/, /Which runtime/], [/The runtime is podman/]],
  ['full', [/Podman it is/, /<conversation__[^]*\[calls read_file[^]*The runtime is podman/], []],
  ['summary', [/Podman it is/, /<summary__[^]*- result of read_file: /], []],
] as const) {
  test(`a handoff passes on what context: ${context} promises`, async () => {
    const { house } = await played(
      {
        first: agent(`description: F\ntools: [read_file]\nhandoff: second\ncontext: ${context}`),
        second: agent('description: S'),
      },
      CHAIN,
    );
    const heard = house.calls.find((call) => call.agent === 'second')!.messages[0]!.content;
    for (const pattern of has) assert.match(heard, pattern);
    for (const pattern of lacks) assert.doesNotMatch(heard, pattern);
  });
}

test('the prompts of a chain of five are the requests and the answers, each sent once', async () => {
  const names = ['first', 'second', 'third', 'fourth', 'fifth'];
  const answer = (name: string): string => `${name} answers at some length, so that repetition would show.`;
  const { house } = await played(
    Object.fromEntries(
      names.map((name, i) => [name, agent(`description: S${names[i + 1] ? `\nhandoff: ${names[i + 1]}` : ''}`)]),
    ),
    names.map((name) => `- {agent: ${name}, say: "${answer(name)}"}\n`).join(''),
  );
  assert.deepEqual(
    house.calls.map((call) => call.agent),
    names,
  );
  const heard = house.calls.map((call) => call.messages.map(({ content }) => content).join('\n'));
  for (const [i, text] of heard.entries()) {
    assert.equal(text.split('Which runtime?').length - 1, 1, text);
    for (const name of names) assert.equal(text.includes(answer(name)), name === names[i - 1], text);
  }
  const bytes = heard.slice(1).map((text) => Buffer.byteLength(text));
  assert.ok(
    Math.max(...bytes) - Math.min(...bytes) < 40,
    `each stage is sent as much as the one before: ${bytes.join(' ')}`,
  );
});

const LONG = 'line of a long report. '.repeat(2000);

test('a long result is shortened in the next prompt, and people get all of it', async () => {
  const { disk, house } = await played(
    { first: agent('description: F\nhandoff: second'), second: agent('description: S') },
    `- {agent: first, say: "${LONG}"}\n- {agent: second, say: "${LONG} end"}\n`,
  );
  const heard = house.calls.find((call) => call.agent === 'second')!.messages[0]!.content;
  assert.ok(heard.length < 20_000, `${heard.length} characters`);
  assert.match(heard, /the whole text is storage\/blobs\/[0-9a-f]{64}/);
  assert.equal(result(disk, 'ask'), `${LONG} end`);
});

test('the result of a background task is shortened too', async () => {
  const { house } = await played(
    { first: agent('description: F\ntools: [create_task]'), second: agent('description: S') },
    `
- {agent: first, turn: 1, call: [{create_task: {agent: second, description: report}}]}
- {agent: first, say: Done.}
- {agent: second, say: "${LONG}"}
`,
  );
  const news = house.calls.at(-1)!.messages.find((message) => message.content.startsWith('The task ask.call'))!;
  assert.ok(news.content.length < 20_000);
  assert.match(news.content, /storage\/blobs/);
});

test('a result that is too long for its record is kept as a blob', async () => {
  const huge = 'x'.repeat(300_000);
  const { disk } = await played({ first: agent('description: F') }, `- {agent: first, say: "${huge}"}\n`);
  const said = result(disk, 'ask');
  assert.ok(said.length < 150_000);
  const hash = /storage\/blobs\/([0-9a-f]{64})/.exec(said)![1]!;
  assert.equal(disk.tree().get(`${ROOT}/storage/blobs/${hash}`), huge);
});
