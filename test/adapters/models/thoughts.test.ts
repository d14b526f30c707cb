/**
 * Thoughts go back to the model that made them, while nothing before them has changed. The
 * stand-ins sign what they think and refuse what does not fit, as the providers do.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, test } from 'node:test';
import type { StandInName } from '../../../src/adapters/models/stand-ins/index.js';
import type { Message } from '../../../src/domain/session/session.js';
import type { ModelRequest, ToolSpec } from '../../../src/ports/model.js';
import { standInModel, type StandInModel } from '../../kit/models/stand-in-model.js';

const SCRIPT = `
- {when: stale, times: 1, fail: stale_thoughts, message: try again}
- {when: look, say: I will look., call: [{read: {path: a.md}}, {read: {path: b.md}}]}
- {say: 'Turn {{turn}}.'}
`;
const READ: ToolSpec = {
  name: 'read',
  description: 'Reads a file.',
  parameters: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
};

/** Counts the thoughts in a request, in each provider's format. */
const THOUGHTS: Partial<Record<StandInName, RegExp>> = {
  anthropic: /"type":"thinking"/g,
  'openai-responses': /"type":"reasoning"/g,
  google: /"thoughtSignature":"(?!skip_)/g,
  deepseek: /"reasoning_content":"[^"]/g,
};
const THINKING = Object.keys(THOUGHTS) as StandInName[];

const open: { close(): Promise<void> }[] = [];
after(() => Promise.all(open.map((server) => server.close())));

class Talk {
  readonly messages: Message[] = [];
  constructor(
    readonly as: StandInName,
    readonly server: StandInModel,
    readonly more: Partial<ModelRequest> = {},
  ) {}

  async say(content: string, more: Partial<ModelRequest> = {}): Promise<Message> {
    this.messages.push({ role: 'user', content });
    return this.ask(more);
  }

  /** Asks, and answers all calls. */
  async ask(more: Partial<ModelRequest> = {}): Promise<Message> {
    const reply = await this.server.call({
      model: 'x/y',
      system: 'You are a test.',
      messages: this.messages,
      tools: [READ],
      settings: {},
      agent: 'ana',
      task: 't',
      turn: 1 + this.messages.filter(({ role }) => role === 'assistant').length,
      ...this.more,
      ...more,
    });
    assert.ok(reply.ok, JSON.stringify(reply));
    const { text, toolCalls, provider } = reply.answer;
    const calls = toolCalls.map((call, at) => ({ ...call, id: `id${this.messages.length}-${at}-letters` }));
    const answer: Message = {
      role: 'assistant',
      content: text,
      ...(calls.length > 0 ? { toolCalls: calls } : {}),
      ...(provider ? { provider } : {}),
    };
    this.messages.push(answer);
    for (const { id } of calls) this.messages.push({ role: 'tool', toolCallId: id, content: `text of ${id}` });
    return answer;
  }

  /** Thoughts in the last request. */
  sent(): number {
    return JSON.stringify(this.server.bodies.at(-1)).match(THOUGHTS[this.as]!)?.length ?? 0;
  }
}

async function talk(as: StandInName, options: Parameters<typeof standInModel>[2] = {}, more?: Partial<ModelRequest>) {
  const server = await standInModel(as, SCRIPT, options);
  open.push(server);
  return new Talk(as, server, more);
}

for (const as of THINKING) {
  test(`${as}: all thoughts go back, across calls and messages`, async () => {
    const chat = await talk(as);
    for (const said of ['look at both', 'hurry', 'look again', 'thanks']) await chat.say(said);
    assert.equal(chat.sent(), 3, JSON.stringify(chat.server.bodies.at(-1)));
    await chat.say('look once more');
    assert.equal(chat.sent(), 4);
    await chat.ask();
    assert.equal(chat.sent(), 5, 'also right after results');
  });

  test(`${as}: after an edit, thoughts from there on are left out until there are new ones`, async () => {
    const chat = await talk(as);
    for (const said of ['look at both', 'and now', 'look again']) await chat.say(said);
    const edited = chat.messages.findIndex(({ content }) => content === 'and now');
    chat.messages[edited] = { role: 'user', content: 'and then' };
    await chat.say('more');
    assert.equal(chat.sent(), 1, 'the first answer came before the edit');
    await chat.say('and more');
    assert.equal(chat.sent(), 2, 'the answer after the edit has thoughts that fit');
  });

  test(`${as}: an edited answer goes back without its thoughts`, async () => {
    const chat = await talk(as);
    for (const said of ['one', 'look at it']) await chat.say(said);
    chat.messages[1] = { ...chat.messages[1]!, content: 'Something else.' };
    await chat.ask();
    assert.equal(chat.sent(), 0);
  });

  test(`${as}: with another system text or other tools, no thoughts go back`, async () => {
    const chat = await talk(as);
    for (const said of ['look at both', 'thanks']) await chat.say(said);
    await chat.say('again', { system: 'You are another test.' });
    assert.equal(chat.sent(), 0);
    await chat.say('again', { tools: [{ ...READ, description: 'Reads files.' }] });
    assert.equal(chat.sent(), 0);
  });

  test(`${as}: thoughts of another model or provider stay here`, async () => {
    const chat = await talk(as);
    for (const said of ['look at both', 'thanks']) await chat.say(said);
    const { messages } = chat;
    for (const [field, value] of [
      ['model', 'another-model'],
      ['name', 'another'],
    ] as const) {
      const foreign = messages.map((each) =>
        each.provider ? { ...each, provider: { ...each.provider, [field]: value } } : each,
      );
      await chat.ask({ messages: [...foreign, { role: 'user', content: 'go on' }] });
      assert.equal(chat.sent(), 0);
    }
  });

  test(`${as}: thoughts that the provider refuses are not sent again`, async () => {
    const chat = await talk(as);
    await chat.say('look at both');
    chat.messages.push({ role: 'user', content: 'this is stale' });
    await assert.rejects(chat.ask(), /stale_thoughts/);
    await chat.ask();
    assert.equal(chat.sent(), 0, 'the second attempt goes without them');
    await chat.say('go on');
    assert.equal(chat.sent(), 1, 'only the thoughts of the last answer');
  });

  test(`${as}: long thoughts come back from a blob, and damaged ones do not`, async () => {
    const blobs = new Map<string, Uint8Array>();
    const readBlob = (hash: string) => Promise.resolve(blobs.get(hash));
    const chat = await talk(as, { readBlob });
    for (const said of ['look at both', 'thanks']) await chat.say(said);
    const stored = chat.messages.map((message): Message => {
      if (!message.provider) return message;
      const { parts, ...provider } = message.provider;
      const blob = createHash('sha256').update(parts!).digest('hex');
      blobs.set(blob, Buffer.from(parts!));
      return { ...message, provider: { ...provider, blob } };
    });
    const next: Message = { role: 'user', content: 'go on' };
    await chat.ask({ messages: [...stored, next] });
    assert.equal(chat.sent(), 2);
    for (const [hash, bytes] of blobs) blobs.set(hash, Buffer.concat([bytes, Buffer.from(' ')]));
    await chat.ask({ messages: [...stored.map((message) => ({ ...message })), next] });
    assert.equal(chat.sent(), 0);
  });
}

test('an older Claude thinks between calls while its thoughts are there', async () => {
  const settings = { reasoning: 'high', maxTokens: 8000 } as const;
  const chat = await talk('anthropic', { model: 'claude-haiku-4-5' }, { settings });
  await chat.say('look at both');
  await chat.ask();
  assert.equal(chat.sent(), 1);
  assert.equal((chat.server.bodies.at(-1)!['thinking'] as { type: string }).type, 'enabled');
  const bare = chat.messages.slice(0, 4).map(({ provider: _, ...message }) => message);
  await chat.ask({ messages: bare });
  assert.equal(chat.server.bodies.at(-1)!['thinking'], undefined, 'without the thoughts it may not think');
});
