/** Long conversations: the model sees a view that fits, and the file keeps everything. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Message } from '../../../src/domain/session/session.js';
import { compactor } from '../../../src/engine/conversation/compact.js';
import { messageTokens } from '../../../src/rules/budget/reserve.js';
import { parseSession } from '../../../src/text/session/parse.js';
import { cluster, play, ROOT } from '../../kit/cluster.js';
import { simDisk } from '../../kit/sim-disk.js';
import { writeStory } from '../../kit/stories.js';

let ids = 0;
function turn(result: string, name = 'read_file'): Message[] {
  const id = `c${++ids}`;
  return [
    { role: 'assistant', content: `look ${ids}`, toolCalls: [{ id, name, arguments: { n: ids } }] },
    { role: 'tool', name, content: result, toolCallId: id },
  ];
}
const first: Message = { role: 'user', content: 'the request itself' };
const tokens = (messages: readonly Message[]): number =>
  messages.reduce((sum, message) => sum + messageTokens(message), 0);
const WINDOW = 10_000;

/** Compacts as the agent loop does: the outline becomes a message of the conversation. */
function fitter(window: number, head: number, answer: number) {
  const { view, compaction } = compactor(window, head, answer);
  return (messages: Message[], tooLong = false): readonly Message[] => {
    const outline = compaction(messages, tooLong);
    if (outline !== undefined) messages.push(outline);
    return view(messages);
  };
}

test('a conversation that fits is shown unchanged', () => {
  const messages = [first, ...turn('x')];
  assert.equal(fitter(WINDOW, 0, 1000)(messages), messages);
});

test('old messages become an outline; the request and the last turns stay, and every call has its result', () => {
  const messages = [first];
  const fit = fitter(WINDOW, 500, 1000);
  let compacted = 0;
  for (let i = 0; i < 200; i++) {
    messages.push(...turn(`${i} `.repeat(300)));
    const view = fit(messages);
    assert.ok(tokens(view) <= WINDOW - 1500, `${tokens(view)} tokens at turn ${i}`);
    assert.equal(view[0], first);
    const last = messages.findLast(({ kind }) => kind !== 'compacted')!;
    assert.equal(view.at(-1)!.content, last.content, 'the last result is not shortened');
    if (view !== messages) {
      compacted++;
      assert.match(view[1]!.content, /^\d+ earlier messages are left out/);
      view.forEach((message, at) => {
        if (message.role !== 'tool') return;
        const asked = view[at - 1]!.toolCalls?.[0]?.id;
        assert.equal(message.toolCallId, asked, 'no result without its call');
      });
    }
  }
  assert.ok(compacted > 100);
  const kept = messages.filter(({ kind }) => kind !== 'compacted');
  assert.equal(kept.length, 401, 'the conversation keeps every message');
  assert.deepEqual(compactor(WINDOW, 500, 1000).view([...messages]), fit(messages), 'another process shows the same');
});

test('results of children stay as references', () => {
  const response = JSON.stringify({
    agent_name: 'ana',
    task_type: 'delegation',
    result: `The answer is 42.\n${'more '.repeat(500)}`,
    metadata: { task: 'top.call-9' },
    success: true,
    error: null,
  });
  const [call, result] = turn(response, 'delegate_to_agent');
  const messages: Message[] = [first, call!, { ...result!, kind: 'agent_response', from: 'top.call-9' }];
  const fit = fitter(WINDOW, 0, 1000);
  for (let i = 0; i < 100; i++) {
    messages.push(...turn('y'.repeat(2000)));
    fit(messages);
  }
  assert.match(fit(messages)[1]!.content, /task top\.call-9: The answer is 42\./);
});

test('the cost of a turn does not grow with the conversation', () => {
  const messages: Message[] = [first];
  let touched = 0;
  const counted = new Proxy(messages, {
    get(target, key, self) {
      if (typeof key === 'string' && /^\d+$/.test(key)) touched++;
      return Reflect.get(target, key, self) as unknown;
    },
  });
  const fit = fitter(WINDOW, 0, 1000);
  const costs: number[] = [];
  for (let block = 0; block < 5; block++) {
    touched = 0;
    for (let i = 0; i < 400; i++) {
      messages.push(...turn('z'.repeat(800)));
      fit(counted);
    }
    costs.push(touched);
  }
  assert.ok(costs[4]! < costs[1]! * 1.5, `messages looked at in each block of turns: ${costs.join(', ')}`);
});

test('a view that the model rejects is halved, unless nothing can be left out', () => {
  const messages = [first, ...Array.from({ length: 6 }, () => turn('w'.repeat(3000))).flat()];
  const fit = fitter(WINDOW, 0, 1000);
  const before = tokens(fit(messages));
  const half = fit(messages, true);
  assert.ok(tokens(half) <= before / 2, `${tokens(half)} of ${before} tokens`);
  assert.equal(half[0], first);
  assert.deepEqual(fit(messages), half, 'it stays so');
  const size = tokens(half);
  assert.ok(tokens(fit(messages, true)) < size, 'and can be made shorter again');
  const large = [first, ...turn('v'.repeat(30_000))];
  const whole = tokens(large);
  assert.ok(tokens(fitter(1_000_000, 0, 1000)(large, true)) < whole / 2, 'the last result too');
  const alone = [first];
  assert.equal(fitter(WINDOW, 0, 1000)(alone, true), alone);
});

for (const [times, state] of [
  [1, 'completed'],
  [2, 'failed'],
] as const) {
  test(`a model that rejects the length is asked once more with half of it, and the task is ${state}`, async () => {
    const disk = simDisk();
    writeStory(disk, {
      name: 'window',
      agents: { ana: '---\ndescription: Reads\ntools: [read_file]\n---\nRead.\n' },
      files: { 'f1.txt': 'one '.repeat(1500), 'f2.txt': 'two '.repeat(1500), 'f3.txt': 'three '.repeat(1500) },
      tasks: { read: { description: 'Read all three' } },
      script: '',
      results: {},
      calls: 0,
    });
    const office = cluster(`
- {agent: ana, turn: [1, 2, 3], call: [{read_file: {path: "f{{turn}}.txt"}}]}
- {agent: ana, turn: 4, times: ${times}, fail: context}
- {agent: ana, turn: 4, say: I have read them all.}
`);
    await play(office.start(disk), {}, disk);
    const seen = office.calls.filter((call) => call.turn === 4).map((call) => tokens(call.messages));
    assert.equal(seen.length, 2);
    assert.ok(seen[1]! <= seen[0]! / 2, seen.join(' then '));
    assert.ok(disk.tree().has(`${ROOT}/tasks/${state}/read.json`));
  });
}

test('an agent that reads more than its window continues, and its session keeps every message', async () => {
  const disk = simDisk();
  const files = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`f${i + 1}.txt`, `${i + 1} `.repeat(1500)]));
  writeStory(disk, {
    name: 'long',
    agents: { ana: '---\ndescription: Reads\ntools: [read_file]\n---\nRead.\n' },
    files,
    tasks: { read: { description: 'Read all twenty' } },
    script: '',
    results: {},
    calls: 0,
  });
  const long = cluster(`
- {agent: ana, turn: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20], call: [{read_file: {path: "f{{turn}}.txt"}}]}
- {agent: ana, when: {any: left out here}, say: I have read them all.}
`);
  const proc = long.start(disk, { config: { windows: { 'demo/model': 8000 } } });
  const { model } = proc.ports;
  const shown: number[] = [];
  proc.ports.model = {
    call(request) {
      shown.push(tokens(request.messages));
      return model.call(request);
    },
  };
  await play(proc, {}, disk);
  const record = JSON.parse(disk.tree().get(`${ROOT}/tasks/completed/read.json`)!) as { result: string };
  assert.equal(record.result, 'I have read them all.');
  assert.equal(shown.length, 21);
  assert.ok(Math.max(...shown) < 8000, `${Math.max(...shown)} tokens shown`);
  const parsed = parseSession(disk.tree().get(`${ROOT}/sessions/ana-read.session.yaml`)!, 'x');
  assert.ok(parsed.ok);
  const kept = parsed.session.messages.filter(({ kind }) => kind !== 'compacted');
  assert.equal(kept.length, 42);
});
