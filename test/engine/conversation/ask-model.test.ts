/** Retries and fallback between models: waits, limits and the combined failure. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc } from '../../kit/properties.js';
import { askModel } from '../../../src/engine/conversation/ask-model.js';
import { type Model, type ModelFailureClass, type ModelReply, type ModelRequest } from '../../../src/ports/model.js';
import { MODEL_FAILURES } from '../../../src/domain/session/model-failure.js';
import { simClock } from '../../kit/sim-clock.js';

type Step = ModelFailureClass | 'ok' | { fail: ModelFailureClass; after: number };

/** A model that follows these steps, one per call; the last one repeats. */
function steps(...list: Step[]): Model & { asked: string[] } {
  const asked: string[] = [];
  return {
    asked,
    async call(request) {
      const step = list[Math.min(asked.length, list.length - 1)]!;
      asked.push(request.model);
      if (step === 'ok') return answered(request.model);
      if (typeof step === 'string') return { ok: false, failure: { class: step, message: `${step} it is` } };
      return { ok: false, failure: { class: step.fail, message: 'wait', retryAfterMs: step.after } };
    },
  };
}

function answered(text: string): ModelReply {
  const answer = {
    text,
    toolCalls: [],
    finish: 'stop' as const,
    inputTokens: 1,
    outputTokens: 1,
    cachedTokens: 0,
    microUsd: 0,
  };
  return { ok: true, answer };
}

function ask(
  model: Model,
  models: string[],
  more: { tries?: number; signal?: AbortSignal; clock?: ReturnType<typeof simClock> } = {},
) {
  const request: Omit<ModelRequest, 'model'> = {
    system: '',
    messages: [],
    tools: [],
    settings: {},
    agent: 'a',
    task: 't',
    turn: 1,
    signal: more.signal,
  };
  const retries: string[] = [];
  const clock = more.clock ?? simClock({ auto: true });
  const onRetry = (failure: { class: string }, name: string, waitMs: number) =>
    retries.push(`${name} ${failure.class} ${waitMs}`);
  const done = askModel({ model, models, request, timeouts: { tries: more.tries ?? 4 }, clock, onRetry });
  return { done, retries, clock };
}

test('the first answer is returned, with the model that gave it', async () => {
  const model = steps('ok');
  assert.deepEqual(await ask(model, ['x/1', 'x/2']).done, { ...answered('x/1'), model: 'x/1', tries: 1 });
  assert.deepEqual(model.asked, ['x/1']);
});

for (const kind of ['rate', 'unreachable', 'cut_off', 'garbage'] as const) {
  test(`${kind} is retried on the same model after 1, 2 and 4 seconds`, async () => {
    const model = steps(kind, kind, kind, 'ok');
    const { done, retries, clock } = ask(model, ['x/1', 'x/2']);
    assert.equal((await done).tries, 4);
    assert.deepEqual(model.asked, ['x/1', 'x/1', 'x/1', 'x/1']);
    assert.deepEqual(clock.slept, [1000, 2000, 4000]);
    assert.deepEqual(retries, [`x/1 ${kind} 1000`, `x/1 ${kind} 2000`, `x/1 ${kind} 4000`]);
  });
}

for (const kind of ['auth', 'quota', 'unknown_model', 'refused', 'context', 'unscripted'] as const) {
  test(`${kind} goes to the next model at once`, async () => {
    const model = steps(kind, 'ok');
    const { done, clock } = ask(model, ['x/1', 'x/2']);
    const reply = await done;
    assert.ok(reply.ok);
    assert.equal(reply.model, 'x/2');
    assert.deepEqual(clock.slept, []);
  });
}

test('waits grow to at most one minute', async () => {
  const { done, clock } = ask(steps('unreachable'), ['x/1'], { tries: 10 });
  await done;
  assert.deepEqual(clock.slept, [1000, 2000, 4000, 8000, 16000, 32000, 60000, 60000, 60000]);
});

test('the wait that the server asks for replaces our own', async () => {
  const { done, clock } = ask(steps({ fail: 'rate', after: 17_500 }, { fail: 'rate', after: 0 }, 'ok'), ['x/1']);
  await done;
  assert.deepEqual(clock.slept, [17_500, 0]);
});

test('a server that asks for an hour is skipped for the next model', async () => {
  const model = steps({ fail: 'rate', after: 3_600_000 }, 'ok');
  const reply = await ask(model, ['x/1', 'x/2']).done;
  assert.deepEqual(model.asked, ['x/1', 'x/2']);
  assert.ok(reply.ok);
});

test('the next model is asked after the last try of one model', async () => {
  const model = steps('rate', 'rate', 'ok');
  const { done, retries } = ask(model, ['x/1', 'x/2'], { tries: 2 });
  assert.ok((await done).ok);
  assert.deepEqual(model.asked, ['x/1', 'x/1', 'x/2']);
  assert.deepEqual(retries, ['x/1 rate 1000', 'x/1 rate 0']);
});

test('when all models fail, the failure names each and keeps a temporary class', async () => {
  const reply = await ask(steps('auth', 'rate', 'quota'), ['x/1', 'x/2', 'x/3'], { tries: 1 }).done;
  assert.ok(!reply.ok);
  assert.equal(reply.failure.class, 'rate');
  assert.equal(reply.failure.message, 'x/1: auth it is\nx/2: rate it is\nx/3: quota it is');
});

test('an abort ends a wait at once, and no model is asked after it', async () => {
  const stop = new AbortController();
  const model = steps('rate');
  const { done } = ask(model, ['x/1', 'x/2'], { signal: stop.signal, clock: simClock() });
  await new Promise(setImmediate);
  stop.abort();
  const reply = await done;
  assert.equal(!reply.ok && reply.failure.class, 'aborted');
  assert.deepEqual(model.asked, ['x/1']);
});

test('the number of calls is bounded whatever fails, and the first answer ends them', async () => {
  const step = fc.constantFrom<Step>('ok', ...MODEL_FAILURES);
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 1, maxLength: 12 }),
      fc.integer({ min: 1, max: 4 }),
      fc.integer({ min: 1, max: 3 }),
      async (list, tries, count) => {
        const model = steps(...list);
        const names = Array.from({ length: count }, (_, at) => `x/${at}`);
        const reply = await ask(model, names, { tries }).done;
        assert.ok(model.asked.length <= tries * count);
        assert.equal(reply.tries, model.asked.length);
        const last = list[Math.min(model.asked.length - 1, list.length - 1)];
        assert.equal(reply.ok, last === 'ok');
      },
    ),
  );
});
