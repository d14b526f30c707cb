/** Trees are drawn with connected lines. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stemsOf } from '../../src/views/tree-lines.js';

test('a line continues only while siblings follow', () => {
  const levels = [0, 1, 2, 3, 2, 1, 2, 0, 1];
  assert.deepEqual(
    stemsOf(levels).map(({ first }) => first),
    ['', '├─ ', '│  ├─ ', '│  │  └─ ', '│  └─ ', '└─ ', '   └─ ', '', '└─ '],
  );
  assert.deepEqual(
    stemsOf([0, 1, 2, 1]).map(({ rest }) => rest),
    ['│  ', '│  │  ', '│        ', '      '],
  );
});
