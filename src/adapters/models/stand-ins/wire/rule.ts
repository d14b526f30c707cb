/**
 * A rule of a provider and the judge that collects what a request breaks. A stand-in sends the
 * first refusal, as the provider does, and names all broken rules in the header `x-guild-refused`.
 * An id begins with the section of the rule book: 2 everybody, 3 Anthropic, 4 OpenAI Responses,
 * 5 OpenAI chat completions, 6 Google, 7 Mistral, 8 DeepSeek.
 */

interface Rule {
  /** The provider's demand, in one sentence. */
  says: string;
  /** Where that can be read. */
  source: string;
  /** True if users report it but no document of the provider mentions it. */
  unconfirmed?: true;
}

export type Rules = Readonly<Record<string, Rule>>;

export interface Refusal<Id extends string = string> {
  rule: Id;
  message: string;
  /** Default: 400. */
  status?: number;
  type?: string;
  code?: string | number;
  param?: string;
  /** Structured details, for providers whose error bodies have them. */
  details?: unknown;
}

export interface Judge<Id extends string> {
  readonly refusals: Refusal<Id>[];
  refuse(rule: Id, message: string, more?: Omit<Refusal<Id>, 'rule' | 'message'>): undefined;
}

export function judge<Id extends string>(): Judge<Id> {
  const refusals: Refusal<Id>[] = [];
  return {
    refusals,
    refuse(rule, message, more = {}) {
      refusals.push({ rule, message, ...more });
      return undefined;
    },
  };
}
