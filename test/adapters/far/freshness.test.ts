/** When a look at the store may be trusted without another one. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { freshness, type Freshness } from '../../../src/adapters/far/freshness.js';

const MAX_AGE_MS = 25;

interface Ground {
  fresh: Freshness;
  ring(): void;
  learn(): void;
  pass(ms: number): void;
  look(): void;
}

async function ground(): Promise<Ground> {
  let now = 0;
  let learned = 0;
  let ring = (): void => undefined;
  const onRing = async (hear: () => void): Promise<() => Promise<void>> => ((ring = hear), async () => undefined);
  const fresh = freshness(
    { onRing },
    'notes',
    () => now,
    () => learned,
  );
  await fresh.listen();
  const look = (): void => {
    fresh.began();
    fresh.ended();
  };
  look();
  return { fresh, look, ring: () => ring(), learn: () => void learned++, pass: (ms) => void (now += ms) };
}

test('a look stays fresh until a notification arrives, for a second at most', async () => {
  const { fresh, ring, pass } = await ground();
  pass(500);
  assert.equal(fresh.isFresh(MAX_AGE_MS), true);
  assert.equal(fresh.isFresh(0), false, 'somebody wants to know now');
  ring();
  assert.equal(fresh.isFresh(MAX_AGE_MS), false);
  const silent = await ground();
  silent.pass(1001);
  assert.equal(silent.fresh.isFresh(MAX_AGE_MS), false, 'a ring may be lost');
});

test('while the look after a notification is under way, the look before it is not fresh', async () => {
  const { fresh, ring, pass } = await ground();
  pass(500);
  ring();
  fresh.began();
  assert.equal(fresh.isFresh(MAX_AGE_MS), false);
  fresh.ended();
  assert.equal(fresh.isFresh(MAX_AGE_MS), true);
});

test('a notification that arrives while a look is under way asks for another look', async () => {
  const { fresh, ring, pass } = await ground();
  fresh.began();
  pass(100);
  ring();
  fresh.ended();
  assert.equal(fresh.isFresh(MAX_AGE_MS), false);
});

test('a look is not fresh once a later change of another process is known, even without a notification', async () => {
  const { fresh, learn, look } = await ground();
  learn();
  assert.equal(fresh.isFresh(MAX_AGE_MS), false);
  look();
  assert.equal(fresh.isFresh(MAX_AGE_MS), true);
});
