/**
 * Reads a source tree with the TypeScript parser: functions with their lengths, imports, exports,
 * comments. The rules in rules.ts and scripts/measures.mjs work on what this returns.
 */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { SyntaxKind, type Node, type SourceFile } from 'typescript/unstable/ast';
import * as is from 'typescript/unstable/ast/is';
import { API } from 'typescript/unstable/sync';

export interface Source {
  /** From the root of the tree, with slashes. */
  file: string;
  text: string;
  lines: number;
  functions: SourceFunction[];
  imports: SourceImport[];
  exports: SourceExport[];
  comments: SourceComment[];
  /** The parsed file, for further checks. Valid until the tree is closed. */
  tree: SourceFile;
}

interface SourceFunction {
  name: string;
  /** From 1. */
  line: number;
  lines: number;
  /** Without its inner functions: each of them counts as one line here. */
  ownLines: number;
}

interface SourceImport {
  /** The imported file, or the specifier of a package. */
  from: string;
  isRelative: boolean;
  /** Names as the other file exports them; `all` for namespaces and whole modules. */
  names: readonly string[] | 'all';
  line: number;
}

interface SourceExport {
  name: string;
  isType: boolean;
  line: number;
  /** The file uses it itself. */
  isUsedHere: boolean;
}

/** The part of a comment that is on one line. */
interface SourceComment {
  line: number;
  /** Columns of the line, up to the end of the comment. */
  columns: number;
}

/** Parses all .ts, .mjs and .js files in these folders. `then` runs while the trees can be read. */
export function withSources<T>(root: string, folders: readonly string[], then: (sources: Source[]) => T): T {
  const files = folders
    .flatMap((folder) => walk(path.join(root, folder)))
    .filter((file) => /\.(tsx?|mjs|js)$/.test(file));
  const config = fs.mkdtempSync(path.join(os.tmpdir(), 'guild-source-'));
  const file = path.join(config, 'tsconfig.json');
  const compilerOptions = { allowJs: true, jsx: 'preserve', noResolve: true, noLib: true, types: [] };
  fs.writeFileSync(file, JSON.stringify({ compilerOptions, files }));
  const api = new API({ cwd: config });
  try {
    const program = api.updateSnapshot({ openProject: file }).getProject(file)!.program;
    return then(files.map((each) => sourceOf(root, each, program.getSourceFile(each)!)));
  } finally {
    api.close();
    fs.rmSync(config, { recursive: true, force: true });
  }
}

/** Calls `visit` for every node below this one, in order. */
export function eachNode(node: Node, visit: (node: Node) => void): void {
  node.forEachChild((child) => {
    visit(child);
    eachNode(child, visit);
    return undefined;
  });
}

export function lineAt(tree: SourceFile, position: number): number {
  return tree.getLineAndCharacterOfPosition(position).line + 1;
}

function walk(start: string): string[] {
  if (!fs.existsSync(start)) return [];
  const entries = fs.readdirSync(start, { withFileTypes: true, recursive: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
    .sort();
}

function sourceOf(root: string, full: string, tree: SourceFile): Source {
  const file = path.relative(root, full).split(path.sep).join('/');
  const { text } = tree;
  return {
    file,
    text,
    lines: text.replace(/\n$/, '').split('\n').length,
    functions: functionsIn(tree),
    imports: importsIn(file, tree),
    exports: exportsIn(tree),
    comments: commentsIn(tree),
    tree,
  };
}

const FUNCTIONS: ReadonlySet<SyntaxKind> = new Set([
  SyntaxKind.FunctionDeclaration,
  SyntaxKind.FunctionExpression,
  SyntaxKind.ArrowFunction,
  SyntaxKind.MethodDeclaration,
  SyntaxKind.Constructor,
  SyntaxKind.GetAccessor,
  SyntaxKind.SetAccessor,
]);

function functionsIn(tree: SourceFile): SourceFunction[] {
  const found: SourceFunction[] = [];
  const visit = (node: Node, outer: SourceFunction | undefined): void => {
    let inside = outer;
    if (FUNCTIONS.has(node.kind)) {
      const line = lineAt(tree, node.getStart(tree));
      const lines = lineAt(tree, node.end) - line + 1;
      inside = { name: nameOf(node), line, lines, ownLines: lines };
      found.push(inside);
      if (outer !== undefined) outer.ownLines -= lines - 1;
    }
    node.forEachChild((child) => {
      visit(child, inside);
      return undefined;
    });
  };
  visit(tree, undefined);
  return found;
}

function nameOf(node: Node): string {
  const own = (node as { name?: Node }).name;
  if (own !== undefined) return textOf(own);
  const { parent } = node;
  if (is.isVariableDeclaration(parent) || is.isPropertyAssignment(parent)) return textOf(parent.name);
  if (is.isCallExpression(parent)) return `callback of ${textOf(parent.expression).split('\n')[0]}`;
  return 'function';
}

export function textOf(node: Node): string {
  const tree = node.getSourceFile();
  return tree.text.slice(node.getStart(tree), node.end);
}

function importsIn(file: string, tree: SourceFile): SourceImport[] {
  const found: SourceImport[] = [];
  const add = (specifier: Node | undefined, names: SourceImport['names']): void => {
    if (specifier === undefined || !is.isStringLiteral(specifier)) return;
    const isRelative = specifier.text.startsWith('.');
    const from = isRelative ? target(file, specifier.text) : specifier.text;
    found.push({ from, isRelative, names, line: lineAt(tree, specifier.pos) });
  };
  eachNode(tree, (node) => {
    if (is.isImportDeclaration(node)) add(node.moduleSpecifier, importedNames(node.importClause));
    else if (is.isExportDeclaration(node)) add(node.moduleSpecifier, namesOf(node.exportClause));
    else if (is.isImportTypeNode(node)) add((node.argument as { literal?: Node }).literal, typeNames(node.qualifier));
    else if (is.isCallExpression(node) && node.expression.kind === SyntaxKind.ImportKeyword)
      add(node.arguments[0], boundNames(node));
  });
  return found;
}

/** Compiled files stand for their sources. */
function target(file: string, specifier: string): string {
  const full = path.posix.join(path.posix.dirname(file), specifier).replace(/^dist\//, '');
  return /^(src|test|bench)\//.test(full) ? full.replace(/\.js$/, '.ts') : full;
}

function importedNames(clause: Node | undefined): SourceImport['names'] {
  if (clause === undefined) return [];
  const { name, namedBindings } = clause as { name?: Node; namedBindings?: Node };
  const named = namedBindings === undefined ? [] : namesOf(namedBindings);
  return named === 'all' ? 'all' : [...(name === undefined ? [] : ['default']), ...named];
}

/** Of `{a, b as c}` in an import or export: a and b. */
function namesOf(clause: Node | undefined): SourceImport['names'] {
  const { elements } = (clause ?? {}) as { elements?: readonly { name: Node; propertyName?: Node }[] };
  return elements?.map((one) => textOf(one.propertyName ?? one.name)) ?? 'all';
}

function typeNames(qualifier: Node | undefined): SourceImport['names'] {
  return qualifier === undefined ? 'all' : [textOf(qualifier).split('.')[0]!];
}

/** Of `const {a} = await import(…)`: a. */
function boundNames(call: Node): SourceImport['names'] {
  let { parent } = call;
  while (is.isAwaitExpression(parent) || is.isParenthesizedExpression(parent) || is.isAsExpression(parent))
    ({ parent } = parent);
  if (is.isPropertyAccessExpression(parent) && parent.expression !== call) return [textOf(parent.name)];
  return is.isVariableDeclaration(parent) && is.isObjectBindingPattern(parent.name) ? namesOf(parent.name) : 'all';
}

function exportsIn(tree: SourceFile): SourceExport[] {
  const found = tree.statements.flatMap((statement): Omit<SourceExport, 'isUsedHere'>[] => {
    if (is.isExportDeclaration(statement)) return passedOn(tree, statement);
    const { modifiers } = statement as { modifiers?: readonly Node[] };
    if (!modifiers?.some(({ kind }) => kind === SyntaxKind.ExportKeyword)) return [];
    const line = lineAt(tree, statement.getStart(tree));
    const isType = is.isInterfaceDeclaration(statement) || is.isTypeAliasDeclaration(statement);
    if (is.isVariableStatement(statement))
      return statement.declarationList.declarations.map(({ name }) => ({ name: textOf(name), isType, line }));
    const { name } = statement as { name?: Node };
    return name === undefined ? [] : [{ name: textOf(name), isType, line }];
  });
  const uses = new Map<string, number>();
  eachNode(tree, (node) => {
    if (is.isIdentifier(node)) uses.set(node.text, (uses.get(node.text) ?? 0) + 1);
  });
  return found.map((one) => ({ ...one, isUsedHere: (uses.get(one.name) ?? 0) > 1 }));
}

/** Of `export { a, b as c } from …`: a and c. `export *` is not followed. */
function passedOn(tree: SourceFile, statement: Node): Omit<SourceExport, 'isUsedHere'>[] {
  const { exportClause, isTypeOnly } = statement as { exportClause?: Node; isTypeOnly?: boolean };
  const { elements } = (exportClause ?? {}) as {
    elements?: readonly { name: Node; isTypeOnly?: boolean; pos: number }[];
  };
  return (elements ?? []).map((one) => ({
    name: textOf(one.name),
    isType: isTypeOnly === true || one.isTypeOnly === true,
    line: lineAt(tree, one.name.getStart(tree)),
  }));
}

const LITERALS: ReadonlySet<SyntaxKind> = new Set([
  SyntaxKind.StringLiteral,
  SyntaxKind.NoSubstitutionTemplateLiteral,
  SyntaxKind.TemplateHead,
  SyntaxKind.TemplateMiddle,
  SyntaxKind.TemplateTail,
  SyntaxKind.RegularExpressionLiteral,
]);

/** Everything between literals that looks like a comment is one. */
function commentsIn(tree: SourceFile): SourceComment[] {
  const literals: { from: number; to: number }[] = [];
  eachNode(tree, (node) => {
    if (LITERALS.has(node.kind)) literals.push({ from: node.getStart(tree), to: node.end });
  });
  literals.sort((a, b) => a.from - b.from);
  const { text } = tree;
  const found: SourceComment[] = [];
  const comment = /\/\/[^\n]*|\/\*[\s\S]*?\*\//g;
  let from = 0;
  for (const { from: to, to: next } of [...literals, { from: text.length, to: text.length }]) {
    if (to < from) continue; // inside the literal before
    const between = text.slice(from, to);
    for (const { 0: all, index } of between.matchAll(comment)) found.push(...linesOf(tree, from + index, all));
    from = next;
  }
  return found;
}

function linesOf(tree: SourceFile, start: number, comment: string): SourceComment[] {
  const { line, character } = tree.getLineAndCharacterOfPosition(start);
  return comment
    .split('\n')
    .map((text, at) => ({ line: line + at + 1, columns: text.length + (at === 0 ? character : 0) }));
}
