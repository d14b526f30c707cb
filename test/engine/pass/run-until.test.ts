/** The loop around passes: what happens between two passes, and when it ends. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Engine, PumpReport } from '../../../src/engine/pass/pump.js';
import { runUntil, type Condition } from '../../../src/engine/pass/run-until.js';

const REPORT: PumpReport = { moved: false, again: false, advanced: 0, open: 0, problems: [] };

test('a pass that may find more is repeated at once', async () => {
  const { log, engine, condition } = scene([{ again: true }, { again: true }, {}]);
  assert.equal(await runUntil(engine, condition), true);
  assert.deepEqual(log, ['pass', 'pass', 'pass', 'wait']);
});

test('another pass follows each wait until the condition is met', async () => {
  const { log, engine, condition } = scene([{}, {}], [true, false]);
  assert.equal(await runUntil(engine, condition), true);
  assert.deepEqual(log, ['pass', 'wait', 'pass', 'wait']);
});

test('no pass is started after an abort', async () => {
  const { log, engine, condition } = scene([{ again: true }, {}]);
  const stop = new AbortController();
  condition.onPass = () => stop.abort();
  assert.equal(await runUntil(engine, condition, stop.signal), false);
  assert.deepEqual(log, ['pass']);
  assert.equal(await runUntil(engine, condition, stop.signal), false);
  assert.deepEqual(log, ['pass']);
});

test('a pass gets the roots, the look and the callback of the condition', async () => {
  const { engine, condition } = scene([{}]);
  const roots = new Set(['t']);
  const given: unknown[] = [];
  engine.pass = (...args) => (given.push(...args), Promise.resolve(REPORT));
  await runUntil(engine, { ...condition, roots });
  assert.deepEqual(given, ['changed', condition.onEnd, roots]);
});

function scene(
  reports: Partial<PumpReport>[],
  waits: boolean[] = [false],
): { log: string[]; engine: Engine; condition: Condition } {
  const log: string[] = [];
  const pass: Engine['pass'] = () => {
    log.push('pass');
    return Promise.resolve({ ...REPORT, ...reports.shift() });
  };
  const condition: Condition = {
    look: () => 'changed',
    onEnd: () => undefined,
    onPass: () => undefined,
    wait() {
      log.push('wait');
      return Promise.resolve(waits.shift()!);
    },
  };
  return { log, engine: { pass } as Engine, condition };
}
