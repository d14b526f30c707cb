/** A slowed model gives the same answers as the model behind it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scripted } from '../../../src/adapters/models/scripted/index.js';
import { unhurried } from '../../../src/adapters/models/unhurried.js';
import type { ModelRequest } from '../../../src/ports/model.js';

const REQUEST: ModelRequest = {
  model: 'demo/story',
  system: '',
  messages: [{ role: 'user', content: 'Hello' }],
  tools: [],
  settings: {},
  agent: 'boss',
  task: 'one',
  turn: 1,
};
const MODEL = scripted('- say: One two three four.\n');

test('words come one by one after a moment, and the answer is the same', async () => {
  const heard: (string | number)[] = [];
  const clock = { sleep: async (ms: number) => void heard.push(ms) };
  const reply = await unhurried(MODEL, 800, clock).call({ ...REQUEST, onText: (text) => heard.push(text) });
  assert.deepEqual(reply, await MODEL.call(REQUEST));
  assert.deepEqual(heard, [400, 'One', 100, ' two', 100, ' three', 100, ' four.', 100]);
});

test('a call that is stopped says nothing more', async () => {
  const stop = new AbortController();
  const heard: string[] = [];
  const clock = { sleep: async () => void (heard.length === 2 && stop.abort()) };
  const onText = (text: string): void => void heard.push(text);
  await unhurried(MODEL, 800, clock).call({ ...REQUEST, signal: stop.signal, onText });
  assert.deepEqual(heard, ['One', ' two']);
});

test('without a pace it is the model itself', () => {
  const clock = { sleep: async () => undefined };
  assert.equal(unhurried(MODEL, undefined, clock), MODEL);
  assert.equal(unhurried(MODEL, 0, clock), MODEL);
});
