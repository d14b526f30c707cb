/**
 * The JSON Schema of a plugin's tool in two forms: whole for the model, and reduced to what our
 * check of arguments understands. The plugin checks the rest itself.
 */
import { defined } from '../../domain/defined.js';
import { isMapping } from '../../domain/mapping.js';
import type { JsonSchema } from '../../ports/model.js';

type Anything = Record<string, unknown>;

const COMBINATORS = ['anyOf', 'oneOf', 'allOf'] as const;

/**
 * For the model. Providers want a plain object at the top, so a reference there is resolved and
 * alternatives are merged into one object with all their properties, none of them required.
 */
export function shownSchema(schema: JsonSchema): JsonSchema {
  const { $ref, ...top } = schema as unknown as Anything;
  const target = typeof $ref === 'string' ? (follow(top, $ref) ?? {}) : {};
  const whole: Anything = { ...target, ...top };
  const branches = COMBINATORS.flatMap((name) => (Array.isArray(whole[name]) ? (whole[name] as Anything[]) : []));
  const own = isMapping(whole['properties']) ? whole['properties'] : {};
  const merged = Object.assign({}, ...branches.map((branch) => branch['properties'] ?? {}), own) as Anything;
  for (const name of [...COMBINATORS, '$schema']) delete whole[name];
  const more = branches.length > 0 ? { additionalProperties: true } : {};
  return { ...whole, ...more, type: 'object', properties: merged } as unknown as JsonSchema;
}

function follow(root: Anything, reference: string): Anything | undefined {
  if (!reference.startsWith('#/')) return undefined;
  let at: unknown = root;
  for (const part of reference.slice(2).split('/')) at = isMapping(at) ? at[part] : undefined;
  return isMapping(at) ? at : undefined;
}

const TYPES = new Set<unknown>(['object', 'string', 'integer', 'number', 'boolean', 'array']);
const MAX_DEPTH = 8;

/** For our check, which accepts anything where it meets `anyOf`, a list of types or `$ref`. */
export function checkedSchema(schema: JsonSchema): JsonSchema {
  return reduced(schema, 0) ?? { type: 'object', additionalProperties: true };
}

function reduced(schema: JsonSchema, depth: number): JsonSchema | undefined {
  if (!isMapping(schema) || !TYPES.has(schema.type) || depth > MAX_DEPTH) return undefined;
  const { type, minimum, maximum } = schema;
  if (type === 'array') {
    const items = schema.items === undefined ? undefined : reduced(schema.items, depth + 1);
    return defined({ type, items });
  }
  if (type !== 'object') {
    const isPlain = schema.enum?.every((value) => typeof value === 'string');
    return defined({
      type,
      enum: type === 'string' && isPlain ? schema.enum : undefined,
      minimum: typeof minimum === 'number' ? minimum : undefined,
      maximum: typeof maximum === 'number' ? maximum : undefined,
    });
  }
  const all = Object.entries(schema.properties ?? {});
  const known = all.flatMap(([name, property]) => {
    const part = reduced(property, depth + 1);
    return part ? [[name, part] as const] : [];
  });
  const names = new Set(known.map(([name]) => name));
  // A name that is not declared is usually misspelled, so it is refused if all names are known.
  const { additionalProperties: more } = schema;
  const isClosed = !more && all.length > 0 && known.length === all.length;
  return defined({
    type,
    properties: Object.fromEntries(known),
    required: required(schema).filter((name) => names.has(name)),
    additionalProperties: isClosed ? undefined : true,
  });
}

/** Some servers list a property with a default as required and fill it in themselves. */
function required({ required: names, properties = {} }: JsonSchema): string[] {
  if (!Array.isArray(names)) return [];
  return names.filter((name) => !('default' in (properties[name] ?? {})));
}
