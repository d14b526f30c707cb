/**
 * Builds the page of `guild ui` from web/ into dist/web: files with a hash in their name, compressed
 * with Brotli, and a manifest that the server reads. Users build nothing.
 */
import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { createRequire } from 'node:module';
import * as path from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants } from 'node:zlib';

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const OUT = path.join(ROOT, 'dist', 'web');

/** Returns the bundled source files; empty if there is no page. */
export function buildWindow() {
  const { buildSync } = createRequire(import.meta.url)('esbuild'); // Not installed yet when setup starts.
  if (!fs.existsSync(path.join(ROOT, 'web'))) return [];
  fs.rmSync(OUT, { recursive: true, force: true });
  const options = {
    absWorkingDir: ROOT,
    outdir: OUT,
    entryNames: '[name]-[hash]',
    chunkNames: 'chunk-[hash]',
    bundle: true,
    format: 'esm',
    target: 'es2022',
    minify: true,
    jsx: 'automatic',
    jsxImportSource: 'preact',
    tsconfig: 'web/tsconfig.json',
    legalComments: 'none', // THIRD-PARTY-NOTICES has the full texts.
    metafile: true,
    logLevel: 'error',
  };
  const entryPoints = { app: 'web/main.tsx', style: 'web/style/index.css', icon: 'web/icon.svg' };
  const { metafile } = buildSync({ ...options, entryPoints, loader: { '.svg': 'copy' }, splitting: true });
  // An exported run is one file, so its script cannot load others.
  buildSync({ ...options, entryPoints: { export: 'web/export.tsx' }, splitting: false });
  const worker = buildSync({ ...options, entryPoints: { worker: 'web/graph/layout-worker.ts' }, splitting: false });
  const outputs = { ...metafile.outputs, ...worker.metafile.outputs };
  const files = Object.keys(outputs).map((file) => path.basename(file));
  for (const file of files) compress(file);
  const named = (start) => files.find((file) => file.startsWith(`${start}-`));
  const manifest = {
    id: createHash('sha256').update(files.join()).digest('hex').slice(0, 12),
    script: named('app'),
    styles: [named('style')],
    icon: named('icon'),
    worker: named('worker'),
    exported: fs.readdirSync(OUT).find((file) => /^export-.*\.js$/.test(file)),
    files: [...files, ...files.map((file) => `${file}.br`)],
  };
  fs.writeFileSync(path.join(OUT, 'manifest.json'), JSON.stringify(manifest));
  return [...Object.keys(metafile.inputs), ...Object.keys(worker.metafile.inputs)];
}

function compress(file) {
  const bytes = fs.readFileSync(path.join(OUT, file));
  const options = { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } };
  fs.writeFileSync(path.join(OUT, `${file}.br`), brotliCompressSync(bytes, options));
}
