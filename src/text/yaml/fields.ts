/**
 * A mapping that people wrote, read field by field. Whatever is wrong is collected with its place, and reading goes on: one
 * run shows everything that is to be mended. `null` counts as absent, and `max_tokens` may be spelled `maxTokens`.
 */
import type { ModelSettings } from '../../domain/agent/agent.js';
import type { Budget } from '../../domain/budget/budget.js';
import { nearest } from '../../domain/nearest.js';
import { problem, type Problem, type ProblemCode, type Where } from '../../domain/problem.js';
import { BUDGET_KEYS, count, durationMs, readBudget } from '../../schemas/amounts.js';
import type { YamlPlaces } from './parse.js';

export type Path = readonly (string | number)[];

/** Where findings go. */
export interface Report {
  places: Pick<YamlPlaces, 'key' | 'value'>;
  problems: Problem[];
  warnings: Problem[];
}

/** Nobody reads more, and each costs a walk through the text. */
const MOST_FINDINGS = 50;

export interface Found {
  value: unknown;
  path: Path;
}

export class Fields {
  private readonly taken = new Set<string>();
  constructor(
    private readonly given: Record<string, unknown>,
    readonly path: Path,
    readonly report: Report,
  ) {}

  /** The field under the first of these spellings that has a value; each of them counts as known from now on. */
  take(...keys: string[]): Found | undefined {
    let found: Found | undefined;
    for (const spelling of keys.flatMap(spellings)) {
      this.taken.add(spelling);
      const value = Object.hasOwn(this.given, spelling) ? this.given[spelling] : undefined;
      if (value === undefined || value === null) continue;
      if (found === undefined) found = { value, path: [...this.path, spelling] };
      else
        this.error('duplicate', `"${spelling}" says the same as "${String(found.path.at(-1))}"`, [
          ...this.path,
          spelling,
        ]);
    }
    return found;
  }

  text(...keys: string[]): string | undefined {
    const found = this.take(...keys);
    if (found === undefined || typeof found.value === 'string') return found?.value as string | undefined;
    if (typeof found.value === 'number' || typeof found.value === 'boolean') return String(found.value);
    return this.wrong(found, 'text');
  }

  /** A list of texts, or one text alone; `a, b` in one text is two. */
  texts(...keys: string[]): string[] | undefined {
    const found = this.take(...keys);
    return found === undefined ? undefined : this.textsOf(found);
  }

  textsOf(found: Found): string[] | undefined {
    if (typeof found.value === 'string') {
      return found.value
        .split(',')
        .map((part) => part.trim())
        .filter((part) => part !== '');
    }
    if (!Array.isArray(found.value)) return this.wrong(found, 'a list of names');
    const texts: string[] = [];
    found.value.forEach((item: unknown, i) => {
      if (typeof item === 'string' || typeof item === 'number') texts.push(String(item).trim());
      else this.wrong({ value: item, path: [...found.path, i] }, 'a name');
    });
    return texts;
  }

  number(key: string, range: { min: number; max?: number }): number | undefined {
    const found = this.take(key);
    if (found === undefined) return undefined;
    const { value } = found;
    if (typeof value === 'number' && value >= range.min && value <= (range.max ?? Infinity) && value !== Infinity)
      return value;
    return this.wrong(
      found,
      range.max === undefined ? `a number, at least ${range.min}` : `a number from ${range.min} to ${range.max}`,
    );
  }

  whole(key: string, min = 0): number | undefined {
    const found = this.take(key);
    if (found === undefined) return undefined;
    const value = count(found.value);
    return value !== undefined && value >= min ? value : this.wrong(found, `a whole number, at least ${min}`);
  }

  flag(key: string): boolean | undefined {
    const found = this.take(key);
    if (found === undefined || typeof found.value === 'boolean') return found?.value as boolean | undefined;
    return this.wrong(found, 'true or false');
  }

  duration(key: string): number | undefined {
    const found = this.take(key);
    return found && (durationMs(found.value) ?? this.wrong(found, 'a duration, such as 60s, 10m or 1h'));
  }

  /** One of these words, in any case and with or without joints: `max_rounds` is `maxRounds`. */
  choice<T extends string>(key: string, words: readonly T[]): T | undefined {
    const found = this.take(key);
    if (found === undefined) return undefined;
    const plain = (word: unknown): string => String(word).toLowerCase().replace(/[-_ ]/g, '');
    return words.find((word) => plain(word) === plain(found.value)) ?? this.wrong(found, `one of: ${words.join(', ')}`);
  }

  mapping(...keys: string[]): Fields | undefined {
    const found = this.take(...keys);
    return found && this.mappingOf(found);
  }

  mappingOf(found: Found): Fields | undefined {
    return isMapping(found.value) ? new Fields(found.value, found.path, this.report) : this.wrong(found, 'a mapping');
  }

  budget(): Budget {
    const found = this.take('budget');
    if (found === undefined) return {};
    if (!isMapping(found.value)) return this.wrong(found, `a mapping of ${BUDGET_KEYS.join(', ')}`) ?? {};
    const budget: Budget = {};
    for (const [key, value] of Object.entries(found.value)) {
      const read = readBudget({ [key]: value });
      const path = [...found.path, key];
      if (read.ok) Object.assign(budget, read.budget);
      else if (read.known) this.wrong({ value, path }, read.want);
      else this.unknown(path, BUDGET_KEYS);
    }
    return budget;
  }

  modelSettings(): ModelSettings {
    const reasoning = this.choice('reasoning', ['none', 'minimal', 'low', 'medium', 'high', 'default']);
    const read: ModelSettings = {
      temperature: this.number('temperature', { min: 0, max: 2 }),
      maxTokens: this.whole('max_tokens', 1),
      topP: this.number('top_p', { min: 0, max: 1 }),
      topK: this.whole('top_k'),
      reasoning: reasoning === 'default' ? undefined : reasoning,
    };
    return Object.fromEntries(Object.entries(read).filter(([, value]) => value !== undefined));
  }

  /** Every key and its value, all taken; those without a value only with `empty`. */
  entries(empty = false): [string, Found][] {
    return Object.entries(this.given).flatMap(([key, value]): [string, Found][] => {
      this.taken.add(key);
      return !empty && (value === null || value === undefined) ? [] : [[key, { value, path: [...this.path, key] }]];
    });
  }

  /** Keys that nothing has asked for. */
  left(): string[] {
    return Object.keys(this.given).filter((key) => !this.taken.has(key));
  }

  /** Reports the keys that nothing has asked for as errors, with the name that was probably meant. */
  noMore(): void {
    const known = [...this.taken].filter((key) => !/[A-Z]/.test(key));
    for (const key of this.left()) this.unknown([...this.path, key], known);
  }

  wrong(found: Found, want: string): undefined {
    this.error('bad_field', `"${found.path.join('.')}" must be ${want}`, found.path, 'value');
  }

  error(code: ProblemCode, message: string, path: Path, side: 'key' | 'value' = 'key', hint?: string): void {
    if (this.report.problems.length >= MOST_FINDINGS) return;
    this.report.problems.push(problem(code, message, { where: this.where(path, side), ...(hint ? { hint } : {}) }));
  }

  warn(code: ProblemCode, message: string, path: Path, hint?: string): void {
    if (this.report.warnings.length >= MOST_FINDINGS) return;
    this.report.warnings.push(problem(code, message, { where: this.where(path, 'value'), ...(hint ? { hint } : {}) }));
  }

  private unknown(path: Path, known: readonly string[]): void {
    if (this.report.problems.length >= MOST_FINDINGS) return;
    const meant = nearest(String(path.at(-1)), known);
    this.report.problems.push(
      problem('unknown_key', `unknown key "${path.join('.')}"`, {
        where: this.where(path, 'key'),
        hint: meant === undefined ? `known here: ${known.join(', ')}` : `did you mean "${meant}"?`,
        ...(meant === undefined ? {} : { meant }),
      }),
    );
  }

  private where(path: Path, side: 'key' | 'value'): Where {
    return this.report.places[side](path);
  }
}

/** In the order of the file. */
export function inOrder(problems: readonly Problem[]): Problem[] {
  const at = (one: Problem): number => (one.where?.line ?? 0) * 100_000 + (one.where?.column ?? 0);
  return [...problems].sort((a, b) => at(a) - at(b));
}

export function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const spelled = new Map<string, string[]>();

function spellings(key: string): string[] {
  let both = spelled.get(key);
  if (both === undefined) {
    const camel = key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    both = camel === key ? [key] : [key, camel];
    // keys of our own are few; names that people chose are not remembered
    if (spelled.size < 500) spelled.set(key, both);
  }
  return both;
}
