/**
 * Chooses the cases of an expensive suite. `npm run test:all` runs all, each shard (SHARD=2/6)
 * its share. Otherwise SEED selects a sample; `oneIn` consecutive seeds cover every case. If a
 * sample is taken within a sample, the two numbers must have no common factor (7 and 60, for
 * example): otherwise no seed would run some of the pairs. Only test files import this: the test
 * script looks for the import.
 */
import { test } from 'node:test';
import { EVERYTHING, SEED } from './seed.js';

const [shard, shards] = (process.env['SHARD'] || '1/1').split('/').map(Number) as [number, number];

let cases = 0;
process.once('exit', () => console.log(`# ${cases} cases`));

/** Numbers from 1 without end, for a suite that does not know how many cases it has. */
export function* sampleNumbers(suite: string, oneIn = 60): Generator<number, never> {
  const { first, step } = slice(suite, oneIn);
  for (let n = first + 1; ; n += step) {
    cases++;
    yield n;
  }
}

export function sampleOf<T>(suite: string, items: readonly T[], oneIn: number): T[] {
  const { first, step } = slice(suite, Math.min(oneIn, items.length));
  const chosen = items.filter((_, index) => index % step === first);
  cases += chosen.length;
  return chosen;
}

/** Rounds of a suite that draws its cases at random; the round is part of the seed. */
export function sampleRounds(suite: string, rounds: number, oneIn: number): number[] {
  return sampleOf(suite, [...Array(rounds).keys()], oneIn);
}

/**
 * `test` for a file whose tests each take a browser, a database or processes: one test in `oneIn`
 * runs. Files that share a sample name the same suite and the `place` of their first test in it.
 */
export function sampleTests(suite: string, oneIn: number, place?: number): typeof test {
  const { first, step } = slice(suite, oneIn);
  let index = place ?? 0;
  process.once('exit', () => {
    if (EVERYTHING || place !== undefined || index >= oneIn) return;
    console.error(`${suite} samples one in ${oneIn} of only ${index} tests, so some seeds run none`);
    process.exitCode = 1;
  });
  const sampled = (...given: Parameters<typeof test>): Promise<void> => {
    if (index++ % step !== first) return Promise.resolve();
    cases++;
    return test(...given);
  };
  return sampled as typeof test;
}

/** The suite's name shifts the slice, so that one run does not try the same numbers everywhere. */
function slice(suite: string, oneIn: number): { first: number; step: number } {
  const shift = [...suite].reduce((sum, char) => (sum * 31 + char.charCodeAt(0)) >>> 0, 7);
  const step = EVERYTHING ? shards : oneIn;
  return { first: ((EVERYTHING ? shard : SEED) + shift) % step, step };
}
