/** A recursive-descent parser for queries. The first error ends the parse. */
import { ProblemError } from '../../domain/problem.js';
import type { Assignment, Compare, Insert, Literal, OrderBy, ParsedQuery, Query, Select, Where } from './ast.js';
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
    const tokens = scanner(text);
    const query = readQuery(tokens);
    if (tokens.peek().text === ';' && tokens.peek().kind === 'sign') tokens.take();
    if (tokens.peek().kind !== 'end')
      tokens.fail(`${tokenText(tokens.peek())} does not belong here`, hintFor(tokens.peek()));
    return { ok: true, query };
  } catch (thrown) {
    if (thrown instanceof ProblemError) return { ok: false, problem: thrown.problem };
    throw thrown;
  }
}

function readQuery(tokens: Scanner): Query {
  if (skipWord(tokens, 'SELECT')) return readSelect(tokens);
  if (skipWord(tokens, 'UPDATE')) {
    const from = tokens.takeName('the file to update');
    expectWord(tokens, 'SET');
    return { kind: 'update', from, set: readAssignments(tokens), ...readWherePart(tokens) };
  }
  if (skipWord(tokens, 'INSERT')) return readInsert(tokens);
  if (skipWord(tokens, 'DELETE')) {
    expectWord(tokens, 'FROM');
    return { kind: 'delete', from: tokens.takeName('the file to delete from'), ...readWherePart(tokens) };
  }
  return tokens.fail('a query starts with SELECT, UPDATE, INSERT or DELETE');
}

function readSelect(tokens: Scanner): Select {
  const columns = readColumns(tokens);
  expectWord(tokens, 'FROM');
  const query: Select = { kind: 'select', ...columns, from: tokens.takeName('what to select from'), orderBy: [] };
  Object.assign(query, readWherePart(tokens));
  if (skipWord(tokens, 'ORDER')) {
    expectWord(tokens, 'BY');
    query.orderBy = readList(tokens, () => readOrder(tokens));
  }
  if (skipWord(tokens, 'LIMIT')) query.limit = readLimit(tokens);
  if (skipWord(tokens, 'INTO')) query.into = tokens.takeName('the file to save into');
  return query;
}

function readColumns(tokens: Scanner): { fields?: string[]; count: boolean } {
  if (skipSign(tokens, '*')) return { count: false };
  const first = readField(tokens);
  if (first.toUpperCase() === 'COUNT' && skipSign(tokens, '(')) {
    expectSign(tokens, '*');
    expectSign(tokens, ')');
    if (tokens.peek().text === ',') tokens.fail('COUNT(*) cannot be combined with fields', NO_GROUPS);
    return { count: true };
  }
  const fields = [first];
  while (skipSign(tokens, ',')) fields.push(readField(tokens));
  if (tokens.peek().text === '(') tokens.fail(`${fields.at(-1)} is not a field`, NO_GROUPS);
  return { fields, count: false };
}

function readOrder(tokens: Scanner): OrderBy {
  const field = readField(tokens);
  const descending = skipWord(tokens, 'DESC');
  if (!descending) skipWord(tokens, 'ASC');
  return { field, descending };
}

function readLimit(tokens: Scanner): number {
  const token = tokens.peek();
  if (token.kind !== 'number' || !/^\d{1,9}$/.test(token.text))
    tokens.fail('LIMIT needs a whole number', 'for example LIMIT 10');
  return Number(tokens.take().text);
}

function readInsert(tokens: Scanner): Insert {
  expectWord(tokens, 'INTO');
  const from = tokens.takeName('the file to insert into');
  expectWord(tokens, 'SET');
  return { kind: 'insert', from, set: readAssignments(tokens) };
}

function readAssignments(tokens: Scanner): Assignment[] {
  const seen = new Set<string>();
  return readList(tokens, () => {
    const at = tokens.peek().start;
    const field = readField(tokens);
    if (seen.has(field)) tokens.fail(`${field} is set twice`, 'set it once', at);
    seen.add(field);
    expectSign(tokens, '=');
    return { field, value: readLiteral(tokens) };
  });
}

function readWherePart(tokens: Scanner): { where?: Where } {
  return skipWord(tokens, 'WHERE') ? { where: readOr(tokens, 0) } : {};
}

function readOr(tokens: Scanner, depth: number): Where {
  const parts = [readAnd(tokens, depth)];
  while (skipWord(tokens, 'OR')) parts.push(readAnd(tokens, depth));
  return parts.length === 1 ? parts[0]! : { kind: 'or', parts };
}

function readAnd(tokens: Scanner, depth: number): Where {
  const parts = [readNot(tokens, depth)];
  while (skipWord(tokens, 'AND')) parts.push(readNot(tokens, depth));
  return parts.length === 1 ? parts[0]! : { kind: 'and', parts };
}

function readNot(tokens: Scanner, depth: number): Where {
  if (depth > MAX_DEPTH) tokens.fail('the condition is nested too deeply');
  if (skipWord(tokens, 'NOT')) return { kind: 'not', part: readNot(tokens, depth + 1) };
  if (!skipSign(tokens, '(')) return readCondition(tokens);
  const where = readOr(tokens, depth + 1);
  expectSign(tokens, ')');
  return where;
}

function readCondition(tokens: Scanner): Where {
  const field = readField(tokens);
  if (skipWord(tokens, 'IS')) {
    const not = skipWord(tokens, 'NOT');
    expectWord(tokens, 'NULL');
    return negated(not, { kind: 'null', field });
  }
  const sign = tokens.peek();
  if (sign.kind === 'sign' && SIGNS[sign.text]) {
    tokens.take();
    return { kind: 'compare', field, op: SIGNS[sign.text]!, value: readValue(tokens) };
  }
  const not = skipWord(tokens, 'NOT');
  if (skipWord(tokens, 'LIKE')) return negated(not, { kind: 'compare', field, op: 'like', value: readValue(tokens) });
  if (skipWord(tokens, 'CONTAINS'))
    return negated(not, { kind: 'compare', field, op: 'contains', value: readValue(tokens) });
  if (!skipWord(tokens, 'IN')) {
    tokens.fail(`${tokenText(tokens.peek())} is not a comparison`, 'use = != < <= > >= LIKE IN CONTAINS IS NULL');
  }
  expectSign(tokens, '(');
  const values = readList(tokens, () => readValue(tokens));
  expectSign(tokens, ')');
  return negated(not, { kind: 'in', field, values });
}

function negated(not: boolean, part: Where): Where {
  return not ? { kind: 'not', part } : part;
}

function readField(tokens: Scanner): string {
  const token = tokens.peek();
  if (token.kind === 'string') tokens.fail('a field has no quotes', 'remove the quotes; they are for values');
  if (token.kind !== 'word' || isKeyword(token)) tokens.fail(`a field is missing before ${tokenText(token)}`);
  return tokens.take().text;
}

/** A value to compare with. NULL is not allowed, because nothing equals it. */
function readValue(tokens: Scanner): Exclude<Literal, null> {
  const at = tokens.peek().start;
  const value = readLiteral(tokens);
  if (value === null) return tokens.fail('nothing is equal to NULL', 'use IS NULL or IS NOT NULL', at);
  return value;
}

function readLiteral(tokens: Scanner): Literal {
  const token = tokens.peek();
  const word = token.kind === 'word' ? token.text.toUpperCase() : undefined;
  if (token.kind === 'string') return tokens.take().text;
  if (token.kind === 'number') return Number(tokens.take().text);
  if (word === 'TRUE' || word === 'FALSE') return tokens.take() && word === 'TRUE';
  if (word === 'NULL') return tokens.take() && null;
  if (word !== undefined && !isKeyword(token)) tokens.fail('text needs quotes', `write '${token.text}'`);
  return tokens.fail(`a value is missing before ${tokenText(token)}`);
}

function readList<T>(tokens: Scanner, readItem: () => T): T[] {
  const list = [readItem()];
  while (skipSign(tokens, ',')) list.push(readItem());
  return list;
}

function skipWord(tokens: Scanner, word: string): boolean {
  const token = tokens.peek();
  if (token.kind !== 'word' || token.text.toUpperCase() !== word) return false;
  tokens.take();
  return true;
}

function skipSign(tokens: Scanner, sign: string): boolean {
  const token = tokens.peek();
  if (token.kind !== 'sign' || token.text !== sign) return false;
  tokens.take();
  return true;
}

function expectWord(tokens: Scanner, word: string): void {
  if (!skipWord(tokens, word)) tokens.fail(`${word} is missing before ${tokenText(tokens.peek())}`);
}

function expectSign(tokens: Scanner, sign: string): void {
  if (!skipSign(tokens, sign)) tokens.fail(`${sign} is missing before ${tokenText(tokens.peek())}`);
}

function isKeyword(token: Token): boolean {
  return KEYWORDS.has(token.text.toUpperCase());
}

function tokenText(token: Token): string {
  return token.kind === 'string' ? `'${token.text}'` : token.text;
}

const NO_GROUPS = 'there are no functions except COUNT(*) and no GROUP BY; --json passes the rows to another program';

function hintFor(token: Token): string | undefined {
  if (token.kind === 'word' && /^(group|having)$/i.test(token.text)) return NO_GROUPS;
  if (token.kind === 'word' && /^(where|order|limit|into)$/i.test(token.text))
    return 'the order is WHERE, ORDER BY, LIMIT, INTO';
  return undefined;
}
