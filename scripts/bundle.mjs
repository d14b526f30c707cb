/**
 * Bundles what npm delivers, with esbuild, and writes the licences of bundled packages to
 * THIRD-PARTY-NOTICES. The program goes to dist/bundle, readable and with all its names; tests
 * import the files in dist/src. The AI SDK goes to dist/vendor, which `#ai-sdk/…` in package.json
 * points to.
 */
import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { createRequire } from 'node:module';
import * as path from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildWindow } from './build-window.mjs';

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const PROGRAM = path.join(ROOT, 'dist', 'bundle');
const LIBRARY = 'dist/src/app/index.js';
const COMMAND_LINE = 'dist/src/cli/main.js';
const VENDOR = path.join(ROOT, 'dist', 'vendor');
const STAMP = path.join(VENDOR, '.stamp');
const NOTICES = path.join(ROOT, 'THIRD-PARTY-NOTICES');
const ENTRIES = {
  anthropic: '@ai-sdk/anthropic',
  google: '@ai-sdk/google',
  openai: '@ai-sdk/openai',
  'mcp-client': '@modelcontextprotocol/client',
  'mcp-stdio': '@modelcontextprotocol/client/stdio',
  pg: 'pg',
};

/**
 * Bundles the compiled sources in dist/src and writes THIRD-PARTY-NOTICES. Does nothing before the
 * sources are compiled.
 */
export function bundle() {
  if (!fs.existsSync(path.join(ROOT, LIBRARY))) return;
  bundleZod();
  const inputs = [...bundleProgram(), ...bundleAiSdk(), ...bundled(buildWindow())];
  fs.writeFileSync(NOTICES, notices(packagesOf(inputs)));
}

/** The files that come from packages; our own need no notice. */
function bundled(inputs) {
  return inputs.filter((file) => file.includes('node_modules/'));
}

/** One file with the parts of zod that we use. Its hundred modules load ten times slower. */
function bundleZod() {
  const file = path.join(ROOT, 'dist', 'src', 'schemas', 'zod.js');
  build({ entryPoints: [file], outfile: file, allowOverwrite: true, minify: true });
}

/**
 * The library, the command line and each file that is loaded by its path, with the packages they
 * use. Loading hundreds of small modules took three times as long as loading the same code from a
 * few files. Each `await import()` becomes a file that is loaded at first use. The library is
 * bundled apart from the command line: together they would be cut into 130 pieces.
 */
function bundleProgram() {
  fs.rmSync(PROGRAM, { recursive: true, force: true });
  const options = { outdir: PROGRAM, external: ['#ai-sdk/*', '#pg', ...optionalPackages()] };
  const inputs = [
    ...build({ ...options, entryPoints: { guildhall: LIBRARY }, splitting: true }),
    ...build({ ...options, entryPoints: { guild: COMMAND_LINE }, splitting: true }),
    ...filesLoadedByPath().flatMap((file) => build({ ...options, entryPoints: [file] })),
  ];
  for (const name of fs.readdirSync(PROGRAM)) keepNarrow(path.join(PROGRAM, name));
  return inputs;
}

/**
 * V8 keeps the text of a program in memory, with two bytes for each character if one of them does
 * not fit into a byte. esbuild escapes such characters in strings, but not in regular expressions
 * and comments.
 */
function keepNarrow(file) {
  const text = fs.readFileSync(file, 'utf8');
  const narrow = text.replace(/[^\0-\xff]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
  if (narrow !== text) fs.writeFileSync(file, narrow);
}

/** Users install these themselves, if they need them. */
function optionalPackages() {
  const { peerDependencies = {} } = JSON.parse(fs.readFileSync(path.join(ROOT, 'package.json'), 'utf8'));
  return Object.keys(peerDependencies).flatMap((name) => [name, `${name}/*`]);
}

/**
 * Worker threads and child processes are started from a file. A source that starts one names it
 * `new URL('./its-name.js', import.meta.url)`: that is the compiled file next to the source in
 * dist/src and, because all bundled files are in one folder, the file of that name in the bundle.
 * These names must therefore differ from each other, whatever folders they are in. Give a worker
 * `execArgv: []`: it would inherit `--input-type` from `node --input-type=module -e …` and fail.
 */
function filesLoadedByPath() {
  const reference = /new URL\(['"]\.\/([\w-]+\.js)['"],\s*import\.meta\.url\)/g;
  const files = fs.readdirSync(path.join(ROOT, 'dist', 'src'), { recursive: true, encoding: 'utf8' });
  const found = files
    .filter((file) => file.endsWith('.js'))
    .flatMap((file) => {
      const text = fs.readFileSync(path.join(ROOT, 'dist', 'src', file), 'utf8');
      return [...text.matchAll(reference)].map(([, name]) => path.join('dist', 'src', path.dirname(file), name));
    });
  const unique = [...new Set(found)];
  const names = unique.map((file) => path.basename(file));
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) throw new Error(`two files that are loaded by path have the name ${twice}`);
  return unique;
}

/**
 * Builds nothing if packages and this script are unchanged since the last run. Returns the bundled
 * files.
 */
function bundleAiSdk() {
  const before = readStamp();
  if (before?.fingerprint === fingerprint()) return before.inputs;
  fs.rmSync(VENDOR, { recursive: true, force: true });
  const inputs = build({
    entryPoints: ENTRIES,
    outdir: VENDOR,
    splitting: true,
    minifySyntax: true,
    minifyWhitespace: true,
    external: ['pg-native', 'pg-cloudflare'],
    // cross-spawn, which the MCP client uses, and pg are CommonJS and require Node's own modules.
    banner: {
      js: `import { createRequire as requireFrom } from 'node:module';\nconst require = requireFrom(import.meta.url);`,
    },
  });
  fs.writeFileSync(STAMP, JSON.stringify({ fingerprint: fingerprint(), inputs }));
  return inputs;
}

function readStamp() {
  try {
    return JSON.parse(fs.readFileSync(STAMP, 'utf8'));
  } catch {
    return undefined;
  }
}

/** Returns the bundled files. */
function build(options) {
  const { buildSync } = createRequire(import.meta.url)('esbuild'); // Not installed yet when setup starts.
  const { metafile } = buildSync({
    absWorkingDir: ROOT,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    legalComments: 'none', // THIRD-PARTY-NOTICES has the full texts.
    metafile: true,
    logLevel: 'error',
    ...options,
  });
  return Object.keys(metafile.inputs);
}

/** The folders of the packages that contain these files. */
function packagesOf(files) {
  const folders = files.flatMap((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? []);
  return [...new Set(folders)].sort((a, b) => (a < b ? -1 : 1));
}

function notices(folders) {
  const parts = folders.map((folder) => {
    const { name, version, license } = JSON.parse(fs.readFileSync(path.join(ROOT, folder, 'package.json'), 'utf8'));
    return `${name} ${version} (${license})\n\n${licenceText(folder)}\n`;
  });
  const rule = `\n${'-'.repeat(80)}\n\n`;
  return [`The package guildhall contains parts of these packages.\n`, ...new Set(parts)].join(rule);
}

function licenceText(folder) {
  const file = fs.readdirSync(path.join(ROOT, folder)).find((name) => /^licen[cs]e/i.test(name));
  if (file !== undefined) return fs.readFileSync(path.join(ROOT, folder, file), 'utf8').trim();
  const inReadme = /^## licen[cs]e\s*$([\s\S]*)/im.exec(readme(folder))?.[1]?.trim();
  if (inReadme?.includes('Permission is hereby granted')) return inReadme;
  // Published without a licence file, unlike the other packages of its repository.
  if (folder.endsWith('@ai-sdk/provider-utils')) return licenceText('node_modules/@ai-sdk/provider');
  throw new Error(`${folder} has no licence file; it cannot be bundled`);
}

function readme(folder) {
  const file = path.join(ROOT, folder, 'README.md');
  return fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : '';
}

function fingerprint() {
  const hash = createHash('sha256');
  for (const file of ['package-lock.json', 'scripts/bundle.mjs']) hash.update(fs.readFileSync(path.join(ROOT, file)));
  return hash.digest('hex');
}
