/** The syntax tree of a query: a verb, a source and a condition. */
import type { Problem } from '../../domain/problem.js';

export type Row = Record<string, unknown>;
export type Literal = string | number | boolean | null;

export interface OrderBy {
  field: string;
  descending: boolean;
}

export interface Assignment {
  field: string;
  value: Literal;
}

export interface Select {
  kind: 'select';
  /** Undefined for `*`. */
  fields?: string[];
  count: boolean;
  from: string;
  where?: Where;
  orderBy: OrderBy[];
  limit?: number;
  into?: string;
}

export interface Update {
  kind: 'update';
  from: string;
  set: Assignment[];
  where?: Where;
}

export interface Insert {
  kind: 'insert';
  from: string;
  set: Assignment[];
}

export interface Delete {
  kind: 'delete';
  from: string;
  where?: Where;
}

export type Query = Select | Update | Insert | Delete;
export type ParsedQuery = { ok: true; query: Query } | { ok: false; problem: Problem };

export type Compare = '=' | '!=' | '<' | '<=' | '>' | '>=' | 'like' | 'contains';

export type Where =
  | { kind: 'and'; parts: Where[] }
  | { kind: 'or'; parts: Where[] }
  | { kind: 'not'; part: Where }
  | { kind: 'compare'; field: string; op: Compare; value: Exclude<Literal, null> }
  | { kind: 'in'; field: string; values: Exclude<Literal, null>[] }
  | { kind: 'null'; field: string };
