/** The package as npm delivers it: packed, placed next to only its dependencies, and used. */
import assert from 'node:assert/strict';
import { execFile, spawn, spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { removeFolder, tempFolder } from '../kit/temp/folder.js';

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..', '..', '..');
const OLDEST_NODE = [20, 19];

interface Locked {
  dev?: boolean;
  optional?: boolean;
  peer?: boolean;
  engines?: { node?: string };
}

const lock = JSON.parse(fs.readFileSync(path.join(ROOT, 'package-lock.json'), 'utf8')) as {
  packages: Record<string, Locked>;
};
const installed = Object.entries(lock.packages).filter(([name, { dev, peer }]) => name !== '' && !dev && !peer);

let home: string;
let packed: string[];

before(() => {
  home = tempFolder('package');
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', home];
  const pack = spawnSync('npm', args, { cwd: ROOT, encoding: 'utf8', shell: process.platform === 'win32' });
  assert.equal(pack.status, 0, pack.stderr);
  const [{ filename, files }] = JSON.parse(pack.stdout) as [{ filename: string; files: { path: string }[] }];
  packed = files.map((file) => file.path);
  const folder = path.join(home, 'node_modules', 'guildhall');
  fs.mkdirSync(folder, { recursive: true });
  const tar = spawnSync('tar', ['xzf', path.join(home, filename), '--strip-components=1', '-C', folder]);
  assert.equal(tar.status, 0, String(tar.stderr));
  for (const [name] of installed) fs.cpSync(path.join(ROOT, name), path.join(home, name), { recursive: true });
});

after(() => removeFolder(home));

test('no bundled dependency requires a newer Node', () => {
  const newer = installed.filter(([, { engines }]) => engines?.node !== undefined && !allows(engines.node));
  assert.deepEqual(newer, []);
});

test('it holds the program, its types, schemas, documents and licences, and nothing else', () => {
  for (const file of [
    'bin/guild.mjs',
    'dist/bundle/guildhall.js',
    'dist/bundle/guild.js',
    'dist/src/app/index.d.ts',
    'dist/vendor/openai.js',
    'schemas/guild.json',
    'starter/guild.yaml',
    'README.md',
    'CHANGELOG.md',
    'LICENSE',
    'THIRD-PARTY-NOTICES',
  ])
    assert.ok(packed.includes(file), `${file} is missing`);
  const strays = packed.filter((file) =>
    /^(src|test|scripts|bench|dist\/(test|bench))\/|\.(test|map)\b|^dist\/src\/.*\.js$/.test(file),
  );
  assert.deepEqual(strays, []);
});

test('it has a licence text for every package in the bundle', () => {
  const notices = fs.readFileSync(path.join(home, 'node_modules/guildhall/THIRD-PARTY-NOTICES'), 'utf8');
  for (const name of [
    '@ai-sdk/openai',
    '@modelcontextprotocol/client',
    '@ai-sdk/provider-utils',
    'cross-spawn',
    'pg-types',
    'js-yaml',
    'zod',
  ])
    assert.match(notices, new RegExp(`^${name} \\d\\S+ \\(\\S+\\)\\n\\n\\S`, 'm'));
});

test('both names of the command start it, and it tells its version', async () => {
  const { bin, version } = JSON.parse(
    fs.readFileSync(path.join(home, 'node_modules/guildhall/package.json'), 'utf8'),
  ) as { bin: Record<string, string>; version: string };
  assert.deepEqual(Object.keys(bin), ['guild', 'guildhall']);
  for (const [name, file] of Object.entries(bin))
    assert.equal(
      (await guild(['--version'], {}, path.join(home, 'node_modules/guildhall', file))).out,
      `${version}\n`,
      name,
    );
});

test('a new workspace runs against an OpenAI-compatible server with a tool of an MCP server', async (t) => {
  const server = JSON.stringify([process.execPath, path.join(ROOT, 'test/kit/mcp-server.mjs')]);
  assert.equal((await guild(['init', 'team', '--quiet'])).code, 0);
  const team = path.join(home, 'team');
  fs.writeFileSync(
    path.join(team, 'agents/boss.md'),
    '---\ndescription: Does it\ntools: [lab_find]\n---\nYou are the boss.\n',
  );
  fs.writeFileSync(
    path.join(team, 'guild.yaml'),
    `model: openai/m\nplugins: {mcp: {servers: {lab: {command: ${server}, free: [find]}}}}\n`,
  );
  fs.writeFileSync(
    path.join(home, 'play.yaml'),
    '- {agent: boss, turn: 1, call: [{lab_find: {query: x}}]}\n- {agent: boss, say: Found.}\n',
  );
  const child = spawn(process.execPath, [MAIN(), 'model-server', '--script', 'play.yaml', '--port', '0'], {
    cwd: home,
  });
  t.after(() => child.kill());
  const url = await new Promise<string>((resolve) => child.stdout.once('data', (text) => resolve(String(text).trim())));
  const { digest } = JSON.parse((await guild(['trust', '--json', '-w', 'team'])).out) as { digest: string };
  assert.equal((await guild(['trust', '--digest', digest, '-w', 'team'])).code, 0);
  const ran = await guild(['run', 'boss', 'Look', '--quiet', '-w', 'team'], { OPENAI_BASE_URL: url });
  assert.deepEqual([ran.code, ran.out], [0, 'Found.\n'], ran.err);
});

test('a vendor whose package is missing gives the exact command that installs it', async () => {
  assert.equal((await guild(['init', 'vendors', '--quiet'])).code, 0);
  fs.writeFileSync(path.join(home, 'vendors/agents/boss.md'), '---\ndescription: Does it\n---\nDo it.\n');
  fs.writeFileSync(path.join(home, 'vendors/guild.yaml'), '');
  for (const [model, key, command] of [
    ['mistral/mistral-small-2603', 'MISTRAL_API_KEY', 'npm install @ai-sdk/mistral@4'],
    ['bedrock/anthropic.claude-opus-5-5', 'AWS_BEARER_TOKEN_BEDROCK', 'npm install @ai-sdk/amazon-bedrock@5'],
    ['openrouter/x/y', 'OPENROUTER_API_KEY', 'npm install @openrouter/ai-sdk-provider@3'],
  ] as const) {
    const ran = await guild(['run', 'boss', 'Hi', '--quiet', '--model', model, '-w', 'vendors'], { [key]: 'k' });
    assert.equal(ran.code, 1);
    assert.ok(ran.err.includes(command), ran.err);
  }
});

test('the library can be imported and required, and its types hold under the strictest options', async () => {
  const run = { 'import.mjs': `import { openWorkspace } from 'guildhall'; if (!openWorkspace) process.exit(1);` };
  fs.writeFileSync(path.join(home, 'import.mjs'), run['import.mjs']);
  fs.writeFileSync(path.join(home, 'require.cjs'), `if (!require('guildhall').openWorkspace) process.exit(1);`);
  for (const file of ['import.mjs', 'require.cjs']) assert.equal((await node([path.join(home, file)])).code, 0, file);
  fs.writeFileSync(
    path.join(home, 'use.ts'),
    `import { openWorkspace, type Workspace } from 'guildhall';\nexport const open = (): Promise<Workspace> => openWorkspace('team');\n`,
  );
  for (const name of ['@types/node', 'undici-types'])
    fs.cpSync(path.join(ROOT, 'node_modules', name), path.join(home, 'node_modules', name), { recursive: true });
  const options = [
    '--strict',
    '--exactOptionalPropertyTypes',
    '--skipLibCheck',
    'false',
    '--noEmit',
    '--types',
    'node',
  ];
  const modules = ['--module', 'nodenext', '--target', 'es2022'];
  const tsc = path.join(ROOT, 'node_modules/typescript/bin/tsc');
  const checked = await node([tsc, ...options, ...modules, path.join(home, 'use.ts')]);
  assert.equal(checked.out, '');
  assert.equal(checked.code, 0, checked.err);
});

test('importing the library, or asking the command for help, loads a small part of the program', () => {
  const bundle = path.join(home, 'node_modules/guildhall/dist/bundle');
  assert.ok(bytesLoaded(bundle, 'guildhall.js') < 20_000, 'the library');
  assert.ok(bytesLoaded(bundle, 'guild.js') < 60_000, 'the command');
});

/** The size of a file and of everything that it imports statically. */
function bytesLoaded(folder: string, entry: string): number {
  const seen = new Set([entry]);
  let bytes = 0;
  for (const file of seen) {
    const text = fs.readFileSync(path.join(folder, file), 'utf8');
    bytes += text.length;
    for (const [, name] of text.matchAll(/^(?:import|export|\}) ?(?:from )?"\.\/([^"]+)";$/gm)) seen.add(name!);
  }
  return bytes;
}

const MAIN = (): string => path.join(home, 'node_modules/guildhall/bin/guild.mjs');

function guild(args: string[], env: Record<string, string> = {}, main = MAIN()) {
  return node([main, ...args], env);
}

function node(args: string[], env: Record<string, string> = {}) {
  return new Promise<{ code: number; out: string; err: string }>((resolve) => {
    const options = { cwd: home, env: { PATH: process.env['PATH'], HOME: home, ...env } };
    const child = execFile(process.execPath, args, options, (_error, out, err) =>
      resolve({ code: child.exitCode ?? 1, out, err }),
    );
  });
}

/** Whether a range such as `>=18 || ^20.9` includes the oldest Node we support. */
function allows(range: string): boolean {
  return range.split('||').some((part) => {
    const [, sign = '', major = '', minor = '0'] = /^\s*(>=|\^|~|)\s*(\d+)(?:\.(\d+))?/.exec(part) ?? [];
    const [oldMajor, oldMinor] = OLDEST_NODE as [number, number];
    if (sign === '>=') return oldMajor > Number(major) || (oldMajor === Number(major) && oldMinor >= Number(minor));
    return oldMajor === Number(major) && oldMinor >= Number(minor);
  });
}
