/**
 * Facts about a schema that zod does not keep: what a key means, its default and an example.
 * Error messages, the published JSON Schema and the reference pages all read them from here.
 */
import { defined } from '../domain/defined.js';
import type { ProblemCode } from '../domain/problem.js';
import * as z from './zod.js';

export interface About {
  /** The meaning of the key, in one or two sentences. */
  description?: string;
  /** The default, as a person would write it. */
  default?: string;
  /** A value, as a person would write it. */
  example?: string;
  /** Other keys that mean the same. `max_tokens` may always be written `maxTokens`. */
  spellings?: readonly string[];
  /** One safe next step for a person who gave a wrong value. */
  hint?: string;
  /** The name of the type, for the reference. */
  type?: string;
}

export const ABOUT = z.registry<About>();

export type Schema = z.ZodMiniType;

/** An optional key of a mapping. */
export function key<S extends Schema>(schema: S, description: string, more: About = {}): z.ZodMiniOptional<S> {
  return about(z.optional(schema), { description, ...more });
}

/** An optional key that may be `null`, which counts as absent. */
export function nullable<S extends Schema>(schema: S, description: string, more: About = {}) {
  return key(z.nullable(schema), description, more);
}

/** A key that must be there. */
export function needed<S extends Schema>(schema: S, description: string, more: About = {}): S {
  return about(schema.clone(schema._zod.def), { ...ABOUT.get(schema), description, ...more });
}

/** A check whose message is a whole sentence. Other errors complete `"key" must be …`. */
export function rule<T>(holds: (value: T) => boolean, message: string, more: RuleFacts = {}) {
  const { path, ...facts } = more;
  return z.refine<T>(holds, defined({ error: message, params: { rule: facts }, path }));
}

interface RuleFacts {
  /** The key with the mistake, unless it is the whole mapping. */
  path?: [string];
  code?: ProblemCode;
  side?: 'key' | 'value';
  hint?: string;
}

/** Names a type for the reference. */
export function named<S extends Schema>(type: string, schema: S): S {
  return about(schema, { type });
}

function about<S extends Schema>(schema: S, facts: About): S {
  ABOUT.add(schema, facts);
  return schema;
}
