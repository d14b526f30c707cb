/** Wildcards match like the regular expression they stand for, and no pattern is slow. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc } from '../kit/properties.js';
import { globFits } from '../../src/domain/wildcard.js';

test('a glob matches what its regular expression matches', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', '/', '.'), maxLength: 8 });
  const glob = fc.string({ unit: fc.constantFrom('a', 'b', '/', '.', '*', '?'), maxLength: 8 });
  fc.assert(
    fc.property(glob, text, (pattern, given) => {
      const source = pattern.replaceAll('.', '\\.').replaceAll('*', '.*').replaceAll('?', '.');
      assert.equal(globFits(pattern, given), new RegExp(`^${source}$`, 's').test(given));
    }),
    { numRuns: 1000 },
  );
});

test('a wildcard character in the text is literal', () => {
  assert.equal(globFits('a', '*'), false);
  assert.equal(globFits('*', ''), true);
  assert.equal(globFits('?', ''), false);
});
