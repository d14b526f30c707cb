/** The stand-in for Google refuses what Google refuses. */
import assert from 'node:assert/strict';
import { judge, serve, type Case } from './kit.js';
import { RULES } from './rules/google.js';

const HEADERS = { 'x-goog-api-key': 'k' };
const path = (model: string) => `/v1beta/models/${model}:generateContent`;
const PATH = path('gemini-4-argon');
const user = (...parts: object[]): any => ({ role: 'user', parts: parts.length > 0 ? parts : [{ text: 'hello' }] });
const model = (...parts: object[]): any => ({ role: 'model', parts });
const call = (more: object = {}) => ({ functionCall: { name: 'read', args: { path: 'a.md' } }, ...more });
const response = (value: unknown = { output: 'text of a.md' }) => ({
  functionResponse: { name: 'read', response: value },
});
const skip = { thoughtSignature: 'skip_thought_signature_validator' };
const READ = {
  name: 'read',
  description: 'Reads.',
  parameters: { type: 'object', properties: { path: { type: 'string' } } },
};
const ask = (more: object = {}): any => ({ contents: [user()], tools: [{ functionDeclarations: [READ] }], ...more });
const talk = (...contents: any[]) => ask({ contents: [user({ text: 'look' }), ...contents] });
const schema = (parameters: object) => ask({ tools: [{ functionDeclarations: [{ ...READ, parameters }] }] });
const property = (inner: object) => schema({ type: 'object', properties: { a: inner } });
const thinking = (thinkingConfig: object) => ask({ generationConfig: { thinkingConfig } });
const good = ask();
const paired = talk(model(call(skip)), user(response()));
const signed = await signedConversation();
const edited = structuredClone(signed);
edited.contents[1].parts.find((part: any) => part.functionCall).functionCall.args.path = 'b.md';
const full = schema({ type: 'object', properties: { a: { type: 'string' } }, required: ['a'] });

const cases: Case[] = [
  {
    rule: '2.key',
    when: 'a request without a key',
    bad: good,
    good,
    headers: { 'x-goog-api-key': '' },
    says: /API key not valid/,
  },
  { rule: '6.json', when: 'a body that is not JSON', bad: '{', good, says: /Invalid JSON payload/ },
  {
    rule: '6.model-known',
    when: 'an unknown model',
    bad: good,
    path: path('gpt-5'),
    good,
    goodPath: PATH,
    status: 404,
    says: /models\/gpt-5 is not found for API version v1beta/,
  },
  {
    rule: '6.size',
    when: 'more than 20 MB',
    bad: `${JSON.stringify(good)}${' '.repeat(21 << 20)}`,
    good,
    says: /payload size exceeds the limit/,
  },
  {
    rule: '6.prompt-length',
    when: 'a prompt beyond the window',
    bad: ask({ contents: [user({ text: 'x'.repeat(4_300_000) })] }),
    good: ask({ contents: [user({ text: 'x'.repeat(4_000_000) })] }),
    says: /The input token count \(\d+\) exceeds the maximum number of tokens allowed \(1048576\)/,
  },
  {
    rule: '6.unknown-field',
    when: 'an unknown field',
    bad: ask({ foo: 1 }),
    good: ask({ system_instruction: { parts: [{ text: 'x' }] } }),
    says: /Unknown name "foo": Cannot find field/,
  },
  {
    rule: '6.unknown-field',
    when: 'an unknown field of a tool',
    bad: ask({ tools: [{ functionDeclarations: [{ ...READ, strict: true }] }] }),
    good,
    says: /Unknown name "strict" at 'tools\[0\]\.function_declarations\[0\]': Cannot find field/,
  },
  {
    rule: '6.role',
    when: 'an unknown role',
    bad: ask({ contents: [user(), { role: 'tool', parts: [{ text: 'x' }] }] }),
    good,
    says: /Please use a valid role: user, model/,
  },
  {
    rule: '6.parts-not-empty',
    when: 'a content without parts',
    bad: ask({ contents: [user(), { role: 'user', parts: [] }] }),
    good,
    says: /parts must not be empty/,
  },
  {
    rule: '6.begins-and-ends',
    when: 'a conversation that ends with the model',
    bad: talk(model({ text: 'x' })),
    good: talk(model({ text: 'x' }), user()),
    says: /alternate between user and model/,
  },
  {
    rule: '6.call-after-user',
    when: 'a call after a text of the model',
    bad: talk(model({ text: 'x' }), model(call(skip)), user(response())),
    good: paired,
    says: /function call turn comes immediately after a user turn/,
  },
  {
    rule: '6.as-many-responses',
    when: 'two calls with one response',
    bad: talk(model(call(skip), call()), user(response())),
    good: talk(model(call(skip), call()), user(response(), response())),
    says: /number of function response parts is equal to the number of function call parts/,
  },
  {
    rule: '6.as-many-responses',
    when: 'responses in two contents',
    bad: talk(model(call(skip), call()), user(response()), user(response())),
    good: paired,
    says: /number of function response parts/,
  },
  {
    rule: '6.response-object',
    when: 'a response that is a text',
    bad: talk(model(call(skip)), user(response('text'))),
    good: paired,
    says: /google\.protobuf\.Struct/,
  },
  {
    rule: '6.signature-given',
    when: 'a call of the running turn without signature',
    bad: talk(model(call()), user(response())),
    good: talk(model(call()), user(response()), model({ text: 'done' }), user()),
    says: /missing a thought_signature.*`default_api:read` , position 2/,
  },
  {
    rule: '6.signature-given',
    when: 'a second step without signature',
    bad: talk(model(call(skip)), user(response()), model(call()), user(response())),
    good: signed,
    says: /missing a thought_signature/,
  },
  {
    rule: '6.signature-genuine',
    when: 'a corrupted signature',
    bad: talk(model(call({ thoughtSignature: 'AAAA' })), user(response())),
    good: signed,
    says: /Corrupted thought signature/,
  },
  {
    rule: '6.signature-genuine',
    when: 'an edited call with its old signature',
    bad: edited,
    good: signed,
    says: /Thought signature is not valid/,
  },
  {
    rule: '6.signature-genuine',
    when: 'a signature of another model',
    bad: signed,
    path: path('gemini-3.8-flash'),
    good: signed,
    goodPath: PATH,
    says: /Thought signature is not valid/,
  },
  {
    rule: '6.max-output',
    when: 'more output than the model has',
    bad: ask({ generationConfig: { maxOutputTokens: 65_537 } }),
    good: ask({ generationConfig: { maxOutputTokens: 65_536 } }),
    says: /maxOutputTokens value of 65537/,
  },
  {
    rule: '6.cached-content',
    when: 'cachedContent on Gemini 4',
    bad: ask({ cachedContent: 'cachedContents/x' }),
    good: ask({ cachedContent: 'cachedContents/x' }),
    goodPath: path('gemini-3.1-pro-preview'),
    says: /caching is not supported/,
  },
  {
    rule: '6.thinking-budget',
    when: 'a budget on Gemini 4',
    bad: thinking({ thinkingBudget: 100 }),
    good: thinking({ thinkingLevel: 'low' }),
    says: /budget is not supported/,
  },
  {
    rule: '6.thinking-budget',
    when: 'a level and a budget on Gemini 3',
    path: path('gemini-3.1-pro-preview'),
    bad: thinking({ thinkingBudget: 100, thinkingLevel: 'low' }),
    good: thinking({ thinkingBudget: 100 }),
    says: /only one of thinking budget and thinking level/,
  },
  {
    rule: '6.thinking-level',
    when: 'level minimal on Gemini 4',
    bad: thinking({ thinkingLevel: 'minimal' }),
    good: thinking({ thinkingLevel: 'minimal' }),
    goodPath: path('gemini-3.8-flash'),
    says: /MINIMAL is not supported/,
  },
  {
    rule: '6.thinking-level',
    when: 'a level on Gemini 2.5',
    path: path('gemini-2.5-pro'),
    bad: thinking({ thinkingLevel: 'low' }),
    good: thinking({ thinkingBudget: 100 }),
    says: /LOW is not supported/,
  },
  ...(
    [
      [
        'const',
        property({ const: 'x' }),
        /Unknown name "const" at 'tools\[0\]\.function_declarations\[0\]\.parameters\.properties\.a'/,
      ],
      ['oneOf', property({ oneOf: [] }), /Unknown name "oneOf"/],
      [
        'patternProperties',
        schema({ type: 'object', properties: { a: { type: 'string' } }, patternProperties: {} }),
        /Unknown name "patternProperties"/,
      ],
      ['a list of types', property({ type: ['string', 'null'] }), /Proto field is not repeating/],
      ['an array without items', property({ type: 'array' }), /items: missing field/],
      ['an enum of numbers', property({ type: 'integer', enum: [1] }), /TYPE_STRING/],
      ['empty properties', schema({ type: 'object', properties: {} }), /should be non-empty for OBJECT type/],
      [
        'a required name that is no property',
        schema({ type: 'object', properties: { a: { type: 'string' } }, required: ['b'] }),
        /property is not defined/,
      ],
    ] as const
  ).map(([what, bad, says]) => ({ rule: '6.schema', when: `a schema with ${what}`, bad, good: full, says })),
  {
    rule: '6.schema',
    when: 'a null type that only parametersJsonSchema may have',
    bad: property({ type: ['string', 'null'] }),
    good: ask({
      tools: [
        {
          functionDeclarations: [
            { name: 'read', parametersJsonSchema: { type: 'object', properties: { a: { type: ['string', 'null'] } } } },
          ],
        },
      ],
    }),
    says: /Proto field/,
  },
  {
    rule: '6.function-name',
    when: 'a name that begins with a digit',
    bad: ask({ tools: [{ functionDeclarations: [{ ...READ, name: '1read' }] }] }),
    good,
    says: /Invalid function name\. Must start with a letter or an underscore/,
  },
  {
    rule: '6.function-name',
    when: 'two functions of one name',
    bad: ask({ tools: [{ functionDeclarations: [READ, READ] }] }),
    good,
    says: /Duplicate function declaration/,
  },
];

judge('google', { rules: RULES, path: PATH, headers: HEADERS, messageOf: (body) => body.error.message, cases });

/** A call that the stand-in itself signed, with its response. */
async function signedConversation(): Promise<any> {
  const server = await serve('google', HEADERS);
  const request = talk();
  const { body, text } = await server.post(PATH, request);
  const content = body.candidates?.[0].content;
  assert.ok(content, text);
  return { ...request, contents: [...request.contents, content, user(response())] };
}
