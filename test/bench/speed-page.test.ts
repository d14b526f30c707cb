/** The figures of a benchmark as they appear in docs/speed.md. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Row, SubjectFigures } from '../../bench/harness/rows.js';
import { against, isWorse, without } from '../../bench/harness/rows.js';
import { speedChart } from '../../bench/report/speed-chart.js';
import { figures } from '../../bench/report/speed-page.js';

const subject = (name: string, kind: SubjectFigures['kind'], over: number): Row & { bench: string } => ({
  bench: 'w1 run',
  name: 'one run',
  ours: 2 + over,
  unit: 'ms',
  compared: '',
  ...(kind === 'ours' ? { target: '≤ +3 ms', met: over <= 3 } : {}),
  subject: { name, kind, ms: 2 + over, over, range: [over - 1, over + 1], cpuMs: 4.25 + over, promptBytes: 1271 },
});

const ROWS = [
  subject('raw fetch loop', 'raw', 0),
  subject('raw node:http loop', 'raw', -0.8),
  subject('Guildhall', 'ours', 5),
  subject('A <peer> & co', 'peer', 10),
];

test('a table has a line for everybody, with the range and what was missed', () => {
  const text = figures({
    at: '2026-11-17T00:00:00Z',
    machine: 'two cores',
    rounds: 5,
    isQuick: false,
    rows: [...ROWS, without('on another disk', 'skipped: no permission')],
    comparisons: [],
  });
  assert.match(text, /^Measured on 2026-11-17: two cores\. 5 rounds\.$/m);
  assert.match(
    text,
    /^\| \*\*Guildhall\*\* \| 7\.0 \| \+5 \| 4\.0 to 6\.0 \| 9\.3 \| 1271 \| ≤ \+3 ms: \*\*missed\*\* \|$/m,
  );
  assert.match(text, /^\| raw node:http loop \| 1\.2 \| -0\.8 \|/m);
  assert.match(text, /^\| on another disk \| skipped: no permission \|/m);
});

test('figures of a busy machine say so', () => {
  const results = { at: '2026-11-17', machine: 'two cores', rounds: 1, isQuick: false, rows: ROWS, comparisons: [] };
  assert.match(figures({ ...results, load: 12.3 }), /\*\*The machine was busy\*\* \(load 12\)/);
  assert.doesNotMatch(figures({ ...results, load: 2 }), /busy/);
});

test('the picture shows everybody by processor time, longest bar last, and survives odd names', () => {
  const picture = speedChart(ROWS);
  assert.doesNotMatch(picture, /NaN|<peer>/);
  const width = (name: string): number =>
    Number(new RegExp(`>${name}</text>\\n *<rect[^>]* width="([\\d.]+)"`).exec(picture)![1]);
  assert.ok(width('raw node:http loop') < width('raw fetch loop'));
  assert.ok(width('Guildhall') < width('A &lt;peer> &amp; co'));
  assert.equal(width('A &lt;peer> &amp; co'), 400);
});

test('a figure is worse than before only beyond noise, and rates are better when larger', () => {
  const row = (ours: number, unit: string): Row => against({ name: 'x', ours, unit, compared: '' }, 100);
  assert.deepEqual(
    [row(109, 'ms'), row(112, 'ms'), row(91, 'runs/s'), row(88, 'runs/s'), row(200, 'runs/s')].map(isWorse),
    [false, true, false, true, false],
  );
});
