/** Invalid and reserved channel names in `guild.yaml` are reported, and the other channels work. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseConfig } from '../../../src/text/config/config.js';

test('a channel needs a valid name that is not reserved', () => {
  const text = 'channels:\n  news: {readers: [bob]}\n  state: {}\n  team: {}\n  ../x: {}\n  ops:\n';
  const { config, problems } = parseConfig(text, 'guild.yaml');
  assert.deepEqual(Object.keys(config.channels), ['news', 'ops']);
  assert.deepEqual(
    problems.map(({ code, where }) => [code, where?.line]),
    [
      ['bad_name', 3],
      ['bad_name', 4],
      ['bad_name', 5],
    ],
  );
});
