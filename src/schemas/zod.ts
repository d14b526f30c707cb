/**
 * The parts of zod that the schemas use. The build bundles this module into one file, because
 * loading zod's own modules takes some 70 ms. The schemas also run in a page with a strict content
 * security policy, so they use no eval.
 */
import { config } from 'zod/mini';

config({ jitless: true });

export {
  array,
  boolean,
  enum,
  gt,
  gte,
  int,
  literal,
  looseObject,
  lte,
  minLength,
  never,
  null,
  nullable,
  number,
  object,
  optional,
  record,
  refine,
  regex,
  registry,
  strictObject,
  string,
  superRefine,
  union,
  unknown,
} from 'zod/mini';
export type { core, infer, ZodMiniOptional, ZodMiniType } from 'zod/mini';
