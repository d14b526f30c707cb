/**
 * Reads tool arguments as models write them. Text that is not JSON is repaired where its meaning is
 * plain: a code fence, JSON inside a text, a comma too many, a raw line break in a text, null.
 */
import { attempt } from '../../../../domain/attempt.js';
export function readArguments(text: string): Record<string, unknown> | undefined {
  if (text.trim() === '') return {};
  const value = parse(text) ?? parse(repaired(text));
  if (value === undefined) return undefined;
  return asObject(typeof value.json === 'string' ? parse(value.json)?.json : value.json);
}

function asObject(value: unknown): Record<string, unknown> | undefined {
  if (value === null) return {};
  return typeof value === 'object' && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
}

function parse(text: string): { json: unknown } | undefined {
  return attempt(() => ({ json: JSON.parse(text) as unknown }));
}

function repaired(text: string): string {
  const bare = text.trim().replace(/^```(?:json)?\s*([^]*?)\s*```$/, '$1');
  // Texts and the parts between them alternate. A raw control character is wrong only inside a
  // text, and a comma before a closing bracket only outside.
  return bare.replace(/"(?:[^"\\]|\\[^])*"|,(?=\s*[}\]])/g, (part) =>
    part === ',' ? '' : part.replace(CONTROL, (character) => JSON.stringify(character).slice(1, -1)),
  );
}

// oxlint-disable-next-line no-control-regex -- these characters are what JSON forbids
const CONTROL = /[\u0000-\u001f]/g;
