/** What a certificate says to people. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { certificateText, shortCertificate } from '../../../src/domain/task/certificate.js';

test('a certificate is short if nothing is left, and has all numbers if something is', () => {
  const clear = { open: 0, unread: 0, effects: 0, agreed: 1, of: 1 };
  assert.equal(shortCertificate(clear), 'nothing open, unread or half done; the only process agrees');
  const edited = { ...clear, unread: 2, agreed: 2, of: 3 };
  assert.equal(shortCertificate(edited), certificateText(edited));
  assert.match(certificateText(edited), /^0 open tasks, 2 unread notes, .*; 2 of 3 processes agree$/);
});
