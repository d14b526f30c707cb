/** The measures of a source tree, as `npm run measures` prints them. */
import fs from 'node:fs';
import path from 'node:path';
import { SyntaxKind, type Node } from 'typescript/unstable/ast';
import * as is from 'typescript/unstable/ast/is';
import { eachNode, lineAt, textOf, withSources, type Source } from './parse.js';
import {
  COMMENT_COLUMNS,
  fileCycles,
  folderCycles,
  folderSizes,
  FUNCTION_LINES,
  longFunctions,
  wideComments,
} from './rules.js';
import { placeOf, unusedExports } from './unused-exports.js';

interface Measure {
  name: string;
  value: string;
  /** The counted places, one line each. */
  places?: string[];
}

/** Everything that may use an export. */
export const FOLDERS = ['src', 'web', 'test', 'bench', 'scripts', 'bin', 'plugins', 'examples'];

export function measureTree(root: string): Measure[] {
  return withSources(root, FOLDERS, (all) => {
    const src = all.filter(({ file }) => file.startsWith('src/'));
    return [...sizes(src), ...order(src), ...comments(src), glossary(root), ...exportsOf(all), ...habits(src)];
  });
}

function sizes(src: readonly Source[]): Measure[] {
  const lines = src.map((one) => one.lines).sort((a, b) => a - b);
  const functions = src.flatMap(({ file, functions: inFile }) => inFile.map((one) => ({ file, ...one })));
  const over = (most: number, of: 'lines' | 'ownLines'): number => functions.filter((one) => one[of] > most).length;
  const longest = functions.toSorted((a, b) => b.ownLines - a.ownLines).slice(0, 10);
  const share = ((100 * over(60, 'lines')) / functions.length).toFixed(1);
  return [
    { name: 'files / lines of src', value: `${src.length} / ${sum(lines)}` },
    { name: 'file median / p90 / max', value: `${at(lines, 0.5)} / ${at(lines, 0.9)} / ${lines.at(-1)}` },
    { name: 'functions', value: `${functions.length}` },
    { name: 'functions over 60 lines, with inner functions', value: `${over(60, 'lines')} (${share} %)` },
    { name: 'functions over 60 lines, without', value: `${over(60, 'ownLines')}` },
    {
      name: `functions over ${FUNCTION_LINES} lines, without`,
      value: `${over(FUNCTION_LINES, 'ownLines')}`,
      places: longFunctions(src),
    },
    {
      name: 'longest functions, without',
      value: longest
        .slice(0, 3)
        .map(({ name, ownLines }) => `${name} ${ownLines}`)
        .join(', '),
      places: longest.map(({ file, line, name, ownLines }) => `${file}:${line}: ${name} ${ownLines}`),
    },
  ];
}

function order(src: readonly Source[]): Measure[] {
  const [folder, files] = [...folderSizes(src)].toSorted((a, b) => b[1] - a[1])[0]!;
  const context = /^src\/engine\/(parts|core\/context)\.ts$/;
  const users = src.filter(({ imports }) => imports.some(({ from }) => context.test(from))).map(({ file }) => file);
  return [
    listed('import cycles between files', fileCycles(src)),
    listed('import cycles between folders', folderCycles(src)),
    { name: 'largest flat folder', value: `${files} (${folder})` },
    listed("files that import the engine's context", users),
  ];
}

function comments(src: readonly Source[]): Measure[] {
  const lines = sum(src.map((one) => one.lines));
  return [120, COMMENT_COLUMNS].map((most) => {
    const wide = sum(src.map((one) => one.comments.filter(({ columns }) => columns > most).length));
    return {
      name: `comment lines over ${most} columns, per 10k lines`,
      value: `${Math.round((10_000 * wide) / lines)}`,
      places: wideComments(src, most),
    };
  });
}

function glossary(root: string): Measure {
  const pages = fs.readdirSync(path.join(root, 'docs'), { recursive: true, encoding: 'utf8' });
  const page = pages.find((file) => path.basename(file) === 'words.md');
  const text = page === undefined ? '' : fs.readFileSync(path.join(root, 'docs', page), 'utf8');
  return { name: 'words in the glossary', value: `${text.match(/^\| \*\*/gm)?.length ?? 0}` };
}

function exportsOf(all: readonly Source[]): Measure[] {
  const unused = unusedExports(all);
  const nobody = unused.filter(({ byTests }) => !byTests);
  const values = nobody.filter(({ isType }) => !isType).length;
  return [
    {
      name: 'exports that no other file uses',
      value: `${nobody.length} (${values} values)`,
      places: nobody.map(placeOf),
    },
    listed('exports that only tests use', unused.filter(({ byTests }) => byTests).map(placeOf)),
  ];
}

/** Counts of single expressions. */
function habits(src: readonly Source[]): Measure[] {
  const roles = roleNames(src);
  const inTable = (file: string): boolean => path.basename(file) === 'role.ts';
  const find = (isOne: (node: Node) => boolean, among = src): string[] =>
    among.flatMap(({ file, tree }) => {
      const found: string[] = [];
      eachNode(tree, (node) => {
        if (isOne(node)) found.push(`${file}:${lineAt(tree, node.getStart(tree))}: ${textOf(node).split('\n')[0]}`);
      });
      return found;
    });
  const ports = src.filter(({ file }) => STORE.test(file));
  const clocks = src.flatMap(({ file, text }) =>
    [...text.matchAll(/^const LOOK_MS = .*$/gm)].map(([line]) => `${file}: ${line}`),
  );
  return [
    listed(
      'role names compared outside the role table',
      find(
        (node) => isRoleTest(node, roles),
        src.filter(({ file }) => !inTable(file)),
      ),
    ),
    listed('conditional spreads', find(isConditionalSpread)),
    listed('verbs of the store', find(isVerb, ports)),
    listed(
      'verbs of the store that are optional',
      find((node) => isVerb(node) && isOptional(node), ports),
    ),
    listed('private clocks (LOOK_MS)', clocks),
    listed('WeakMaps, Maps, Sets and lets at module level that change', moduleState(src)),
  ];
}

/** One port at first, several small ones later. */
const STORE = /^src\/ports\/(store\/.*|store|tasks|sessions|effects|intents|events|presence|views|locks|blobs)\.ts$/;

function roleNames(src: readonly Source[]): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { tree } of src.filter(({ file }) => file.endsWith('/role.ts')))
    eachNode(tree, (node) => {
      const table = node.parent.parent;
      if (!is.isPropertyAssignment(node) || !is.isVariableDeclaration(table)) return;
      if (textOf(table.name) === 'ROLES') names.add(textOf(node.name).replaceAll("'", ''));
    });
  return names;
}

/** `x.role === 'work'`, `case 'work':` of a switch on a role, `[…].includes(x.role)`. */
function isRoleTest(node: Node, roles: ReadonlySet<string>): boolean {
  const isRole = (one: Node): boolean => /\brole$/i.test(textOf(one));
  const isName = (one: Node): boolean => is.isStringLiteral(one) && roles.has(one.text);
  if (is.isBinaryExpression(node)) {
    const { left, right, operatorToken } = node;
    const equality = [SyntaxKind.EqualsEqualsEqualsToken, SyntaxKind.ExclamationEqualsEqualsToken];
    return (
      equality.includes(operatorToken.kind) && ((isRole(left) && isName(right)) || (isName(left) && isRole(right)))
    );
  }
  if (is.isCaseClause(node)) {
    const { expression } = node.parent.parent as unknown as { expression: Node };
    return isName(node.expression) && isRole(expression);
  }
  if (!is.isCallExpression(node) || node.arguments.length !== 1 || !isRole(node.arguments[0]!)) return false;
  return /\.(includes|has)$/.test(textOf(node.expression));
}

/** `...(x ? {…} : {})` and `...(x && {…})`, also in lists. */
function isConditionalSpread(node: Node): boolean {
  if (!is.isSpreadAssignment(node) && !is.isSpreadElement(node)) return false;
  let { expression } = node as { expression: Node };
  while (is.isParenthesizedExpression(expression)) ({ expression } = expression);
  return is.isConditionalExpression(expression) || is.isBinaryExpression(expression);
}

function isVerb(node: Node): boolean {
  if (!is.isInterfaceDeclaration(node.parent)) return false;
  if (is.isMethodSignatureDeclaration(node)) return true;
  return is.isPropertySignatureDeclaration(node) && node.type !== undefined && is.isFunctionTypeNode(node.type);
}

function isOptional(node: Node): boolean {
  return (node as { postfixToken?: Node }).postfixToken?.kind === SyntaxKind.QuestionToken;
}

/** Empty collections are meant to be filled. */
function moduleState(src: readonly Source[]): string[] {
  return src.flatMap(({ file, tree }) =>
    tree.statements.filter(is.isVariableStatement).flatMap(({ declarationList: list }) => {
      const isLet = /^let\b/.test(textOf(list));
      return list.declarations
        .filter(
          ({ initializer }) =>
            isLet || /^new (WeakMap|WeakSet|Map|Set)\b(<.*>)?\(\)$/.test(initializer ? textOf(initializer) : ''),
        )
        .filter(({ type }) => type === undefined || !textOf(type).startsWith('Readonly'))
        .map((one) => `${file}:${lineAt(tree, one.pos)}: ${textOf(one).split('\n')[0]}`);
    }),
  );
}

function listed(name: string, places: string[]): Measure {
  return { name, value: `${places.length}`, places };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0);
}

function at(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]!;
}
