/**
 * Reads a value against its schema. All problems come at once, each with its place, and `value`
 * holds everything that is valid: a key with a wrong value is treated as absent.
 */
import type { Problem, Where } from '../../domain/problem.js';
import type { Schema } from '../../schemas/about.js';
import type * as z from '../../schemas/zod.js';
import { inOrder, placed, type Fault, type Path, type Places } from './fault.js';
import { faultsOf } from './issues.js';
import { spell, type Spelled } from './spelling.js';

export interface Reading<T> {
  /** Undefined if no part of it is valid. */
  value: T | undefined;
  problems: Problem[];
  /** Keys that a tolerant format does not know. */
  ignored: Problem[];
  /** The place of a value, or of its key, by the spelling of the schema. */
  where(path: Path, side?: 'key' | 'value'): Where;
}

/** More faults than this are not reported. */
const MOST_FAULTS = 50;

export function readValue<S extends Schema>(schema: S, raw: unknown, places: Places): Reading<z.infer<S>> {
  const spelled = spell(schema, raw);
  const { value, faults, ignored, written } = spelled;
  let remaining = faultsIn(schema, spelled);
  faults.push(...remaining);
  // Faults that appear only after a removal result from it, so they are not reported.
  while (remaining.length > 0 && !remaining.some(({ path }) => path.length === 0)) {
    const removed = remaining.toSorted(lastFirst).map(({ path }) => remove(value, path));
    if (!removed.includes(true)) break;
    remaining = faultsIn(schema, spelled);
  }
  const problems = (list: readonly Fault[]): Problem[] =>
    inOrder(list.slice(0, MOST_FAULTS).map((each) => placed(each, places[each.side](written(each.path)))));
  return {
    value: remaining.length > 0 ? undefined : (value as z.infer<S>),
    problems: problems(once(faults)),
    ignored: problems(ignored),
    where: (path, side = 'value') => places[side](written(path)),
  };
}

function faultsIn(schema: Schema, spelled: Spelled): Fault[] {
  const checked = schema.safeParse(spelled.value);
  return checked.success ? [] : faultsOf(checked.error.issues, spelled.value, spelled);
}

function remove(value: unknown, path: Path): boolean {
  const last = path.at(-1);
  if (last === undefined) return false;
  const parent = path.slice(0, -1).reduce<unknown>((inner, segment) => (inner as Container)?.[segment], value);
  if (typeof parent !== 'object' || parent === null || !Object.hasOwn(parent, last))
    return remove(value, path.slice(0, -1));
  if (Array.isArray(parent)) parent.splice(Number(last), 1);
  else delete (parent as Container)[last];
  return true;
}

type Container = Record<string | number, unknown>;

/** Later items of a list first, so that removing one does not move another. */
function lastFirst(a: Fault, b: Fault): number {
  const at = a.path.findIndex((segment, i) => segment !== b.path[i]);
  return at < 0 ? b.path.length - a.path.length : Number(b.path[at]) - Number(a.path[at]) || 0;
}

function once(faults: readonly Fault[]): Fault[] {
  return [...new Map(faults.map((each) => [`${each.path.join('\n')}\n${each.message}`, each])).values()];
}
