/** Channels in `guild.yaml`: names that cannot be, or are the program's own, are problems with their place, and the others stand. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseConfig } from '../../../src/text/config/config.js';

test('a channel needs a name of its own', () => {
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
