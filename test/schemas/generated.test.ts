/** The published schemas and the reference pages agree with the code. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..', '..', '..');

test('schemas/ and docs/reference/ are up to date', async () => {
  const script = pathToFileURL(path.join(ROOT, 'scripts', 'generate.mjs')).href;
  const { staleFiles } = (await import(script)) as { staleFiles(): Promise<string[]> };
  assert.deepEqual(await staleFiles(), [], 'run: npm run generate');
});

test('every environment variable that the sources read is in the reference', async () => {
  const list = pathToFileURL(path.join(ROOT, 'scripts', 'reference', 'environment.mjs')).href;
  const { VARIABLES } = (await import(list)) as { VARIABLES: Record<string, string> };
  const read = sources(path.join(ROOT, 'src')).flatMap((file) =>
    [...fs.readFileSync(file, 'utf8').matchAll(/\benv\[?\.?['"]?([A-Z][A-Z_]+)\b/g)].map((match) => match[1]!),
  );
  assert.ok(read.length > 5);
  assert.deepEqual(
    read.filter((name) => !(name in VARIABLES)),
    [],
  );
});

test('schemas work where code may not be made from text, as on a page with a strict policy', () => {
  const code = `
    const { parseConfig } = await import(${JSON.stringify(compiled('text/config/config.js'))});
    console.log(JSON.stringify(parseConfig('limits: {parallel: 3, depht: 1}', 'guild.yaml')));`;
  const { config, problems } = run(code, '--disallow-code-generation-from-strings') as {
    config: { limits: { parallel: number } };
    problems: { hint: string }[];
  };
  assert.equal(config.limits.parallel, 3);
  assert.equal(problems[0]!.hint, 'did you mean "depth"?');
});

test('the help texts do not load zod', () => {
  const code = `
    const { main } = await import(${JSON.stringify(compiled('cli/main.js'))});
    process.stdout.write = () => true;
    await main(['--help']);
    delete process.stdout.write;
    console.log(JSON.stringify('__zod_globalConfig' in globalThis));`;
  assert.equal(run(code), false);
});

function sources(folder: string): string[] {
  return fs.readdirSync(folder, { recursive: true, encoding: 'utf8' }).flatMap((name) => {
    return name.endsWith('.ts') ? [path.join(folder, name)] : [];
  });
}

function compiled(file: string): string {
  return pathToFileURL(path.join(ROOT, 'dist', 'src', file)).href;
}

function run(code: string, ...flags: string[]): unknown {
  const done = spawnSync(process.execPath, [...flags, '--input-type=module', '-e', code], { encoding: 'utf8' });
  assert.equal(done.status, 0, done.stderr);
  return JSON.parse(done.stdout);
}
