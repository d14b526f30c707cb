/**
 * The part of JSON Schema in which an agent declares its result (`output`) and what it expects
 * (`input`). Small enough that every provider understands it and the program can check it.
 */
import { isMapping } from '../mapping.js';
export interface AnswerSchema {
  type: (typeof TYPES)[number];
  description?: string;
  properties?: Record<string, AnswerSchema>;
  required?: string[];
  items?: AnswerSchema;
  enum?: string[];
  minimum?: number;
  maximum?: number;
  additionalProperties?: boolean;
}

const TYPES = ['object', 'string', 'integer', 'number', 'boolean', 'array'] as const;
const KEYS = 'type description title properties required items enum minimum maximum additionalProperties'.split(' ');
const MAX_DEPTH = 8;

interface SchemaFault {
  path: string[];
  message: string;
}

/** The first fault in it. The top must be an object with properties. */
export function schemaFault(schema: unknown): SchemaFault | undefined {
  const fault = faultIn(schema, []);
  if (fault !== undefined) return fault;
  const { type, properties = {} } = schema as AnswerSchema;
  if (type === 'object' && Object.keys(properties).length > 0) return undefined;
  return { path: [], message: 'must be the schema of an object with "properties"' };
}

function faultIn(schema: unknown, path: string[]): SchemaFault | undefined {
  const wrong = (key: string, message: string): SchemaFault => ({ path: [...path, key], message });
  if (!isMapping(schema)) return { path, message: 'must be a mapping such as {type: string}' };
  if (path.length > 2 * MAX_DEPTH) return { path, message: `is nested deeper than ${MAX_DEPTH} levels` };
  const unknown = Object.keys(schema).find((key) => !KEYS.includes(key));
  if (unknown !== undefined) return wrong(unknown, `is not known here; the keys are: ${KEYS.join(', ')}`);
  const { type, properties, required, items, enum: values } = schema;
  if (type === undefined) return { path, message: 'needs "type"' };
  if (!TYPES.some((known) => known === type)) return wrong('type', `must be one of: ${TYPES.join(', ')}`);
  if (values !== undefined && (type !== 'string' || !isTexts(values) || values.length === 0))
    return wrong('enum', 'must be a list of texts, in a schema of type string');
  if (required !== undefined && !isTexts(required)) return wrong('required', 'must be a list of names');
  if (properties !== undefined && !isMapping(properties)) return wrong('properties', 'must be a mapping');
  const known = Object.keys(properties ?? {});
  const missing = (required ?? []).find((name) => !known.includes(name));
  if (missing !== undefined) return wrong('required', `names "${missing}", which is not in "properties"`);
  for (const [name, property] of Object.entries(properties ?? {})) {
    const fault = faultIn(property, [...path, 'properties', name]);
    if (fault !== undefined) return fault;
  }
  return items === undefined ? undefined : faultIn(items, [...path, 'items']);
}

/** The input of `next` that `output` does not promise; undefined if they fit. */
export function misfit(output: AnswerSchema, next: AnswerSchema, at = ''): string | undefined {
  const name = at === '' ? 'the result' : `"${at}"`;
  if (output.type !== next.type && !(output.type === 'integer' && next.type === 'number'))
    return `${name} is of type ${output.type}, and ${next.type} is expected`;
  if (next.enum !== undefined && !(output.enum ?? ['']).every((value) => next.enum!.includes(value)))
    return `${name} may be something other than ${next.enum.join(', ')}`;
  for (const key of next.required ?? []) {
    const path = at === '' ? key : `${at}.${key}`;
    if (output.properties?.[key] === undefined) return `"${path}" is required, but missing in the result schema`;
    if (!output.required?.includes(key)) return `"${path}" is expected and may be missing in the result`;
  }
  for (const [key, expected] of Object.entries(next.properties ?? {})) {
    const own = output.properties?.[key];
    const wrong = own && misfit(own, expected, at === '' ? key : `${at}.${key}`);
    if (wrong !== undefined) return wrong;
  }
  return output.items && next.items ? misfit(output.items, next.items, `${at}[]`) : undefined;
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}
