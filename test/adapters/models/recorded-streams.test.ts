/**
 * Streams of test/fixtures/streams, replayed byte for byte over HTTP: whole, in random pieces, and
 * in `npm run test:all` one byte at a time. The answer must not depend on the pieces, and thoughts
 * go back unchanged.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { packageFolder } from '../../../src/adapters/starter/package-folder.js';
import type { ModelReply } from '../../../src/ports/model.js';
import { replayStream, type RecordedStream } from '../../kit/models/replay-stream.js';
import { fc } from '../../kit/properties.js';
import { EVERYTHING, SEED } from '../../kit/seed.js';

const FOLDER = path.join(packageFolder('test'), 'fixtures', 'streams');

interface Expected {
  /** The finish, the text and the calls; or the class of the failure and its words. */
  is: string;
  /** Input, cached and output tokens. */
  tokens?: [input: number, cached: number, output: number];
  /** Parts of the next request, in this order. */
  back?: string[];
  /** Default: the model of its folder. */
  model?: string;
}

const READ = (path: string): string => `read ${JSON.stringify({ path })}`;
const TIDES = READ('tides.md');
const NORTH = READ('north.md');
const SOUTH = READ('süd.md');
const SHIPS = 'stop|Fünf Schiffe ⚓';
const WELL = 'stop|All well.';
const FULL = 'unreachable: .*The harbour is full';
const NO_END = 'cut_off: ended its answer without a finish reason';

const ANTHROPIC: Record<string, Expected> = {
  'text-with-pings.sse': { is: 'stop|Der Kran hebt fünf Kisten à 20 kg. 🏗️ 完了', tokens: [329, 300, 17] },
  'thoughts-and-call.sse': {
    is: `tool_calls|I look at the table.|${TIDES}`,
    back: [
      'The tide table must be read first.',
      'c2lnLXRpZGU=',
      'aGlkZGVuLXRpZGU=',
      'I look at the table.',
      'tides.md',
    ],
  },
  'call-without-arguments.sse': { is: 'tool_calls|ring {}' },
  'two-calls.sse': { is: `tool_calls|Both.|${NORTH}|${SOUTH}` },
  'refusal.sse': { is: 'refused: it said: I cannot' },
  'pause-turn.sse': { is: 'cut_off: broke off its answer: pause_turn' },
  'max-tokens.sse': { is: 'length|The first ship is', tokens: [40, 0, 12] },
  'window-exceeded.sse': { is: 'length|The log says' },
  'overloaded-in-stream.sse': { is: FULL },
  'no-end.sse': { is: NO_END },
  'search-with-citations.sse': { is: 'stop|High tide is at 14:10.' },
  'started-twice.sse': { is: 'stop|One ship, not two.' },
  'unknown-events.sse': { is: 'stop|Calm.' },
  'error-instead-of-a-stream.body': { is: 'unreachable: .*The crane is broken' },
};

const RESPONSES: Record<string, Expected> = {
  'text.sse': { is: 'stop|Fünf Schiffe liegen im Hafen ⚓.', tokens: [50, 32, 14] },
  'reasoning-and-call.sse': { is: `tool_calls|${TIDES}`, back: ['c2VhbGVkLXRpZGU=', 'tides.md'] },
  'parallel-calls.sse': { is: `tool_calls|${NORTH}|${SOUTH}` },
  'call-without-arguments.sse': { is: 'tool_calls|ring {}' },
  'commentary-then-answer.sse': { is: 'stop|I count them. There are five.' },
  'search-with-citations.sse': { is: 'stop|High tide is at 14:10.' },
  'refusal.sse': { is: 'refused: it said: I will not sink a ship.' },
  'max-tokens.sse': { is: 'length|The first ship is' },
  'filtered.sse': { is: 'refused: it said: The' },
  'failed.sse': { is: 'unreachable: .*The crane is broken' },
  'rate-limit-in-stream.sse': { is: 'rate: .*The harbour is full' },
  'no-end.sse': { is: NO_END },
  'unknown-events.sse': { is: 'stop|Calm.' },
};

const GOOGLE: Record<string, Expected> = {
  'text.sse': { is: SHIPS, tokens: [60, 16, 8] },
  'thoughts-and-call.sse': {
    is: `tool_calls|${TIDES}`,
    tokens: [60, 0, 13],
    back: ['The table first.', 'tides.md', 'c2lnLWNhbGw='],
  },
  'signed-empty-part.sse': { is: WELL, back: ['{"text":"All well."},{"text":"","thoughtSignature":"c2lnLWVuZA=="}'] },
  'two-calls.sse': { is: `tool_calls|${NORTH}|${SOUTH}`, back: ['north.md', 'c2lnLW4=', 'süd.md'] },
  'call-without-arguments.sse': { is: 'tool_calls|ring {}', back: ['c2lnLWI='] },
  'call-then-separate-end.sse': { is: `tool_calls|${TIDES}` },
  'search-with-grounding.sse': { is: 'stop|High tide is at 14:10.' },
  'max-tokens.sse': { is: 'length|The first ship is' },
  'safety.sse': { is: 'refused: it said: To sink' },
  'prompt-blocked.sse': { is: 'refused: its content filter stopped the answer' },
  'malformed-call.sse': { is: 'cut_off: broke off its answer: MALFORMED_FUNCTION_CALL' },
  'no-end.sse': { is: NO_END },
  'error-in-stream.sse': { is: FULL },
};

const CHAT: Record<string, Expected> = {
  'text-usage-last.sse': { is: SHIPS, tokens: [30, 16, 7] },
  'crlf-comments-and-mark.sse': { is: WELL },
  'no-blank-line-at-the-end.sse': { is: WELL },
  'no-role-and-null-usage.sse': { is: WELL, tokens: [30, 0, 7] },
  'azure-first-chunk.sse': { is: WELL },
  'calls-interleaved.sse': { is: `tool_calls|${NORTH}|${SOUTH}|ring {}` },
  'call-finished-with-stop.sse': { is: `tool_calls|${NORTH}` },
  'content-parts.sse': { is: WELL },
  'json-body-text.body': { is: SHIPS, tokens: [30, 0, 7] },
  'json-body-calls.body': { is: `tool_calls|${NORTH}` },
  'think-block.sse': { is: WELL },
  'reasoning-content-and-call.sse': {
    is: `tool_calls|${TIDES}`,
    tokens: [30, 24, 7],
    back: ['"reasoning_content":"The table first."'],
    model: 'kimi-k3',
  },
  'reasoning-details-and-call.sse': {
    is: `tool_calls|${TIDES}`,
    back: [
      '"reasoning_content":"The table first."',
      '"reasoning_details":[{"type":"reasoning.text","index":0,"format":null,"text":"The table first."}]',
    ],
    model: 'MiniMax-M3',
  },
  'refusal.sse': { is: 'refused: it said: I will not sink a ship.' },
  'filtered.sse': { is: 'refused: it said: To sink' },
  'length.sse': { is: 'length|The first ship is' },
  'second-choice.sse': { is: WELL },
  'function-call.sse': { is: `tool_calls|${NORTH}` },
};

const CHAT_FAULTS: Record<string, Expected> = {
  'done-without-reason.sse': { is: WELL },
  'empty-reason.sse': { is: WELL },
  'no-end.sse': { is: NO_END },
  'cut-inside-an-event.sse': { is: 'garbage: sent an unusable answer' },
  'out-of-resources.sse': { is: 'cut_off: broke off its answer: insufficient_system_resource' },
  'aborted.sse': { is: 'cut_off: broke off its answer: abort' },
  'network.sse': { is: 'cut_off: broke off its answer: network_error' },
  'error-reason.sse': { is: 'cut_off: broke off its answer: error' },
  'sensitive.sse': { is: 'refused: it said: The pilot' },
  'model-length.sse': { is: 'length|The pilot' },
  'error-in-200.body': { is: FULL },
  'error-in-stream.sse': { is: FULL },
  'bare-error-in-stream.sse': { is: FULL },
  'not-json.sse': { is: 'garbage: sent an unusable answer' },
  'empty-answer.sse': { is: 'garbage: sent an empty answer' },
  'trailing-comma.sse': { is: `tool_calls|${NORTH}` },
  'double-encoded.sse': { is: `tool_calls|${NORTH}` },
  'raw-newline.sse': { is: `tool_calls|${READ('north\nsouth.md')}` },
  'no-meaning.sse': { is: 'garbage: called read with arguments that are not a JSON object' },
  'same-index.sse': { is: `tool_calls|${NORTH}|${SOUTH}` },
};

const THOUGHT = { is: `tool_calls|I look.|${TIDES}`, back: ['The table first.', 'tides.md'] };
const MISTRAL: Record<string, Expected> = {
  'text.sse': { is: SHIPS, tokens: [30, 0, 7] },
  'thoughts-and-call.sse': THOUGHT,
  'model-length.sse': { is: 'length|The log' },
};
const DEEPSEEK: Record<string, Expected> = {
  'thoughts-and-call.sse': { ...THOUGHT, tokens: [30, 24, 7], back: ['"reasoning_content":"The table first."'] },
  'out-of-resources.sse': { is: 'cut_off: broke off its answer: insufficient_system_resource' },
};
const OPENROUTER: Record<string, Expected> = {
  'thoughts-and-call.sse': { is: `tool_calls|${TIDES}`, back: ['The table first.', 'c2lnLW9y', 'c2VhbGVkLW9y'] },
  'error-in-stream.sse': { is: FULL },
};

type Spoken = Pick<RecordedStream, 'provider' | 'model'>;
const ANSWERED: Record<string, Spoken> = {
  'openai-responses': { provider: { kind: 'openai', api: 'responses' }, model: 'gpt-6-sol' },
  'openai-chat': { provider: { kind: 'openai' }, model: 'gpt-5' },
  anthropic: { provider: { kind: 'anthropic' }, model: 'claude-opus-5-5' },
  google: { provider: { kind: 'google' }, model: 'gemini-4-argon' },
  mistral: { provider: { kind: 'mistral' }, model: 'mistral-small-2603' },
  deepseek: { provider: { kind: 'deepseek' }, model: 'deepseek-flash' },
};
const LOCAL: Spoken = { provider: { kind: 'openai-compatible' }, model: 'local' };
const WRITTEN: [folder: string, spoken: Spoken, expected: Record<string, Expected>][] = [
  ['anthropic', ANSWERED['anthropic']!, ANTHROPIC],
  ['responses', ANSWERED['openai-responses']!, RESPONSES],
  ['google', ANSWERED['google']!, GOOGLE],
  ['chat', LOCAL, CHAT],
  ['chat-faults', LOCAL, CHAT_FAULTS],
  ['mistral', ANSWERED['mistral']!, MISTRAL],
  ['deepseek', ANSWERED['deepseek']!, DEEPSEEK],
  ['openrouter', { provider: { kind: 'openrouter' }, model: 'some/model' }, OPENROUTER],
];

for (const [folder, spoken, expected] of WRITTEN) {
  test(`${folder}: every file has an expectation`, () => {
    assert.deepEqual(fs.readdirSync(path.join(FOLDER, folder)).sort(), Object.keys(expected).sort());
  });
  for (const [file, wanted] of Object.entries(expected)) replays(`${folder}/${file}`, spoken, wanted);
}

for (const [as, spoken] of Object.entries(ANSWERED)) {
  replays(`recorded/${as}-words.sse`, spoken, { is: 'stop|Fünf Schiffe liegen im Hafen ⚓.' });
  replays(`recorded/${as}-calls.sse`, spoken, { is: `tool_calls|I look at both. 🔭|${NORTH}|${SOUTH}` });
}

function replays(file: string, { provider, model }: Spoken, { is, tokens, back = [], ...other }: Expected): void {
  test(`${file} is read, in pieces of any size`, async () => {
    const bytes = fs.readFileSync(path.join(FOLDER, file));
    const stream = { provider, model: other.model ?? model, bytes, isJson: file.endsWith('.body') };
    const sizes = fc.sample(fc.integer({ min: 1, max: 40 }), { seed: SEED, numRuns: 50 });
    for (const cut of [[bytes.length], sizes, ...(EVERYTHING ? [[1]] : [])]) {
      const { reply, heard, next } = await replayStream(stream, cut);
      if (!reply.ok) {
        const [kind, words] = is.split(': ', 1).concat(is.slice(is.indexOf(': ') + 2));
        assert.equal(reply.failure.class, kind, reply.failure.message);
        assert.match(reply.failure.message, new RegExp(words!));
        continue;
      }
      const { inputTokens, cachedTokens, outputTokens } = reply.answer;
      assert.equal(short(reply), is);
      assert.equal(heard, reply.answer.text, 'shown as it arrives');
      if (tokens) assert.deepEqual([inputTokens, cachedTokens, outputTokens], tokens);
      let from = 0;
      for (const part of back) {
        const at = next.indexOf(part, from);
        assert.ok(at >= 0, `${part} is missing in ${next.slice(from)}`);
        from = at + part.length;
      }
    }
  });
}

function short({ answer: { finish, text, toolCalls } }: Extract<ModelReply, { ok: true }>): string {
  const calls = toolCalls.map(({ name, arguments: args }) => `${name} ${JSON.stringify(args)}`);
  return [finish, text, ...calls].filter((part) => part !== '').join('|');
}
