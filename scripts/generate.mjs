/**
 * `npm run generate`: writes `schemas/`, `man/` and the generated pages of `docs/reference/`.
 * With `--check` it only lists the stale files.
 */
import * as fs from 'node:fs';
import * as path from 'node:path';
import { fileURLToPath } from 'node:url';
import { ROOT, setup } from './setup.mjs';

/** Every generated file with its text, by its path in the repository. */
async function generated() {
  const { schemaFiles } = await import('./reference/json-schema.mjs');
  const { keyPages } = await import('./reference/key-pages.mjs');
  const { codePages } = await import('./reference/code-pages.mjs');
  return new Map([...schemaFiles(), ...keyPages(), ...codePages()]);
}

/** The generated files that are missing or differ. */
export async function staleFiles() {
  return [...(await generated())].filter(([file, text]) => read(file) !== text).map(([file]) => file);
}

function read(file) {
  const full = path.join(ROOT, file);
  return fs.existsSync(full) ? fs.readFileSync(full, 'utf8') : undefined;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  setup({ build: true });
  const stale = await staleFiles();
  for (const file of stale) process.stdout.write(`${file}\n`);
  if (process.argv.includes('--check')) process.exitCode = stale.length === 0 ? 0 : 1;
  else for (const [file, text] of await generated()) fs.writeFileSync(path.join(ROOT, file), text);
}
