/** `npm run bench -- --against`: which rows of two builds are compared with each other. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareRounds } from '../../bench/harness/compare-builds.js';

type Rows = readonly (readonly [name: string, ours: number, unit?: string])[];

function compared(older: Rows, newer: Rows): [string, number][] {
  const run = (rows: Rows) => ({
    rows: rows.map(([name, ours, unit = 'ms']) => ({ name, ours, unit, compared: '' })),
    cpuMs: undefined,
  });
  return compareRounds('b', [{ older: run(older), newer: run(newer) }]).map(({ name, ratio }) => [name, ratio]);
}

test('rows match by name, repeated names by their number', () => {
  const older: Rows = [
    ['a', 1],
    ['… best', 2],
    ['b', 4],
    ['… best', 8],
  ];
  const newer: Rows = [
    ['new', 7],
    ['a', 2],
    ['… best', 6],
    ['b', 4],
    ['… best', 4],
  ];
  assert.deepEqual(compared(older, newer), [
    ['a', 2],
    ['… best', 3],
    ['b', 1],
    ['… best', 0.5],
  ]);
});

test('a renamed row is compared with the one in its place, and shows both names', () => {
  assert.deepEqual(
    compared(
      [
        ['told', 1],
        ['b', 1],
      ],
      [
        ['published', 2],
        ['b', 1],
      ],
    ),
    [
      ['published (older: told)', 2],
      ['b', 1],
    ],
  );
});

test('rows that measure something else are not compared', () => {
  assert.deepEqual(
    compared(
      [
        ['rate', 1, '/s'],
        ['b', 1],
      ],
      [
        ['time', 2],
        ['b', 1],
      ],
    ),
    [['b', 1]],
  );
  assert.deepEqual(
    compared(
      [
        ['b', 1],
        ['a', 1],
      ],
      [
        ['a', 3],
        ['c', 1],
      ],
    ),
    [['a', 3]],
  );
});
