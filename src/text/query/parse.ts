/** Query text to query, by recursive descent. All or nothing: the first thing that does not fit is the answer. */
import { ProblemError } from '../../domain/problem.js';
import type { Assignment, Compare, Insert, Literal, OrderBy, ParsedQuery, Query, Select, Where } from './form.js';
import { queryProblem, type Scanner, scanner, type Token } from './scan.js';

const MAX_LENGTH = 100_000;
const MAX_DEPTH = 100;
const KEYWORDS = new Set(
  'SELECT FROM WHERE ORDER BY ASC DESC LIMIT INTO UPDATE SET INSERT DELETE AND OR NOT IN LIKE CONTAINS IS NULL TRUE FALSE'.split(
    ' ',
  ),
);
const SIGNS: Record<string, Compare> = { '=': '=', '!=': '!=', '<>': '!=', '<': '<', '<=': '<=', '>': '>', '>=': '>=' };

export function parseQuery(text: string): ParsedQuery {
  if (text.length > MAX_LENGTH) {
    return { ok: false, problem: queryProblem(text.slice(0, 80), 0, `a query has at most ${MAX_LENGTH} characters`) };
  }
  try {
    const s = scanner(text);
    const query = readQuery(s);
    if (s.peek().text === ';' && s.peek().kind === 'sign') s.take();
    if (s.peek().kind !== 'end') s.fail(`${shown(s.peek())} does not belong here`, hintFor(s.peek()));
    return { ok: true, query };
  } catch (thrown) {
    if (thrown instanceof ProblemError) return { ok: false, problem: thrown.problem };
    throw thrown;
  }
}

function readQuery(s: Scanner): Query {
  if (skipWord(s, 'SELECT')) return readSelect(s);
  if (skipWord(s, 'UPDATE')) {
    const from = s.takeName('the file to update');
    expectWord(s, 'SET');
    return { kind: 'update', from, set: readAssignments(s), ...readWherePart(s) };
  }
  if (skipWord(s, 'INSERT')) return readInsert(s);
  if (skipWord(s, 'DELETE')) {
    expectWord(s, 'FROM');
    return { kind: 'delete', from: s.takeName('the file to delete from'), ...readWherePart(s) };
  }
  return s.fail('a query begins with SELECT, UPDATE, INSERT or DELETE');
}

function readSelect(s: Scanner): Select {
  const columns = readColumns(s);
  expectWord(s, 'FROM');
  const query: Select = { kind: 'select', ...columns, from: s.takeName('what to select from'), orderBy: [] };
  Object.assign(query, readWherePart(s));
  if (skipWord(s, 'ORDER')) {
    expectWord(s, 'BY');
    query.orderBy = readList(s, () => readOrder(s));
  }
  if (skipWord(s, 'LIMIT')) query.limit = readLimit(s);
  if (skipWord(s, 'INTO')) query.into = s.takeName('the file to save into');
  return query;
}

function readColumns(s: Scanner): { fields?: string[]; count: boolean } {
  if (skipSign(s, '*')) return { count: false };
  const first = readField(s);
  if (first.toUpperCase() === 'COUNT' && skipSign(s, '(')) {
    expectSign(s, '*');
    expectSign(s, ')');
    return { count: true };
  }
  const fields = [first];
  while (skipSign(s, ',')) fields.push(readField(s));
  return { fields, count: false };
}

function readOrder(s: Scanner): OrderBy {
  const field = readField(s);
  const descending = skipWord(s, 'DESC');
  if (!descending) skipWord(s, 'ASC');
  return { field, descending };
}

function readLimit(s: Scanner): number {
  const token = s.peek();
  if (token.kind !== 'number' || !/^\d{1,9}$/.test(token.text))
    s.fail('LIMIT needs a whole number', 'for example LIMIT 10');
  return Number(s.take().text);
}

function readInsert(s: Scanner): Insert {
  expectWord(s, 'INTO');
  const from = s.takeName('the file to insert into');
  expectWord(s, 'SET');
  return { kind: 'insert', from, set: readAssignments(s) };
}

function readAssignments(s: Scanner): Assignment[] {
  const seen = new Set<string>();
  return readList(s, () => {
    const at = s.peek().start;
    const field = readField(s);
    if (seen.has(field)) s.fail(`${field} is set twice`, 'set it once', at);
    seen.add(field);
    expectSign(s, '=');
    return { field, value: readLiteral(s) };
  });
}

function readWherePart(s: Scanner): { where?: Where } {
  return skipWord(s, 'WHERE') ? { where: readOr(s, 0) } : {};
}

function readOr(s: Scanner, depth: number): Where {
  const parts = [readAnd(s, depth)];
  while (skipWord(s, 'OR')) parts.push(readAnd(s, depth));
  return parts.length === 1 ? parts[0]! : { kind: 'or', parts };
}

function readAnd(s: Scanner, depth: number): Where {
  const parts = [readNot(s, depth)];
  while (skipWord(s, 'AND')) parts.push(readNot(s, depth));
  return parts.length === 1 ? parts[0]! : { kind: 'and', parts };
}

function readNot(s: Scanner, depth: number): Where {
  if (depth > MAX_DEPTH) s.fail('the condition is nested too deeply');
  if (skipWord(s, 'NOT')) return { kind: 'not', part: readNot(s, depth + 1) };
  if (!skipSign(s, '(')) return readCondition(s);
  const where = readOr(s, depth + 1);
  expectSign(s, ')');
  return where;
}

function readCondition(s: Scanner): Where {
  const field = readField(s);
  if (skipWord(s, 'IS')) {
    const not = skipWord(s, 'NOT');
    expectWord(s, 'NULL');
    return negated(not, { kind: 'null', field });
  }
  const sign = s.peek();
  if (sign.kind === 'sign' && SIGNS[sign.text]) {
    s.take();
    return { kind: 'compare', field, op: SIGNS[sign.text]!, value: readValue(s) };
  }
  const not = skipWord(s, 'NOT');
  if (skipWord(s, 'LIKE')) return negated(not, { kind: 'compare', field, op: 'like', value: readValue(s) });
  if (skipWord(s, 'CONTAINS')) return negated(not, { kind: 'compare', field, op: 'contains', value: readValue(s) });
  if (!skipWord(s, 'IN')) {
    s.fail(`${shown(s.peek())} is no comparison`, 'use = != < <= > >= LIKE IN CONTAINS IS NULL');
  }
  expectSign(s, '(');
  const values = readList(s, () => readValue(s));
  expectSign(s, ')');
  return negated(not, { kind: 'in', field, values });
}

function negated(not: boolean, part: Where): Where {
  return not ? { kind: 'not', part } : part;
}

function readField(s: Scanner): string {
  const token = s.peek();
  if (token.kind === 'string') s.fail('a field stands without quotes', 'quotes are for values');
  if (token.kind !== 'word' || isKeyword(token)) s.fail(`a field is missing before ${shown(token)}`);
  return s.take().text;
}

/** A value to compare with. NULL has IS NULL instead, as nothing equals it. */
function readValue(s: Scanner): Exclude<Literal, null> {
  const at = s.peek().start;
  const value = readLiteral(s);
  if (value === null) return s.fail('nothing is equal to NULL', 'use IS NULL or IS NOT NULL', at);
  return value;
}

function readLiteral(s: Scanner): Literal {
  const token = s.peek();
  const word = token.kind === 'word' ? token.text.toUpperCase() : undefined;
  if (token.kind === 'string') return s.take().text;
  if (token.kind === 'number') return Number(s.take().text);
  if (word === 'TRUE' || word === 'FALSE') return s.take() && word === 'TRUE';
  if (word === 'NULL') return s.take() && null;
  if (word !== undefined && !isKeyword(token)) s.fail('text stands in quotes', `write '${token.text}'`);
  return s.fail(`a value is missing before ${shown(token)}`);
}

function readList<T>(s: Scanner, one: () => T): T[] {
  const list = [one()];
  while (skipSign(s, ',')) list.push(one());
  return list;
}

function skipWord(s: Scanner, word: string): boolean {
  const token = s.peek();
  if (token.kind !== 'word' || token.text.toUpperCase() !== word) return false;
  s.take();
  return true;
}

function skipSign(s: Scanner, sign: string): boolean {
  const token = s.peek();
  if (token.kind !== 'sign' || token.text !== sign) return false;
  s.take();
  return true;
}

function expectWord(s: Scanner, word: string): void {
  if (!skipWord(s, word)) s.fail(`${word} is missing before ${shown(s.peek())}`);
}

function expectSign(s: Scanner, sign: string): void {
  if (!skipSign(s, sign)) s.fail(`${sign} is missing before ${shown(s.peek())}`);
}

function isKeyword(token: Token): boolean {
  return KEYWORDS.has(token.text.toUpperCase());
}

function shown(token: Token): string {
  return token.kind === 'string' ? `'${token.text}'` : token.text;
}

function hintFor(token: Token): string | undefined {
  if (token.kind === 'word' && /^(where|order|limit|into)$/i.test(token.text))
    return 'the order is WHERE, ORDER BY, LIMIT, INTO';
  return undefined;
}
