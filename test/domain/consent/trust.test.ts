/** A person who is asked about a changed workspace sees every change. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { changedParts, type Acting } from '../../../src/domain/consent/trust.js';

const acting = (rules: Record<string, string>): Acting => ({ providers: {}, plugins: {}, rules });

test('a rule file that becomes, or stops being, an empty file is a change with a line', () => {
  const empty = acting({ 'storage/policy.yaml': '' });
  assert.deepEqual(changedParts(acting({}), empty), [{ name: 'storage/policy.yaml', lines: ['+ (an empty file)'] }]);
  assert.deepEqual(changedParts(empty, acting({})), [{ name: 'storage/policy.yaml', lines: ['- (an empty file)'] }]);
});

test('a change of blank space at the end of a rule file is named', () => {
  const [part] = changedParts(acting({ a: 'x: 1' }), acting({ a: 'x: 1\n\n' }));
  assert.deepEqual(part, { name: 'a', lines: ['  (only blank space at the end differs)'] });
});

test('equal workspaces have no changed part', () => {
  assert.deepEqual(changedParts(acting({ a: 'x: 1\n' }), acting({ a: 'x: 1\n' })), []);
});
