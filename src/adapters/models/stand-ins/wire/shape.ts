/** Finds fields that a request may not have. A shape lists the known fields of every object. */
import { isMapping } from '../../../../domain/mapping.js';
import { type Json } from './json.js';

/** `true`: anything. A list: a list of that shape. A function: the shape depends on the object. */
export type Shape = true | readonly [Shape] | { readonly [field: string]: Shape } | ((value: Json) => Shape);

export type Path = readonly (string | number)[];

/** The paths of all unknown fields. A value whose type differs from its shape is not searched. */
export function unknownFields(value: unknown, shape: Shape, path: Path = []): Path[] {
  if (shape === true) return [];
  if (typeof shape === 'function') return isMapping(value) ? unknownFields(value, shape(value), path) : [];
  if (isList(shape))
    return Array.isArray(value) ? value.flatMap((each, at) => unknownFields(each, shape[0], [...path, at])) : [];
  if (!isMapping(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    if (inner === undefined) return [];
    const known = Object.hasOwn(shape, key) ? shape[key] : undefined;
    return known === undefined ? [[...path, key]] : unknownFields(inner, known, [...path, key]);
  });
}

/** A shape whose fields may hold anything. */
export function fields(names: string): { [field: string]: Shape } {
  return Object.fromEntries(names.split(/\s+/).map((name) => [name, true as const]));
}

/** `messages.0.content`. */
export function dotted(path: Path): string {
  return path.join('.');
}

/** `messages[0].content`. */
export function bracketed(path: Path): string {
  return path.map((step, at) => (typeof step === 'number' ? `[${step}]` : at === 0 ? step : `.${step}`)).join('');
}

function isList(shape: Shape): shape is readonly [Shape] {
  return Array.isArray(shape);
}
