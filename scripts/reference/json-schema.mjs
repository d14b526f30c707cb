/** The published JSON Schemas: draft 07, the latest that YAML language servers fully support. */
import { load } from 'js-yaml';
import { registry, toJSONSchema } from 'zod/mini';
import { ABOUT } from '../../dist/src/schemas/about.js';
import { camelCase } from '../../dist/src/text/schema/spelling.js';
import { KINDS, PUBLISHED } from './kinds.mjs';

export function schemaFiles() {
  return KINDS.map(({ json, schema, title, about }) => {
    const { $schema, ...rest } = toJSONSchema(schema, {
      target: 'draft-07',
      metadata: registry(),
      override({ zodSchema, jsonSchema }) {
        Object.assign(jsonSchema, described(ABOUT.get(zodSchema)));
        if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
        if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      },
    });
    const head = { $schema, $id: `${PUBLISHED}${json}`, title: title.replaceAll('`', ''), description: about };
    return [`schemas/${json}`, `${JSON.stringify({ ...head, ...withSpellings(rest) }, null, 2)}\n`];
  });
}

/** `spellings` is taken out again once its neighbours are known. */
function described({ description, default: fallback, example, spellings } = {}) {
  if (description === undefined) return {};
  const value = /^`(.*)`$/.exec(fallback ?? '')?.[1];
  return {
    description: fallback === undefined ? description : `${description} Default: ${fallback.replaceAll('`', '')}.`,
    ...(value === undefined ? {} : { default: load(value) }),
    ...(example === undefined ? {} : { examples: [load(example)] }),
    ...(spellings === undefined ? {} : { spellings }),
  };
}

/**
 * Other spellings of a key are accepted as patterns, so editors neither complain about them nor
 * suggest them.
 */
function withSpellings(node) {
  if (Array.isArray(node)) return node.map(withSpellings);
  if (typeof node !== 'object' || node === null) return node;
  const { spellings: _, ...plain } = node;
  const copy = Object.fromEntries(Object.entries(plain).map(([key, value]) => [key, withSpellings(value)]));
  if (node.type !== 'object' || node.properties === undefined) return copy;
  const others = Object.entries(node.properties).flatMap(([key, property]) => {
    const names = [key, ...(property.spellings ?? [])];
    const different = new Set([...names, ...names.map(camelCase)].filter((name) => name !== key));
    return different.size === 0 ? [] : [[key, `^(?:${[...different].join('|')})$`]];
  });
  if (others.length === 0) return copy;
  const replaced = new Set(others.map(([key]) => key));
  const required = copy.required?.filter((key) => !replaced.has(key));
  return {
    ...copy,
    ...(required === undefined ? {} : { required }),
    patternProperties: Object.fromEntries(others.map(([key, pattern]) => [pattern, copy.properties[key]])),
  };
}
