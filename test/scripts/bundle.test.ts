/** The bundle of a small program: modules that are loaded by path or at first use still work. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { test, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { tempFolder } from '../kit/temp/folder.js';

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..', '..', '..');
const LIBRARY = `
import { startEcho } from '../adapters/files/start-echo.js';
export const ask = async (text) => (await import('./late.js')).late(await startEcho(text));
`;
const START_ECHO = `
import { Worker } from 'node:worker_threads';
export function startEcho(text) {
  const worker = new Worker(new URL('./echo.js', import.meta.url), { workerData: text });
  return new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject));
}
`;
const ECHO = `
import { parentPort, workerData } from 'node:worker_threads';
import { loud } from '../../domain/loud.js';
parentPort.postMessage(loud(workerData));
`;
const PROGRAM = {
  'dist/src/app/index.js': LIBRARY,
  'dist/src/app/late.js': `import { load } from 'js-yaml'; export const late = (text) => load(text).said;`,
  'dist/src/adapters/files/start-echo.js': START_ECHO,
  'dist/src/adapters/files/echo.js': ECHO,
  'dist/src/domain/loud.js': `export const loud = (text) => text.toUpperCase().replace('SAID', 'said');`,
  'dist/src/schemas/zod.js': `export const z = 1;`,
  'dist/src/cli/main.js': `export const main = () => 0;`,
};

test('a worker that a source starts by its path runs from the bundle, without the sources', (t) => {
  const house = makeHouse(t, PROGRAM);
  assert.equal(house.bundle().status, 0);
  fs.rmSync(path.join(house.root, 'dist/src'), { recursive: true });
  const program = `import { ask } from './dist/bundle/guildhall.js'; console.log(await ask('said: hello'));`;
  const ran = house.node(program);
  assert.equal(ran.stdout, 'HELLO\n', ran.stderr);
});

test('no character of the bundle needs two bytes in memory, and none changes its meaning', (t) => {
  const late = `// A mark: … 😀\nexport const late = (text) => [...text].filter((char) => /[…😀]/u.test(char)).length;`;
  const house = makeHouse(t, {
    ...PROGRAM,
    'dist/src/app/index.js': `export const ask = async (text) => (await import('./late.js')).late(text);`,
    'dist/src/app/late.js': late,
  });
  assert.equal(house.bundle().status, 0);
  const folder = path.join(house.root, 'dist/bundle');
  for (const name of fs.readdirSync(folder))
    assert.ok(
      [...fs.readFileSync(path.join(folder, name), 'utf8')].every((char) => char <= '\xff'),
      name,
    );
  const ran = house.node(
    `import { ask } from './dist/bundle/guildhall.js'; console.log(await ask('a…b😀'), await ask('u2026'));`,
  );
  assert.equal(ran.stdout, '2 0\n', ran.stderr);
});

test('two workers of the same name are refused, because the bundle is one folder', (t) => {
  const house = makeHouse(t, {
    ...PROGRAM,
    'dist/src/cli/echo.js': '',
    'dist/src/cli/main.js': `export const main = () => new URL('./echo.js', import.meta.url);`,
  });
  const { status, stderr } = house.bundle();
  assert.notEqual(status, 0);
  assert.match(stderr, /echo\.js/);
});

function makeHouse(t: TestContext, files: Record<string, string>) {
  const root = tempFolder('bundle', t);
  for (const [file, text] of Object.entries({ ...files, 'package.json': '{"type": "module"}' })) {
    fs.mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
    fs.writeFileSync(path.join(root, file), text);
  }
  for (const file of ['scripts/bundle.mjs', 'scripts/build-window.mjs', 'package-lock.json'])
    fs.cpSync(path.join(ROOT, file), path.join(root, file), { recursive: true });
  fs.symlinkSync(path.join(ROOT, 'node_modules'), path.join(root, 'node_modules'), 'junction');
  const node = (program: string) => {
    fs.writeFileSync(path.join(root, 'program.mjs'), program);
    return spawnSync(process.execPath, ['program.mjs'], { cwd: root, encoding: 'utf8' });
  };
  return { root, node, bundle: () => node(`import { bundle } from './scripts/bundle.mjs'; bundle();`) };
}
