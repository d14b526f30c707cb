/**
 * Structured output: providers that can be held to a JSON Schema get it in their own field, and no
 * stand-in refuses it. Other providers get nothing that would keep an agent from its tools.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StandInName } from '../../../src/adapters/models/stand-ins/index.js';
import type { JsonSchema, ModelRequest } from '../../../src/ports/model.js';
import { standInModel } from '../../kit/models/stand-in-model.js';

const FORMAT: JsonSchema = {
  type: 'object',
  properties: { title: { type: 'string' }, points: { type: 'array', items: { type: 'string' } } },
  required: ['title', 'points'],
};
const READ = {
  name: 'read',
  description: 'Reads.',
  parameters: { type: 'object' as const, properties: { path: { type: 'string' as const } } },
};

async function sent(as: StandInName, more: Partial<ModelRequest>, options: { model?: string } = {}): Promise<any> {
  const model = await standInModel(as, '- {say: \'{"title": "t", "points": []}\'}', options);
  const request = { model: '', system: 'Answer.', messages: [{ role: 'user' as const, content: 'x' }], tools: [] };
  const reply = await model.call({
    ...request,
    settings: {},
    agent: 'ana',
    task: 't',
    turn: 1,
    format: FORMAT,
    ...more,
  });
  await model.close();
  assert.ok(reply.ok, JSON.stringify(reply));
  return model.bodies[0];
}

const CLOSED = { ...FORMAT, additionalProperties: false };
const FIELDS: Record<StandInName, (body: any) => unknown> = {
  'openai-responses': (body) => body.text?.format?.schema,
  'openai-chat': (body) => body.response_format?.json_schema?.schema,
  anthropic: (body) => body.output_config?.format?.schema,
  google: (body) => body.generationConfig?.responseJsonSchema,
  mistral: (body) => body.response_format?.json_schema?.schema,
  deepseek: (body) => body.response_format,
};
const WITH_TOOLS: readonly StandInName[] = ['openai-responses', 'openai-chat', 'anthropic', 'google'];

for (const as of Object.keys(FIELDS) as StandInName[]) {
  test(`${as}: the schema of the answer is sent where the provider has a field for it`, async () => {
    const alone = FIELDS[as](await sent(as, {}));
    if (as === 'deepseek') assert.equal(alone, undefined);
    else assert.deepEqual((alone as any).required, CLOSED.required, JSON.stringify(alone));
    const beside = FIELDS[as](await sent(as, { tools: [READ] }));
    if (WITH_TOOLS.includes(as)) assert.deepEqual(beside, alone);
    else assert.equal(beside, undefined, 'the agent must be able to call its tools');
  });
}

test('a schema with an optional property is not strict, which OpenAI would refuse', async () => {
  const loose: JsonSchema = { ...FORMAT, required: ['title'] };
  const body = await sent('openai-responses', { format: loose });
  assert.deepEqual([body.text.format.strict, body.text.format.schema.required], [false, ['title']]);
  assert.equal((await sent('openai-responses', {})).text.format.strict, true);
});

test('an older model is not asked for what it refuses', async () => {
  assert.equal(FIELDS.anthropic(await sent('anthropic', {}, { model: 'claude-opus-4-1' })), undefined);
  const body = await sent('google', { tools: [READ] }, { model: 'gemini-2.5-flash' });
  assert.equal(FIELDS.google(body), undefined);
});
