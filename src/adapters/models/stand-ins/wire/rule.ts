/**
 * A rule of a provider and the judge that collects what a request breaks. A stand-in sends the
 * first refusal, as the provider does, and names all broken rules in the header `x-guild-refused`.
 * An id begins with the section of the rule book: 2 everybody, 3 Anthropic, 4 OpenAI Responses,
 * 5 OpenAI chat completions, 6 Google, 7 Mistral, 8 DeepSeek.
 */

export interface Refusal {
  rule: string;
  message: string;
  /** Default: 400. */
  status?: number;
  type?: string;
  code?: string | number;
  param?: string;
  /** Structured details, for providers whose error bodies have them. */
  details?: unknown;
}

export interface Judge {
  readonly refusals: Refusal[];
  refuse(rule: string, message: string, more?: Omit<Refusal, 'rule' | 'message'>): undefined;
}

export function judge(): Judge {
  const refusals: Refusal[] = [];
  return {
    refusals,
    refuse(rule, message, more = {}) {
      refusals.push({ rule, message, ...more });
      return undefined;
    },
  };
}
