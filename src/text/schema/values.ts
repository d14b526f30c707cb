/** Values of the schemas in the form that the domain uses. */
import { defined } from '../../domain/defined.js';
import type { ModelSettings } from '../../domain/agent/agent.js';
import { count } from '../../schemas/amounts.js';

/** `[a, b]`, or `a, b` in one text. */
export function textList(value: string | readonly (string | number)[] | undefined): string[] | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== 'string') return value.map((item) => String(item).trim());
  return value
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

export function textOf(value: string | number | boolean | undefined): string | undefined {
  return value === undefined ? undefined : String(value);
}

export function eachOf<T, U>(mapping: Record<string, T> | undefined, read: (value: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(mapping ?? {}).map(([name, value]) => [name, read(value)]));
}

interface ModelSettingsWritten {
  temperature?: number;
  max_tokens?: string | number;
  top_p?: number;
  top_k?: string | number;
  reasoning?: ModelSettings['reasoning'] | 'default';
}

export function modelSettings(written: ModelSettingsWritten): ModelSettings {
  return defined({
    temperature: written.temperature,
    maxTokens: count(written.max_tokens),
    topP: written.top_p,
    topK: count(written.top_k),
    reasoning: written.reasoning === 'default' ? undefined : written.reasoning,
  });
}
