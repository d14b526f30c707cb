/**
 * Bundles packages into dist with esbuild and writes their licences to THIRD-PARTY-NOTICES. The AI
 * SDK goes to dist/vendor, which `#ai-sdk/…` in package.json points to: it runs on Node 20 but
 * declares Node 22, so npm would print warnings on every installation of guildhall.
 */
import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { createRequire } from 'node:module';
import * as path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const VENDOR = path.join(ROOT, 'dist', 'vendor');
const STAMP = path.join(VENDOR, '.stamp');
const NOTICES = path.join(ROOT, 'THIRD-PARTY-NOTICES');
const ENTRIES = {
  anthropic: '@ai-sdk/anthropic',
  google: '@ai-sdk/google',
  openai: '@ai-sdk/openai',
  mcp: '@ai-sdk/mcp',
  'mcp-stdio': '@ai-sdk/mcp/mcp-stdio',
};

/** One file with the parts of zod that we use. Its hundred modules load ten times slower. */
export function bundleZod() {
  const file = path.join(ROOT, 'dist', 'src', 'schemas', 'zod.js');
  if (!fs.existsSync(file)) return;
  build({ entryPoints: [file], outfile: file, allowOverwrite: true, minify: true });
}

/** Does nothing if packages and this script are unchanged since the last run. */
export function bundleAiSdk() {
  if (fs.existsSync(NOTICES) && fs.existsSync(STAMP) && fs.readFileSync(STAMP, 'utf8') === fingerprint()) return;
  fs.rmSync(VENDOR, { recursive: true, force: true });
  const inputs = build({
    entryPoints: ENTRIES,
    outdir: VENDOR,
    splitting: true,
    minifySyntax: true,
    minifyWhitespace: true,
    // The MCP client uses cross-spawn, a CommonJS package that requires Node's own modules.
    banner: {
      js: `import { createRequire as requireFrom } from 'node:module';\nconst require = requireFrom(import.meta.url);`,
    },
  });
  fs.writeFileSync(NOTICES, notices(packagesOf(inputs)));
  fs.mkdirSync(VENDOR, { recursive: true });
  fs.writeFileSync(STAMP, fingerprint());
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
  const folders = files.map((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? file);
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
  // Published without a licence file, unlike the other packages of its repository.
  if (folder.endsWith('@ai-sdk/provider-utils')) return licenceText('node_modules/@ai-sdk/provider');
  throw new Error(`${folder} has no licence file; it cannot be bundled`);
}

function fingerprint() {
  const hash = createHash('sha256');
  for (const file of ['package-lock.json', 'scripts/bundle.mjs']) hash.update(fs.readFileSync(path.join(ROOT, file)));
  return hash.digest('hex');
}
