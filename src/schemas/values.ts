/**
 * The kinds of values that people write in more than one file: text, lists of names, amounts,
 * durations, budgets. The error of each completes the sentence `"key" must be …`.
 */
import { PRIORITIES, PRIORITY_WORDS } from '../domain/task/priority.js';
import { BUDGET_KEYS, COUNT, DOLLARS, DURATION, count } from './amounts.js';
import { key, named } from './about.js';
import * as z from './zod.js';

/** Numbers and booleans count as text: `version: 1.2`. */
export const text = named('text', z.union([z.string(), z.number(), z.boolean()], { error: 'text' }));

export const name = named('name', z.union([z.string(), z.number()], { error: 'a name' }));

/** `[a, b]`, or `a, b` in one text. */
export const names = named('name or list of names', z.union([z.string(), z.array(name)], { error: 'a list of names' }));

/** The error of every value that is not the mapping it must be. */
export const mapping = { error: 'a mapping' };

export const flag = named('true or false', z.boolean({ error: 'true or false' }));

export function choice<const T extends readonly string[]>(words: T) {
  return z.enum(words, { error: `one of: ${words.join(', ')}` });
}

const priorityWords = z.enum([...PRIORITIES, ...PRIORITY_WORDS]);
export const priority = named(
  'A, B, C or D',
  z.union([priorityWords, z.literal([1, 2, 3, 4])], { error: 'A, B, C or D (critical, high, normal, low)' }),
);

export function number(min: number, max?: number) {
  const error = max === undefined ? `a number, at least ${min}` : `a number from ${min} to ${max}`;
  const schema = z.number({ error }).check(z.gte(min));
  return named('number', max === undefined ? schema : schema.check(z.lte(max)));
}

/** A whole number, also as `200k` or `1.5M`. */
export function whole(min = 0, error = `a whole number, at least ${min}`) {
  const digits = z.string({ error }).check(z.regex(COUNT));
  const enough = z.refine((value) => (count(value) ?? -1) >= min, { error });
  return named('whole number', z.union([z.int({ error }).check(z.gte(min)), digits], { error }).check(enough));
}

/** `60s`, `10m`, `1h`, or a number of seconds. */
export const duration = durationAs('a duration, such as 60s, 10m or 1h');

function durationAs(error: string) {
  const seconds = z.number({ error }).check(z.gte(0));
  return named('duration', z.union([seconds, z.string({ error }).check(z.regex(DURATION))], { error }));
}

function dollars(error: string) {
  const plain = z.number({ error }).check(z.gte(0));
  return named('dollars', z.union([plain, z.string({ error }).check(z.regex(DOLLARS))], { error }));
}

const want = (name: keyof typeof BUDGET_KEYS): string => BUDGET_KEYS[name].want;

export const budget = named(
  'budget',
  z.strictObject(
    {
      turns: key(whole(0, want('turns')), 'Model calls.', { example: '30' }),
      tokens: key(whole(0, want('tokens')), 'Input and output tokens.', { example: '200k' }),
      usd: key(dollars(want('usd')), 'US dollars.', { example: '1.50' }),
      time: key(durationAs(want('time')), 'Time from the start of the task.', { example: '10m' }),
      tool_calls: key(whole(0, want('tool_calls')), 'Tool calls.', { example: '100' }),
      children: key(whole(0, want('children')), 'Tasks created below the task, at any depth.', { example: '20' }),
      micro_usd: key(
        whole(0, want('micro_usd')),
        'The exact form of `usd`, in millionths of a dollar. Task records use it.',
        { example: '1500000' },
      ),
      time_ms: key(whole(0, want('time_ms')), 'The exact form of `time`, in milliseconds. Task records use it.', {
        example: '600000',
      }),
    },
    { error: 'a mapping of turns, tokens, usd, time, tool_calls, children' },
  ),
);

/** Settings of a model, for an agent or an alias. */
export const MODEL_SETTINGS = {
  temperature: key(number(0, 2), 'Sampling temperature.', { default: 'set by the provider', example: '0.3' }),
  max_tokens: key(whole(1), 'The most tokens that one answer may have.', {
    default: 'set by the provider',
    example: '4k',
  }),
  top_p: key(number(0, 1), 'Nucleus sampling.', { default: 'set by the provider', example: '0.9' }),
  top_k: key(whole(), 'Sample from this many tokens.', { default: 'set by the provider', example: '40' }),
  reasoning: key(
    choice(['none', 'minimal', 'low', 'medium', 'high', 'default']),
    'How much the model may think before it answers. `default` leaves it to the provider.',
    { default: '`default`', example: 'low' },
  ),
};

/** A default that the program's own constants set. */
export function at(value: number): { default: string } {
  return { default: `\`${value}\`` };
}
