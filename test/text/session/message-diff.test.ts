/** Diffs between two versions of a conversation. */
import assert from 'node:assert/strict';
import test from 'node:test';
import type { Message } from '../../../src/domain/session/session.js';
import { diffMessages } from '../../../src/text/session/message-diff.js';

const user = (content: string): Message => ({ role: 'user', content });
const assistant = (content: string): Message => ({ role: 'assistant', content });

test("a person's edit is counted and shown", () => {
  const before = [user('one'), assistant('two\nthree\nfour')];
  const after = [user('one'), assistant('two\n3\nfour'), user('stop')];
  assert.deepEqual(diffMessages(before, before), { added: 0, changed: 0, removed: 0, diff: '' });
  assert.deepEqual(diffMessages(before, after), {
    added: 1,
    changed: 1,
    removed: 0,
    diff: '@ message 2, assistant\n- three\n+ 3\n@ message 3, user\n+ role: user\n+ stop',
  });
  assert.deepEqual(diffMessages(after, [after[0]!, after[2]!]).removed, 1);
  const many = Array.from({ length: 5000 }, () => before[1]!);
  assert.ok(diffMessages([], many).diff.split('\n').length < 50);
});

test('two edits far apart leave out the messages in between', () => {
  const before = Array.from({ length: 20 }, (_, i) => user(`message ${i + 1}`));
  const after = before.with(1, user('second')).with(17, user('eighteenth'));
  assert.deepEqual(diffMessages(before, after), {
    added: 0,
    changed: 2,
    removed: 0,
    diff: '@ message 2, user\n- message 2\n+ second\n@ message 18, user\n- message 18\n+ eighteenth',
  });
});
