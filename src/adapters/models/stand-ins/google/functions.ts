/** Checks function declarations: their names and the OpenAPI subset of `parameters`. */
import { isMapping } from '../../../../domain/mapping.js';
import { objectOf, objectsIn, stringOf, type Json } from '../wire/json.js';
import type { Judge } from '../wire/rule.js';

type Refuse = Judge['refuse'];

export function checkFunctions(body: Json, { refuse }: Judge): void {
  const names = new Set<string>();
  for (const [tool, { functionDeclarations }] of objectsIn(body['tools']).entries())
    for (const [at, declaration] of objectsIn(functionDeclarations).entries()) {
      const place = `tools[${tool}].function_declarations[${at}]`;
      checkName(stringOf(declaration['name']), names, place, refuse);
      if (isMapping(declaration['parameters'])) checkSchema(declaration['parameters'], `${place}.parameters`, refuse);
    }
}

function checkName(name: string, names: Set<string>, place: string, refuse: Refuse): void {
  if (!/^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/.test(name))
    refuse(
      '6.function-name',
      `* GenerateContentRequest.${place}.name: Invalid function name. Must start with a letter or an underscore. Must be alphanumeric (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:) or dashes (-), with a maximum length of 64.`,
    );
  if (names.has(name)) refuse('6.function-name', `Duplicate function declaration found: ${name}`);
  names.add(name);
}

const FIELDS = new Set(
  'type format title description nullable enum maxItems minItems properties required minProperties maxProperties minLength maxLength pattern example anyOf propertyOrdering default items minimum maximum'.split(
    ' ',
  ),
);

function checkSchema(schema: Json, place: string, refuse: Refuse): void {
  for (const key of Object.keys(schema))
    if (!FIELDS.has(key))
      refuse('6.schema', `Invalid JSON payload received. Unknown name "${key}" at '${place}': Cannot find field.`);
  const type = schema['type'];
  if (Array.isArray(type))
    refuse(
      '6.schema',
      `Invalid JSON payload received. Unknown name "type" at '${place}': Proto field is not repeating, cannot start list.`,
    );
  if (Array.isArray(schema['enum']) && schema['enum'].some((value) => typeof value !== 'string'))
    refuse('6.schema', `Invalid value at '${place}.enum[0]' (TYPE_STRING)`);
  const kind = stringOf(type).toLowerCase();
  if (kind === 'array' && !isMapping(schema['items']))
    refuse('6.schema', `* GenerateContentRequest.${place}.items: missing field.`);
  const properties = objectOf(schema['properties']);
  if (kind === 'object' && Object.keys(properties).length === 0)
    refuse('6.schema', `* GenerateContentRequest.${place}.properties: should be non-empty for OBJECT type`);
  for (const name of Array.isArray(schema['required']) ? schema['required'] : [])
    if (!Object.hasOwn(properties, String(name)))
      refuse('6.schema', `* GenerateContentRequest.${place}.required[0]: property is not defined`);
  for (const [name, inner] of Object.entries(properties))
    if (isMapping(inner)) checkSchema(inner, `${place}.properties.${name}`, refuse);
  if (isMapping(schema['items'])) checkSchema(schema['items'], `${place}.items`, refuse);
}
