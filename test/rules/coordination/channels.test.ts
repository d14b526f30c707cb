/** Who may tell what on which channel. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NoteBody } from '../../../src/domain/coordination/note.js';
import {
  channelsRead,
  isNamedWriter,
  refusedNote,
  type ChannelsKnown,
} from '../../../src/rules/coordination/channels.js';

const known: ChannelsKnown = {
  named: { news: { maxBytes: 1000, readers: ['bob'] }, ops: { maxBytes: 1000, writers: ['ana'] } },
  isAgent: (name) => ['ana', 'bob', 'cyd'].includes(name),
  team: (channel) => (channel === 'team/plan' ? ['ana', 'bob'] : undefined),
};
const said: NoteBody = { type: 'said', text: 'hello' };
const moved: NoteBody = {
  type: 'state_change',
  agent: 'ana',
  fromState: 'idle',
  toState: 'working',
  reason: '',
  trigger: '',
};

const TABLE: [string, string, NoteBody, string | undefined][] = [
  ['state', 'engine', moved, undefined],
  ['state', 'ana', said, 'not_allowed'],
  ['state', 'human', said, 'not_allowed'],
  ['help', 'ana', said, 'not_allowed'],
  ['state', 'ana', moved, 'forged'],
  ['news', 'ana', moved, 'forged'],
  ['news', 'ana', said, undefined],
  ['news', 'human', said, undefined],
  ['news', 'nobody', said, 'forged'],
  ['ops', 'ana', said, undefined],
  ['ops', 'bob', said, 'not_allowed'],
  ['ops', 'human', said, undefined],
  ['team/plan', 'bob', said, undefined],
  ['team/plan', 'cyd', said, 'not_allowed'],
  ['team/plan', 'human', said, undefined],
  ['team/other', 'ana', said, 'not_found'],
  ['nws', 'ana', said, 'not_found'],
  ['toString', 'ana', said, 'not_found'],
  ['news', 'ana', { type: 'said', text: 'ä'.repeat(600) }, 'over_limit'],
  ['news', 'ana', { type: 'said', text: 'a'.repeat(600) }, undefined],
];

for (const [channel, from, body, code] of TABLE)
  test(`${from} tells a ${body.type} on ${channel}: ${code ?? 'told'}`, () => {
    assert.equal(refusedNote({ channel, from, body }, known)?.code, code);
  });

test('what is refused comes with the channels one may write', () => {
  const refused = refusedNote({ channel: 'nws', from: 'bob', body: said }, known);
  assert.match(refused!.hint!, /did you mean "news"\? channels you may write: news$/);
});

test('writers and readers of channels', () => {
  assert.equal(isNamedWriter('ana', known.named), true);
  assert.equal(isNamedWriter('bob', known.named), false, 'all may write news, but it names nobody');
  assert.deepEqual(channelsRead('bob', known.named), ['news']);
});
