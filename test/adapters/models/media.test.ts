/**
 * Images and PDF documents: models that accept them get them where their provider wants them, and
 * the stand-ins accept the requests. Other models get a note.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, test } from 'node:test';
import type { StandInName } from '../../../src/adapters/models/stand-ins/index.js';
import type { FileRef } from '../../../src/domain/file-ref.js';
import type { Message } from '../../../src/domain/session/session.js';
import { standInModel } from '../../kit/models/stand-in-model.js';

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const PDF = Buffer.from('%PDF-1.4\n%%EOF\n');
const blobs = new Map<string, Buffer>();

function stored(name: string, mediaType: string, bytes: Buffer): FileRef {
  const blob = createHash('sha256').update(bytes).digest('hex');
  blobs.set(blob, bytes);
  return { name, mediaType, blob, bytes: bytes.length };
}

const IMAGE = stored('plan.png', 'image/png', PNG);
const DOCUMENT = stored('law.pdf', 'application/pdf', PDF);

const open: { close(): Promise<void> }[] = [];
after(() => Promise.all(open.map((server) => server.close())));

/** A task with a file, and a tool that shows one. Returns the request as it was sent. */
async function sent(as: StandInName, files: FileRef[], options: Parameters<typeof standInModel>[2] = {}) {
  const readBlob = (hash: string) => Promise.resolve(blobs.get(hash));
  const server = await standInModel(as, '- {say: I see.}', { readBlob, ...options });
  open.push(server);
  const messages: Message[] = [
    { role: 'user', content: 'Look.', files },
    { role: 'assistant', content: '', toolCalls: [{ id: 'abcdefghi', name: 'read', arguments: {} }] },
    { role: 'tool', toolCallId: 'abcdefghi', content: '[shown]', files },
  ];
  const reply = await server.call({
    model: 'x/y',
    system: 'You are a test.',
    messages,
    tools: [
      { name: 'read', description: 'Reads.', parameters: { type: 'object', properties: { path: { type: 'string' } } } },
    ],
    settings: {},
    agent: 'ana',
    task: 't',
    turn: 2,
  });
  assert.ok(reply.ok, JSON.stringify(reply));
  return JSON.stringify(server.bodies.at(-1));
}

const base64 = PNG.toString('base64');
const times = (text: string, part: string) => text.split(part).length - 1;

for (const as of ['anthropic', 'openai-responses', 'google', 'openai-chat', 'mistral'] as const)
  test(`${as}: an image of a task and one of a tool reach the model`, async () => {
    const body = await sent(as, [IMAGE]);
    assert.equal(times(body, base64), 2, body.slice(0, 3000));
  });

for (const as of ['anthropic', 'openai-responses', 'google'] as const)
  test(`${as}: a PDF document reaches the model`, async () => {
    const body = await sent(as, [DOCUMENT]);
    assert.equal(times(body, PDF.toString('base64')), 2, body.slice(0, 3000));
  });

test('a model that cannot see gets a note with the name, and no bytes', async () => {
  const body = await sent('deepseek', [IMAGE], { model: 'deepseek-v4-pro' });
  assert.equal(times(body, base64), 0);
  assert.equal(times(body, 'plan.png (image/png, 1 kB) is attached, but you cannot see such files'), 2);
  const chat = await sent('openai-chat', [DOCUMENT]);
  assert.equal(times(chat, 'law.pdf (application/pdf, 1 kB) is attached, but you cannot see such files'), 2);
});

test('a file whose bytes are gone is named, not sent', async () => {
  const body = await sent('anthropic', [{ ...IMAGE, blob: '0'.repeat(64) }]);
  assert.equal(times(body, 'plan.png (image/png, 1 kB) is not stored here any more'), 2);
});
