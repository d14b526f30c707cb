/** `guild notes` shows the notes of the program as sentences. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NoteBody } from '../../src/domain/coordination/note.js';
import { unfenced } from '../../src/rules/patterns/gather.js';
import { summary } from '../../src/views/summary.js';
import { noteText } from '../../src/views/note-text.js';

const SENTENCES: [NoteBody, string][] = [
  [
    {
      type: 'dependency_request',
      requester: 'ana',
      dependency: 'q.call-1',
      dependencyType: 'data',
      requirements: { need: 'the columns', dataType: 'schema', expertise: ['sql', 'tables'] },
      urgency: 'high',
    },
    'ana needs data: the columns (kind of data: schema; expertise: sql, tables) [q.call-1]',
  ],
  [
    { type: 'dependency_offer', dependency: 'q.call-1', provider: 'ben', fitness: 70 },
    'ben offers it, fitness 70 of 100 [q.call-1]',
  ],
  [
    { type: 'dependency_offer', dependency: 'q.call-1', provider: 'cyd', fitness: 60, steppedBack: 'ben' },
    'cyd steps back for ben, fitness 60 of 100 [q.call-1]',
  ],
  [
    { type: 'dependency_award', dependency: 'q.call-1', requester: 'ana', provider: 'ben', why: 'it is the best' },
    'ben provides it to ana, because it is the best [q.call-1]',
  ],
  [
    {
      type: 'dependency_resolution',
      provider: 'ben',
      requester: 'ana',
      dependency: 'q.call-1',
      resolution: { status: 'partial', provider: 'ben', data: 'id' },
    },
    'partial for ana by ben: id [q.call-1]',
  ],
  [
    {
      type: 'dependency_resolution',
      provider: 'engine',
      requester: 'ana',
      dependency: 'q.call-1',
      resolution: { status: 'resolved', provider: 'engine', data: 'you hold p' },
    },
    'resolved for ana: you hold p [q.call-1]',
  ],
  [
    { type: 'deadlock', cycle: ['a', 'turn:ben'], victim: 'a', rule: 'the first gives way', cancelled: 'a.call-1' },
    'deadlock: a → the conversation ben → a; a gives way, a.call-1 is cancelled: the first gives way',
  ],
  [
    { type: 'completion_vote', peer: 'p1', root: 'q', ballot: 7, phase: 2, ready: true },
    'p1 has nothing left to do for q, asked again [vote 7]',
  ],
];

test('every note of the program reads as a sentence', () => {
  for (const [body, sentence] of SENTENCES) assert.equal(noteText(body), sentence);
});

test('in a tree, the stages of a dependency show their outcome', () => {
  const part = (role: string, result?: string) => ({
    role,
    type: 'data',
    description: 'the columns',
    ...(result === undefined ? {} : { result }),
  });
  assert.equal(summary(part('dependency')), 'data: the columns');
  const resolved = '{"status":"resolved","provider":"ben","data":"id"}';
  assert.equal(summary(part('dependency', resolved)), 'data: the columns (resolved by ben)');
  const held = '{"status":"resolved","provider":"engine","data":"you hold p"}';
  assert.equal(summary(part('dependency', held)), 'data: the columns (resolved)');
  assert.equal(summary(part('match', '{"assign":"ben","reason":"its field"}')), 'ben: its field');
  assert.equal(summary(part('match', 'I do not know')), 'the columns');
  assert.equal(summary(part('provide', 'id, name')), 'id, name');
  assert.equal(summary(part('provide', '{"provided":"failed","data":"no idea"}')), 'failed: no idea');
  assert.equal(summary(part('provide', '{"provided":"resolved"}')), 'yes');
  assert.equal(unfenced('Say <need__2bbes182tfx agent="ana">this</need__2bbes182tfx>'), 'Say this');
});
