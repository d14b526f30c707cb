/** Setup of a fresh clone, also by several processes at once: the real script with a fake npm. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { test, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { tempFolder } from '../kit/temp/folder.js';

const SCRIPTS = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..', '..', '..', 'scripts');

test('three setups at once install once and compile once', async (t) => {
  const house = makeHouse(t);
  const codes = await Promise.all([house.setup(), house.setup(), house.setup()]);
  assert.deepEqual(codes, [0, 0, 0]);
  assert.deepEqual(house.log(), ['npm ci', 'tsc']);
  assert.deepEqual(house.leftovers(), []);
});

test('nothing is done again while nothing changed; a changed, new or removed source is compiled', async (t) => {
  const house = makeHouse(t);
  await house.setup();
  await house.setup();
  assert.deepEqual(house.log(), ['npm ci', 'tsc']);
  house.write('src/new.ts', 'export {};');
  await house.setup();
  assert.equal(house.log().length, 3);
  fs.rmSync(path.join(house.root, 'src/new.ts'));
  await house.setup();
  assert.equal(house.log().length, 4);
});

test('a compiled file whose source is gone is removed', async (t) => {
  const house = makeHouse(t);
  house.write('dist/test/old.test.js', '');
  house.write('dist/src/a.js', '');
  await house.setup();
  assert.equal(fs.existsSync(path.join(house.root, 'dist/test/old.test.js')), false);
  assert.equal(fs.existsSync(path.join(house.root, 'dist/src/a.js')), true);
});

test('packages are installed again when the lock file wants another version', async (t) => {
  const house = makeHouse(t);
  await house.setup();
  house.write('package-lock.json', lockFile('2.0.0'));
  await house.setup();
  assert.deepEqual(
    house.log().filter((line) => line === 'npm ci'),
    ['npm ci', 'npm ci'],
  );
});

test('a lock that a dead setup left behind is taken over', async (t) => {
  const house = makeHouse(t);
  house.write(`.setup-lock/owner-${await deadPid()}`, '');
  assert.equal(await house.setup(), 0);
  assert.deepEqual(house.leftovers(), []);
});

test('a failed install is a failure, and the next try is not in its way', async (t) => {
  const house = makeHouse(t);
  house.write('broken', '');
  assert.equal(await house.setup(), 1);
  fs.rmSync(path.join(house.root, 'broken'));
  assert.equal(await house.setup(), 0);
  assert.deepEqual(house.leftovers(), []);
});

/** The fake npm and tsc log their calls and create the files that the script looks for. */
function makeHouse(t: TestContext) {
  const root = tempFolder('house', t);
  const write = (file: string, text: string): void => {
    fs.mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
    fs.writeFileSync(path.join(root, file), text);
  };
  fs.cpSync(SCRIPTS, path.join(root, 'scripts'), { recursive: true });
  write('package.json', '{"type": "module"}');
  write('package-lock.json', lockFile('1.0.0'));
  write('tsconfig.json', '{}');
  write('src/a.ts', 'export {};');
  const tsc = `require('node:fs').appendFileSync(${JSON.stringify(path.join(root, 'log'))}, 'tsc\\n');`;
  write('tools/tsc.cjs', tsc);
  write('tools/esbuild.cjs', 'exports.buildSync = () => ({ metafile: { inputs: {} } });');
  write(
    'tools/npm',
    `#!/bin/sh
cd ${root}
[ -e broken ] && exit 1
echo "npm $1" >> log
sleep 0.2
mkdir -p node_modules/typescript/bin
cp tools/tsc.cjs node_modules/typescript/bin/tsc
mkdir -p node_modules/esbuild
cp tools/esbuild.cjs node_modules/esbuild/index.js
echo '{"type": "commonjs"}' > node_modules/typescript/package.json
cp package-lock.json node_modules/.package-lock.json
`,
  );
  fs.chmodSync(path.join(root, 'tools/npm'), 0o755);
  const env = { ...process.env, PATH: `${path.join(root, 'tools')}:${process.env['PATH']}` };
  return {
    root,
    write,
    setup: () => exitCode(process.execPath, [path.join(root, 'scripts/setup.mjs'), '--build'], env),
    log: () => fs.readFileSync(path.join(root, 'log'), 'utf8').trim().split('\n'),
    leftovers: () => fs.readdirSync(root).filter((name) => name.startsWith('.setup-lock')),
  };
}

function lockFile(version: string): string {
  return JSON.stringify({
    packages: { '': {}, 'node_modules/typescript': { version }, 'node_modules/else': { version, optional: true } },
  });
}

function exitCode(command: string, args: string[], env: NodeJS.ProcessEnv = process.env): Promise<number | null> {
  return new Promise((resolve, reject) => {
    spawn(command, args, { env, stdio: 'ignore' }).on('exit', resolve).on('error', reject);
  });
}

async function deadPid(): Promise<number> {
  const child = spawn(process.execPath, ['-e', '']);
  await new Promise((resolve) => child.on('exit', resolve));
  return child.pid!;
}
