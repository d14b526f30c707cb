/** Checks function tools, for both of OpenAI's APIs. */
import { isMapping } from '../../../../domain/mapping.js';
import { objectOf, stringOf, type Json } from '../wire/json.js';

interface ToolFaults {
  name(at: number): void;
  schema(message: string): void;
  strict(message: string): void;
}

export function checkTool(tool: Json, at: number, faults: ToolFaults): void {
  const name = stringOf(tool['name']);
  if (!/^[a-zA-Z0-9_-]{1,64}$/.test(name)) faults.name(at);
  const { parameters } = tool;
  if (parameters === undefined || parameters === null) return;
  checkSchema(`Invalid schema for function '${name}': `, parameters, tool['strict'] === true, faults);
}

/** Checks the schema of a tool, or of the answer itself. */
export function checkSchema(
  intro: string,
  parameters: unknown,
  isStrict: boolean,
  faults: Pick<ToolFaults, 'schema' | 'strict'>,
): void {
  if (!isMapping(parameters) || parameters['type'] !== 'object')
    return faults.schema(`${intro}schema must be a JSON Schema of 'type: "object"', got 'type: "None"'.`);
  for (const { schema, path } of schemasIn(parameters, [])) {
    const context = `In context=(${path
      .map((step) => `'${step}', `)
      .join('')
      .trim()})`;
    if (schema['type'] === 'array' && schema['items'] === undefined)
      faults.schema(`${intro}${context}, array schema missing items.`);
    if (!isStrict || schema['type'] !== 'object') continue;
    if (schema['additionalProperties'] !== false)
      faults.strict(`${intro}${context}, 'additionalProperties' is required to be supplied and to be false.`);
    const required = Array.isArray(schema['required']) ? schema['required'] : [];
    const missing = Object.keys(objectOf(schema['properties'])).find((key) => !required.includes(key));
    if (missing !== undefined)
      faults.strict(
        `${intro}${context}, 'required' is required to be supplied and to be an array including every key in properties. Missing '${missing}'.`,
      );
  }
}

function schemasIn(schema: Json, path: string[]): { schema: Json; path: string[] }[] {
  const properties = Object.entries(objectOf(schema['properties'])).flatMap(([key, inner]) =>
    isMapping(inner) ? schemasIn(inner, [...path, 'properties', key]) : [],
  );
  const items = isMapping(schema['items']) ? schemasIn(schema['items'], [...path, 'items']) : [];
  return [{ schema, path }, ...properties, ...items];
}
