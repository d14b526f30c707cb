/** The parts of `guild.yaml` about models: aliases, providers, prices. */
import { OPENAI_APIS, PROVIDER_KINDS } from '../domain/config/config.js';
import { key, needed, rule } from './about.js';
import { MODEL_SETTINGS, choice, mapping, names, number, text } from './values.js';
import * as z from './zod.js';

export const alias = z.union(
  [
    names,
    z.strictObject({
      model: needed(names, 'The model, or a list that is tried in order.', {
        example: '[openai/gpt-5, fast]',
        spellings: ['models'],
      }),
      ...MODEL_SETTINGS,
    }),
  ],
  { error: 'a model, a list of models, or a mapping with "model"' },
);

const secret = z.never({ error: 'an API key must not be written in this file' });
const secretFacts = { hint: 'put the key into an environment variable and name the variable: key_env: MY_KEY' };

export const provider = z
  .strictObject(
    {
      kind: key(choice(PROVIDER_KINDS), 'The API that the provider speaks. `scripted` plays a script file.', {
        default: '`openai-compatible` if there is a `base_url`',
        example: 'openai-compatible',
      }),
      base_url: key(
        z.string({ error: 'an address that begins with http:// or https://' }).check(z.regex(/^https?:\/\/[^\s/]/)),
        'The address of the API. Required for `openai-compatible`.',
        { example: 'http://127.0.0.1:8080/v1' },
      ),
      key_env: key(text, 'The name of the environment variable that holds the API key.', {
        example: 'LOCAL_KEY',
        spellings: ['api_key_env'],
      }),
      api: key(choice(OPENAI_APIS), 'For `openai` with a `base_url`: the API that the server there speaks.', {
        default: '`chat`',
        example: 'responses',
      }),
      script: key(text, 'For `scripted`: the script file, relative to the workspace.', { default: '`script.yaml`' }),
      headers: key(
        z.record(z.string(), z.string({ error: 'text' }), mapping),
        'HTTP headers to send with every call.',
        {
          example: '{X-Team: a}',
        },
      ),
      api_key: key(secret, 'Refused: a key in a file ends up in a repository.', {
        ...secretFacts,
        spellings: ['key', 'token'],
      }),
    },
    mapping,
  )
  .check(
    rule(
      ({ kind, base_url }) => kind !== undefined || base_url !== undefined,
      `a provider needs "kind", one of: ${PROVIDER_KINDS.join(', ')}`,
    ),
    rule(
      ({ kind, base_url }) => kind !== 'openai-compatible' || base_url !== undefined,
      'a provider of kind openai-compatible needs "base_url"',
    ),
  );

const rates = {
  input: needed(number(0), 'US dollars for a million input tokens.', { example: '1.25' }),
  output: needed(number(0), 'US dollars for a million output tokens.', { example: '10' }),
  cached: key(number(0), 'US dollars for a million input tokens that come from the cache.', { example: '0.125' }),
  write: key(number(0), 'US dollars for a million input tokens that are written to the cache.', { example: '1.5' }),
};

export const price = z.strictObject(
  {
    ...rates,
    above: key(
      z.strictObject(
        {
          tokens: needed(number(1), 'The number of input tokens.', { example: '200000' }),
          ...rates,
        },
        mapping,
      ),
      'Other prices for the whole request if its input has more tokens than this.',
      { example: '{tokens: 200000, input: 2.5, output: 15}' },
    ),
  },
  mapping,
);
