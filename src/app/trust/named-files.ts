/**
 * Files of the workspace that a trusted command names, such as the script of an MCP server, with
 * the code next to them: a change to them changes what the command does. Data that a program may
 * write itself is left out, and so is code that a named file loads from other folders.
 */
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { attempt } from '../../domain/attempt.js';
import type { NamedFiles } from '../../domain/consent/trust.js';
import { isMapping } from '../../domain/mapping.js';
import { readRuleFile } from '../../adapters/policy-files/index.js';

const DATA = /\.(?:db|sqlite3?|jsonl|log|lock|csv|tsv|txt|md|pdf|png|jpe?g)$/i;
const CODE = /\.(?:[cm]?[jt]sx?|py|rb|pl|php|lua|sh|bash|zsh|fish|ps1|jar|wasm|so|node|exe)$|^package\.json$/i;
const ENTRIES = ['package.json', 'index.js', 'index.mjs', 'index.cjs', 'index.ts', '__main__.py', '__init__.py'];
/** They run code that their settings and packages name. */
const RUNNERS =
  /^(?:npx|npm|pnpm|pnpx|yarn|bun|bunx|deno|uv|uvx|pipx|poetry|make|just|cargo|go|docker-compose)(?:\.exe|\.cmd)?$/;
const RUNNER_FILES = [
  ...['package.json', '.npmrc', '.yarnrc', '.yarnrc.yml', 'pnpm-workspace.yaml', '.pnpmfile.cjs', 'bunfig.toml'],
  ...['deno.json', 'deno.jsonc', 'pyproject.toml', 'uv.toml', 'Makefile', 'makefile', 'GNUmakefile', 'justfile'],
  ...['Cargo.toml', 'go.mod'],
];
const MAKEFILES = ['Makefile', 'makefile', 'GNUmakefile', 'justfile'];
const OTHERS = new Set(['.git', '.guild', '.venv', 'venv', '__pycache__', 'node_modules']);
const MAX_FOLDERS = 20;
const MAX_FILES = 2000;
const MAX_BYTES = 16 * 1024 * 1024;

/** By the part of guild.yaml with the command: the name of a plugin, or `notify`. */
export function namedByParts(root: string, parts: Record<string, unknown>): Record<string, NamedFiles> | undefined {
  const named = Object.entries(parts).flatMap(([part, settings]) => {
    const files = namedFiles(root, settings);
    return files === undefined ? [] : [[part, files] as const];
  });
  return named.length === 0 ? undefined : Object.fromEntries(named);
}

/** Undefined if the settings contain no command or name no file. */
function namedFiles(root: string, settings: unknown): NamedFiles | undefined {
  const words = commandWords(settings);
  if (words.length === 0) return undefined;
  const found = new Set<string>();
  const named = [...new Set(words.flatMap(candidates))];
  // `cd tools && node server.mjs`, `PYTHONPATH=tools` and the like.
  const folders = named.filter((word) => statOf(path.join(root, inside(root, word) ?? ''))?.isDirectory());
  for (const folder of ['', ...folders.slice(0, MAX_FOLDERS)])
    for (const word of named) addNamed(root, path.join(folder, word), found);
  if (words.some((word) => RUNNERS.test(path.basename(word)))) {
    // `make -C tools` and `npm --prefix tools` take the settings of that folder.
    for (const folder of ['', ...folders.slice(0, MAX_FOLDERS)]) addRunner(root, folder, words, found);
    for (const word of words) addPackage(root, word, found);
  }
  const files = [...found].sort().slice(0, MAX_FILES);
  return files.length === 0
    ? undefined
    : Object.fromEntries(files.map((file) => [file, printOf(path.join(root, file))]));
}

/** The words of every command in the settings, and the strings next to it, such as variables. */
function commandWords(settings: unknown): string[] {
  if (typeof settings === 'string') return settings.split(/[\s;&|<>()'"`]+/).filter(Boolean);
  if (Array.isArray(settings)) return settings.flatMap(commandWords);
  if (!isMapping(settings)) return [];
  if ('command' in settings) return strings(settings).flatMap((text) => [text, ...commandWords(text)]);
  return Object.values(settings).flatMap((value) => (isMapping(value) ? commandWords(value) : []));
}

function strings(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(strings);
  return isMapping(value) ? Object.values(value).flatMap(strings) : [];
}

/** `--require=./x.mjs`, `file:tools/x.mjs` and `python -m tools.server` name files, too. */
function candidates(word: string): string[] {
  const bare = [word, ...word.split(/[=,:]/)].map((part) => part.replace(/^file:(?:\/\/)?/, ''));
  const modules = /^[A-Za-z_][\w.]*$/.test(word) ? [word.replaceAll('.', '/'), `${word.replaceAll('.', '/')}.py`] : [];
  return [...new Set([...bare, ...modules])].filter((part) => part !== '' && part.length < 1024);
}

function addNamed(root: string, word: string, found: Set<string>): void {
  const file = inside(root, word);
  if (file === undefined) return;
  const stat = statOf(path.join(root, file));
  if (stat?.isFile() && !DATA.test(file)) {
    found.add(file);
    // A script loads code from where it is, not from where a link to it is.
    const target = inside(
      attempt(() => fs.realpathSync(root), root),
      attempt(() => fs.realpathSync(path.join(root, file)), ''),
    );
    for (const each of new Set([file, target ?? file])) {
      const folder = path.dirname(each);
      addCode(root, folder, found, folder !== '.');
    }
  } else if (stat?.isDirectory() && ENTRIES.some((entry) => statOf(path.join(root, file, entry)) !== undefined))
    addCode(root, file, found, file !== '');
}

function addRunner(root: string, folder: string, words: readonly string[], found: Set<string>): void {
  for (const file of RUNNER_FILES) addFile(root, path.join(folder, file), found);
  for (const line of scriptsOf(path.join(root, folder), words))
    for (const word of commandWords(line).flatMap(candidates)) addNamed(root, path.join(folder, word), found);
}

/** The lines that `npm run` or `make` would run, and those that they lead to. */
function scriptsOf(folder: string, words: readonly string[]): string[] {
  const textOf = (file: string): string =>
    attempt(() => readRuleFile(path.join(folder, file), MAX_BYTES)?.toString(), undefined) ?? '';
  const settings = attempt(() => JSON.parse(textOf('package.json')) as unknown);
  const scripts = isMapping(settings) ? settings['scripts'] : undefined;
  const lines = isMapping(scripts) ? scripts : {};
  const names = new Set(words);
  for (const name of names)
    for (const each of [`pre${name}`, name, `post${name}`])
      if (Object.hasOwn(lines, each)) for (const word of [each, ...commandWords(lines[each])]) names.add(word);
  const recipes = words.some((word) => /(?:^|\/)(?:make|just)$/.test(word)) ? MAKEFILES.map(textOf) : [];
  return [...[...names].flatMap((name) => (Object.hasOwn(lines, name) ? [String(lines[name])] : [])), ...recipes];
}

function addPackage(root: string, word: string, found: Set<string>): void {
  // Not `.` or `..`, which are folders.
  const name = /^(@\w[\w.-]*\/)?\w[\w.-]*/.exec(word)?.[0];
  if (name === undefined) return;
  addFile(root, `node_modules/.bin/${path.basename(name)}`, found);
  addCode(root, `node_modules/${name}`, found, true);
}

function addFile(root: string, file: string, found: Set<string>): void {
  if (statOf(path.join(root, file))?.isFile()) found.add(file);
}

/** The code in this folder, and below it. */
function addCode(root: string, folder: string, found: Set<string>, isDeep: boolean): void {
  const entries = attempt(() => fs.readdirSync(path.join(root, folder), { withFileTypes: true }), []);
  for (const entry of entries) {
    if (found.size > MAX_FILES) return;
    const file = path.join(folder, entry.name);
    if (entry.isDirectory()) {
      if (isDeep && !OTHERS.has(entry.name)) addCode(root, file, found, true);
    } else if (CODE.test(entry.name)) found.add(file);
  }
}

function inside(root: string, word: string): string | undefined {
  const file = path.relative(root, path.resolve(root, word));
  return file === '..' || file.startsWith(`..${path.sep}`) || path.isAbsolute(file) ? undefined : file;
}

function statOf(file: string): fs.Stats | undefined {
  return attempt(() => fs.statSync(file));
}

function printOf(file: string): string {
  const bytes = attempt(() => readRuleFile(file, MAX_BYTES));
  const stat = statOf(file);
  // Too big to read, or a link that leads nowhere.
  if (bytes === undefined) return `${stat?.size} ${stat?.mtimeMs}`;
  return createHash('sha256').update(bytes).digest('hex');
}
