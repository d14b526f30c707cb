/** A note is published only on a channel that its sender may write to. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NoteBody } from '../../../src/domain/coordination/note.js';
import {
  channelsRead,
  isNamedWriter,
  refusedNote,
  type ChannelFacts,
} from '../../../src/rules/coordination/channels.js';

const facts: ChannelFacts = {
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
  test(`${from} publishes ${body.type} on ${channel}: ${code ?? 'allowed'}`, () => {
    assert.equal(refusedNote({ channel, from, body }, facts)?.code, code);
  });

test('a refusal lists the channels that the sender may write', () => {
  const refused = refusedNote({ channel: 'nws', from: 'bob', body: said }, facts);
  assert.match(refused!.hint!, /did you mean "news"\? channels you may write to: news$/);
});

test('guild.yaml names the writers and readers of a channel', () => {
  assert.equal(isNamedWriter('ana', facts.named), true);
  assert.equal(isNamedWriter('bob', facts.named), false, 'all may write news, but it names no writers');
  assert.deepEqual(channelsRead('bob', facts.named), ['news']);
});
