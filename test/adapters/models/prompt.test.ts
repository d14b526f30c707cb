/**
 * Prompts meet the providers' requirements, even if people edit the conversation or write during
 * tool calls.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc } from '../../kit/properties.js';
import { chatBodyWriter } from '../../../src/adapters/models/ai-sdk/chat-body.js';
import { dialectOf } from '../../../src/adapters/models/ai-sdk/dialect.js';
import { promptWriter } from '../../../src/adapters/models/ai-sdk/prompt/prompt.js';
import type { Prompt } from '../../../src/adapters/models/ai-sdk/prompt/types.js';
import type { Message } from '../../../src/domain/session/session.js';
import { compactor } from '../../../src/engine/conversation/compact.js';

/** A conversation in which people have added, moved and removed messages. */
const edited = fc
  .tuple(
    fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 8 }),
    fc.array(fc.tuple(fc.nat(), fc.constantFrom('said', 'removed', 'twice', 'stray')), { maxLength: 8 }),
  )
  .map(([turns, edits]) => {
    const messages: Message[] = [{ role: 'user', content: 'the request' }];
    for (const [n, count] of turns.entries()) {
      const ids = Array.from({ length: count }, (_, i) => `c${n}-${i}`);
      const toolCalls = ids.map((id) => ({ id, name: 'look', arguments: {} }));
      messages.push({ role: 'assistant', content: `turn ${n}`, ...(count > 0 ? { toolCalls } : {}) });
      messages.push(...ids.map((id): Message => ({ role: 'tool', content: `found ${id}`, toolCallId: id })));
    }
    for (const [i, [at, what]] of edits.entries()) {
      const place = 1 + (at % messages.length);
      if (what === 'removed') messages.splice(place, 1);
      else if (what === 'twice' && messages[place]) messages.splice(place, 0, messages[place]);
      else if (what === 'stray') messages.splice(place, 0, { role: 'tool', content: `stray ${i}`, toolCallId: 'none' });
      else messages.splice(place, 0, { role: 'user', content: `person ${i}` });
    }
    return messages;
  });

function assertAccepted(prompt: Prompt): void {
  for (const [i, message] of prompt.entries()) {
    if (i > 0) assert.ok(message.role === 'assistant' || message.role !== prompt[i - 1]!.role, `${message.role} twice`);
    if (message.role === 'tool') assert.equal(prompt[i - 1]?.role, 'assistant', 'results come after a call');
    if (message.role !== 'assistant') continue;
    const calls = message.content.flatMap((part) => (part.type === 'tool-call' ? [part.toolCallId] : []));
    const next = prompt[i + 1];
    const given =
      next?.role === 'tool' ? next.content.map((part) => (part.type === 'tool-result' ? part.toolCallId : '')) : [];
    assert.deepEqual([...given].sort(), [...calls].sort(), 'each call is followed by its one result');
  }
}

test('every tool call is followed by its results, and no message is lost', () => {
  fc.assert(
    fc.property(edited, (messages) => {
      const prompt = promptWriter().toPrompt('You are a test.', messages);
      assertAccepted(prompt);
      const text = JSON.stringify(prompt);
      for (const { role, content } of messages) assert.ok(role === 'system' || text.includes(content), content);
    }),
    { numRuns: 500 },
  );
});

test('the same holds if only the end of a long conversation is shown', () => {
  fc.assert(
    fc.property(edited, (messages) => {
      const all: Message[] = [...messages];
      const { view: show, compaction } = compactor(2000, 0, 100);
      all.push(...[compaction(all, true)].flatMap((outline) => outline ?? []));
      const view = show(all);
      assertAccepted(promptWriter().toPrompt('', view));
      const shown = new Set(view.flatMap(({ toolCalls }) => (toolCalls ?? []).map(({ id }) => id)));
      const called = new Set(messages.flatMap(({ toolCalls }) => (toolCalls ?? []).map(({ id }) => id)));
      for (const { role, toolCallId = '' } of view)
        if (role === 'tool' && called.has(toolCallId)) assert.ok(shown.has(toolCallId), 'its call is shown too');
    }),
    { numRuns: 500 },
  );
});

test('a message written while a tool runs comes after its result', () => {
  const toolCalls = [
    { id: 'a', name: 'look', arguments: {} },
    { id: 'b', name: 'look', arguments: {} },
  ];
  const prompt = promptWriter().toPrompt('', [
    { role: 'user', content: 'go' },
    { role: 'assistant', content: '', toolCalls },
    { role: 'tool', content: 'first', toolCallId: 'a' },
    { role: 'user', content: 'hurry' },
    { role: 'tool', content: 'second', toolCallId: 'b' },
  ]);
  assert.deepEqual(
    prompt.map(({ role }) => role),
    ['user', 'assistant', 'tool', 'user'],
  );
  assert.match(JSON.stringify(prompt[2]), /first.*second/);
  assert.match(JSON.stringify(prompt[3]), /hurry/);
});

test('the body of a growing conversation is the same as if it were written at once', () => {
  const thoughts = { sent: new Map() } as never;
  // Texts are cached only if no file is shown.
  const media = { isInside: false, show: () => ({ note: '' }) };
  fc.assert(
    fc.property(edited, fc.boolean(), (messages, isMistral) => {
      const dialect = dialectOf({ provider: 'local', model: isMistral ? 'mistral' : 'other', baseUrl: 'http://local' });
      // Long enough for its text to be kept.
      const growing: Message[] = Array.from({ length: 60 }, (_, n) => ({
        role: n % 2 === 0 ? 'user' : 'assistant',
        content: `message ${n}`,
      }));
      const request = { system: 'You are a test.', messages: growing, tools: [], settings: {} } as never;
      const body = chatBodyWriter(promptWriter());
      for (const message of messages) {
        growing.push(message);
        const atOnce = body('m', request, dialect, { thoughts, media });
        assert.equal(body('m', request, dialect, { thoughts, media: undefined }), atOnce);
      }
    }),
    { numRuns: 100 },
  );
});
