/**
 * The rules of this codebase as tests: allowed imports, length of files, banned names, and
 * documents that name only things that exist.
 */
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import { builtinModules } from 'node:module';
import * as path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { ROLE_NAMES } from '../src/domain/task/role.js';
import { FOLDERS } from './kit/source/measures.js';
import { withSources } from './kit/source/parse.js';
import { longFunctions, wideComments } from './kit/source/rules.js';
import { placeOf, unusedExports } from './kit/source/unused-exports.js';

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..', '..');

/**
 * Who may import whom. A room may always import itself, except that adapters never import each
 * other.
 */
const MAY_IMPORT: Record<string, readonly string[]> = {
  domain: [],
  rules: ['domain'],
  views: ['domain', 'rules'],
  schemas: ['domain'],
  text: ['domain', 'schemas'],
  ports: ['domain'],
  tools: ['domain', 'ports'],
  engine: ['domain', 'rules', 'views', 'ports', 'tools'],
  adapters: ['domain', 'rules', 'views', 'text', 'ports', 'tools'],
  app: ['domain', 'rules', 'views', 'text', 'ports', 'tools', 'engine', 'adapters'],
  cli: ['app', 'domain', 'rules', 'views', 'web'],
  web: ['app', 'domain', 'rules', 'views'],
};
/** The engine is a stack: a room may import the rooms before it in this list. */
const ENGINE_ROOMS = [
  'core',
  'tasks',
  'approvals',
  'calls',
  'conversation',
  'coordination',
  'staffing',
  'intake',
  'pass',
];
const FOLDER_FILES_MAX = 20;
const PACKAGES_IN = ['adapters', 'schemas', 'text', 'cli', 'web'];
const NO_BUILTINS_IN = ['domain', 'rules', 'views', 'schemas', 'text'];
const LINES_MAX = 400;
const TEST_LINES_MAX = 700;
const AGENTS_LINES_MAX = 80;
const BAD_WORDS = ['manager', 'service', 'helper', 'util', 'common', 'handler', 'processor'];

const sources = files('src', '.ts');
const codes = [
  ...sources,
  ...files('test', '.ts'),
  ...files('bench', '.ts'),
  ...files('scripts', '.mjs'),
  ...files('bin', '.mjs'),
];
const documents = [
  ...['README.md', 'AGENTS.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md'].filter((file) =>
    fs.existsSync(path.join(ROOT, file)),
  ),
  ...files('docs', '.md'),
  ...files('examples', 'README.md'),
  ...files('starter', 'README.md'),
];

/** Parsing takes seconds, so the rules that need it share one pass. */
const parsed = withSources(ROOT, FOLDERS, (all) => {
  const under = (...folders: string[]) => all.filter(({ file }) => folders.includes(file.split('/')[0]!));
  return {
    long: longFunctions(under('src')),
    wide: wideComments(under('src', 'web', 'test', 'bench')),
    unused: unusedExports(all)
      .filter(({ byTests, isUsedHere }) => !byTests || !isUsedHere)
      .map(placeOf),
  };
});

test('every room imports only what the table allows', () => {
  const wrong: string[] = [];
  for (const file of sources) {
    for (const specifier of imports(file)) {
      const why = whyNot(file, specifier);
      if (why !== undefined) wrong.push(`${file} imports ${specifier}: ${why}`);
    }
  }
  none(wrong);
});

test('files do not import each other in a cycle', () => {
  none(cycles(importGraph()).map((cycle) => cycle.join(' → ')));
});

test('folders do not import each other in a cycle', () => {
  const folders = new Map<string, string[]>();
  for (const [file, targets] of importGraph()) {
    const from = path.posix.dirname(file);
    const others = targets.map((to) => path.posix.dirname(to)).filter((to) => to !== from);
    folders.set(from, [...new Set([...(folders.get(from) ?? []), ...others])]);
  }
  none(cycles(folders).map((cycle) => cycle.join(' → ')));
});

test('engine rooms import only rooms above them', () => {
  const level = (file: string): number => ENGINE_ROOMS.indexOf(file.split('/')[2]!);
  const wrong: string[] = [];
  for (const [file, targets] of importGraph()) {
    if (!file.startsWith('src/engine/')) continue;
    if (level(file) < 0) wrong.push(`${file} is in no engine room`);
    for (const to of targets)
      if (to.startsWith('src/engine/') && level(to) > level(file)) wrong.push(`${file} imports ${to}`);
  }
  none(wrong);
});

test('a folder has at most twenty files', () => {
  const counts = new Map<string, number>();
  for (const file of [...sources, ...files('test', '.ts')]) {
    const folder = path.posix.dirname(file);
    counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  none([...counts].filter(([, count]) => count > FOLDER_FILES_MAX).map(([folder, count]) => `${folder}: ${count}`));
});

test('a function has at most 70 lines without its inner functions', () => {
  none(parsed.long);
});

test('a comment ends within 100 columns', () => {
  none(parsed.wide);
});

test('every export has a user outside its file, or one inside it and a test', () => {
  none(parsed.unused);
});

test('files are short enough to read', () => {
  none(
    codes
      .filter((file) => lines(file) > (file.startsWith('src/') ? LINES_MAX : TEST_LINES_MAX))
      .map((file) => `${file} has ${lines(file)} lines`),
  );
});

test('every source says at its top what it is', () => {
  none(sources.filter((file) => !/^\/\*\*[\s\S]{15,}?\*\//.test(text(file))));
});

test('file names are kebab-case', () => {
  const kebab = /^[a-z0-9]+(-[a-z0-9]+)*(\.test)?\.(ts|mjs)$/;
  none(codes.filter((file) => !kebab.test(path.basename(file))));
});

test('no name says manager, service, helper, util, common, handler or processor', () => {
  const wrong: string[] = [];
  for (const file of sources) {
    const bad = (name: string) => words(name).some((word) => BAD_WORDS.includes(word.replace(/s$/, '')));
    if (bad(file.replace(/\.ts$/, ''))) wrong.push(file);
    wrong.push(
      ...exportedNames(file)
        .filter(bad)
        .map((name) => `${file}: ${name}`),
    );
  }
  none(wrong);
});

test('nothing is left for later, switched off or hidden from the compiler', () => {
  const patterns: [RegExp, string][] = [
    [/\b(?:test|it|describe|suite)\.(?:only|skip|todo)\b/, 'a test that does not run'],
    [/\b(?:only|skip|todo): true\b/, 'a test that does not run'],
    [/(?:\/\/|^\s*\*|\/\*\*?)\s*(?:TODO|FIXME|HACK|XXX)\b|\b(?:TODO|FIXME)\s*[:(]/, 'work left for later'],
    [/@ts-(?:ignore|nocheck)/, 'an error hidden from the compiler'],
  ];
  const wrong: string[] = [];
  for (const file of codes.filter((each) => each !== 'test/tidy.test.ts')) {
    for (const [at, line] of text(file).split('\n').entries()) {
      const found = patterns.find(([pattern]) => pattern.test(line));
      if (found) wrong.push(`${file}:${at + 1}: ${found[1]}: ${line.trim()}`);
    }
  }
  none(wrong);
});

test('random inputs of tests follow from the one seed', () => {
  const takesItself = (file: string): boolean => imports(file).includes('fast-check');
  none(codes.filter((file) => file !== 'test/kit/properties.ts' && takesItself(file)));
});

test('only the table of roles knows what follows from the name of a role', () => {
  const names = `'(?:${ROLE_NAMES.join('|')})'`;
  const compared = new RegExp(
    `\\brole\\b[)!]*\\s*[!=]==\\s*(?:${names}|\\w+_ROLE\\b)|\\b(?:has|includes)\\([\\w.!?]*\\brole\\)`,
  );
  none(linesWith(compared, (file) => file !== 'src/domain/task/role.ts'));
});

test('no behaviour depends on the wording of a message', () => {
  const sentence = `(['"\`])[^'"\`\\n]*[A-Za-z],? [A-Za-z][^'"\`\\n]*\\1`;
  const compared = new RegExp(`(?:\\.(?:includes|startsWith|endsWith|indexOf)\\(\\s*|[!=]== )${sentence}`);
  // Text that people and other programs wrote is read in text/.
  none(linesWith(compared, (file) => roomOf(file) !== 'text'));
});

test('intervals at which something is looked at are in one table', () => {
  none(linesWith(/\bconst [A-Z_]*(?:LOOK|CHECK|POLL|FRAME)[A-Z_]*_MS\b/, (file) => file !== 'src/domain/intervals.ts'));
});

test('no folder of a workspace is listed recursively: from Node 22 on, that follows links', () => {
  // The starter is part of the package.
  none(linesWith(/readdir\w*\(.*recursive: true/, (file) => file !== 'src/adapters/starter/index.ts'));
});

function linesWith(pattern: RegExp, isChecked: (file: string) => boolean): string[] {
  return sources.filter(isChecked).flatMap((file) =>
    withoutComments(file)
      .split('\n')
      .flatMap((line) => (pattern.test(line) ? [`${file}: ${line.trim()}`] : [])),
  );
}

test('no object inherits from a given one: its other fields would change behind the reader', () => {
  none(linesWith(/Object\.create\((?!null\))/, () => true));
});

test('no verb of the store is optional', () => {
  none(linesWith(/^ {2}\w+\?(?:\(|: \(.*\) =>)/, (file) => file.startsWith('src/ports/store/')));
});

test('no source casts to any', () => {
  none(sources.filter((file) => /\bas any\b/.test(withoutComments(file))));
});

test('AGENTS.md fits on two screens', () => {
  assert.ok(
    lines('AGENTS.md') <= AGENTS_LINES_MAX,
    `AGENTS.md has ${lines('AGENTS.md')} lines, at most ${AGENTS_LINES_MAX}`,
  );
});

test('package-lock.json names no host', () => {
  const packages = JSON.parse(text('package-lock.json')).packages as Record<
    string,
    { resolved?: string; version?: string }
  >;
  none(
    Object.entries(packages).flatMap(([name, entry]) =>
      entry.resolved === undefined ? [] : [`${name} from ${entry.resolved}`],
    ),
  );
});

test('package-lock.json holds every package it promises, for every platform', () => {
  const packages = JSON.parse(text('package-lock.json')).packages as Record<
    string,
    { optionalDependencies?: Record<string, string> }
  >;
  const wrong: string[] = [];
  for (const [name, entry] of Object.entries(packages)) {
    for (const wanted of Object.keys(entry.optionalDependencies ?? {})) {
      if (!(`node_modules/${wanted}` in packages)) wrong.push(`${name} wants ${wanted}`);
    }
  }
  none(wrong);
});

test('every relative link in the documents leads somewhere', () => {
  const wrong: string[] = [];
  for (const file of documents) {
    for (const link of links(text(file))) {
      const to = path.join(ROOT, path.dirname(file), decodeURI(link.replace(/[#?].*$/, '')));
      if (!fs.existsSync(to)) wrong.push(`${file}: ${link}`);
    }
  }
  none(wrong);
});

test('every command that the documents show exists', async () => {
  const known = await commandNames();
  if (known === undefined) return; // The command line is not built yet.
  const wrong: string[] = [];
  for (const file of [...documents, ...files('starter', '.yaml'), ...files('examples', '.yaml')]) {
    for (const word of commandsIn(text(file))) if (!known.has(word)) wrong.push(`${file}: guild ${word}`);
  }
  none(wrong);
});

test('names in the code keep to the glossary', () => {
  const avoided = avoidedWords(text('docs/words.md'));
  assert.ok(avoided.size > 5, 'docs/words.md marks words to avoid with backquotes in its last column');
  const wrong: string[] = [];
  for (const file of sources) {
    for (const name of [path.basename(file, '.ts'), ...declaredNames(file)]) {
      for (const word of words(name)) {
        const instead = avoided.get(word);
        if (instead !== undefined) wrong.push(`${file}: ${name}: say ${instead}, not ${word}`);
      }
    }
  }
  none(wrong);
});

// Reading the tree

function files(under: string, ending: string): string[] {
  const start = path.join(ROOT, under);
  if (!fs.existsSync(start)) return [];
  return fs
    .readdirSync(start, { withFileTypes: true })
    .flatMap((entry) => {
      const inside = `${under}/${entry.name}`;
      if (entry.isDirectory()) return files(inside, ending);
      return entry.name.endsWith(ending) ? [inside] : [];
    })
    .sort();
}

function text(file: string): string {
  return fs.readFileSync(path.join(ROOT, file), 'utf8');
}

/** Without the lines that contain only a comment. */
function withoutComments(file: string): string {
  return text(file)
    .split('\n')
    .filter((line) => !/^\s*(\/?\*|\/\/)/.test(line))
    .join('\n');
}

function lines(file: string): number {
  return text(file).replace(/\n$/, '').split('\n').length;
}

function none(wrong: string[]): void {
  assert.deepEqual(wrong, []);
}

// Imports

/**
 * Every specifier of import, export … from and import(); `?` where import() is given no plain text.
 */
function imports(file: string): string[] {
  const code = withoutComments(file);
  const found = [...code.matchAll(/(?:^|;)[ \t]*(?:import|export)\b(?:[^;'"`]*?\bfrom)?\s*['"]([^'"]+)['"]/gm)].map(
    (match) => match[1]!,
  );
  for (const match of code.matchAll(/\bimport\(\s*(?:['"]([^'"]+)['"])?/g)) found.push(match[1] ?? '?');
  return found;
}

function whyNot(file: string, specifier: string): string | undefined {
  const room = roomOf(file);
  if (!(room in MAY_IMPORT)) return `src/${room} is not a room of this house`;
  if (specifier === '?') return PACKAGES_IN.includes(room) ? undefined : 'what it imports cannot be seen';
  if (specifier.startsWith('.')) return whyNotRoom(file, specifier);
  if (specifier.startsWith('node:')) return NO_BUILTINS_IN.includes(room) ? `${room} is pure` : undefined;
  if (builtinModules.includes(specifier)) return `write node:${specifier}`;
  return PACKAGES_IN.includes(room) ? undefined : `packages live in ${PACKAGES_IN.join(', ')}`;
}

function whyNotRoom(file: string, specifier: string): string | undefined {
  const to = target(file, specifier);
  if (to === undefined || !to.startsWith('src/')) return 'it leaves src';
  if (!fs.existsSync(path.join(ROOT, to))) return 'there is no such file';
  const [room, other] = [roomOf(file), roomOf(to)];
  if (room !== other) return MAY_IMPORT[room]!.includes(other) ? undefined : `${room} may not import ${other}`;
  if (room === 'adapters' && unitOf(file) !== unitOf(to)) return 'adapters never import each other';
  return undefined;
}

function target(file: string, specifier: string): string | undefined {
  if (!specifier.startsWith('.')) return undefined;
  return path.posix.join(path.posix.dirname(file), specifier).replace(/\.js$/, '.ts');
}

function roomOf(file: string): string {
  return file.split('/')[1]!;
}

/** An adapter is a file, or a file and the folder of the same name. */
function unitOf(file: string): string {
  return file.split('/')[2]!.replace(/\.ts$/, '');
}

function importGraph(): Map<string, string[]> {
  return new Map(sources.map((file) => [file, imports(file).flatMap((specifier) => target(file, specifier) ?? [])]));
}

function cycles(graph: Map<string, string[]>): string[][] {
  const cycles: string[][] = [];
  const finished = new Set<string>();
  const visit = (node: string, trail: string[]): void => {
    const at = trail.indexOf(node);
    if (at >= 0) return void cycles.push([...trail.slice(at), node]);
    if (finished.has(node)) return;
    for (const next of graph.get(node) ?? []) visit(next, [...trail, node]);
    finished.add(node);
  };
  for (const node of graph.keys()) visit(node, []);
  return cycles;
}

// Names

function exportedNames(file: string): string[] {
  const pattern = /^export (?:declare |abstract |async )*(?:const|let|function\*?|class|interface|type|enum) (\w+)/gm;
  return [...text(file).matchAll(pattern)].map((match) => match[1]!);
}

function declaredNames(file: string): string[] {
  const pattern =
    /^(?:export )?(?:declare |abstract |async )*(?:const|let|function\*?|class|interface|type|enum) (\w+)/gm;
  return [...text(file).matchAll(pattern)].map((match) => match[1]!);
}

/** `readTaskFile` and `read-task-file` are the same three words. */
function words(name: string): string[] {
  return name.split(/[^A-Za-z]+|(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/).map((word) => word.toLowerCase());
}

// Documents

function links(markdown: string): string[] {
  const prose = markdown.replace(/```[\s\S]*?```/g, '').replace(/`[^`\n]*`/g, '');
  const found = [...prose.matchAll(/\]\(([^)\s]+)\)|\bsrc="([^"]+)"/g)].map((match) => (match[1] ?? match[2])!);
  return found.filter((link) => !/^(?:[a-z]+:|#)/.test(link));
}

/** The first word after `guild` in code: fenced blocks and inline code. */
function commandsIn(document: string): string[] {
  const code = [...document.matchAll(/```[\s\S]*?```|`[^`\n]+`/g)].map((match) => match[0]).join('\n');
  return [...code.matchAll(/(?:^|[\s`&;|(])guild[ \t]+([a-z][a-z-]*)/gm)].map((match) => match[1]!);
}

/** Names of commands as the command line itself lists them; undefined while there is none. */
async function commandNames(): Promise<Set<string> | undefined> {
  const compiled = path.join(path.dirname(fileURLToPath(import.meta.url)), '..', 'src', 'cli', 'commands.js');
  if (!fs.existsSync(compiled)) return undefined;
  const { COMMANDS } = (await import(pathToFileURL(compiled).href)) as {
    COMMANDS: Record<string, unknown> | { name: string }[];
  };
  return new Set(Array.isArray(COMMANDS) ? COMMANDS.map((command) => command.name) : Object.keys(COMMANDS));
}

/**
 * Last column of the glossary's tables: a word in backquotes is not used in names. Returns the
 * preferred word.
 */
function avoidedWords(glossary: string): Map<string, string> {
  const avoided = new Map<string, string>();
  for (const line of glossary.split('\n').filter((each) => each.startsWith('| **'))) {
    const cells = line.split('|').map((cell) => cell.trim());
    const say = cells[1]!.replaceAll('*', '');
    for (const match of cells.at(-2)!.matchAll(/`([^`]+)`/g)) avoided.set(match[1]!, say);
  }
  return avoided;
}
