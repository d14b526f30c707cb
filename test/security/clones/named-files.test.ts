/**
 * The scripts that trusted commands name. A pull that changes one, or the code next to it, must not
 * make a trusted MCP server or notification do something that nobody has seen.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { place, ROOT, scripted, succeeds, type Place, type Ran } from '../../kit/guild.js';
import { until } from '../../kit/until.js';

const SERVER = fs.readFileSync(path.join(ROOT, 'test/kit/mcp-server.mjs'), 'utf8');
const base = scripted('- {agent: boss, say: done}\n');
const yaml = base['guild.yaml']!;
const asStranger = (home: Place, ...args: string[]): Promise<Ran> => home.guildWith({ untrusted: true }, ...args);

async function trustAsItIs(home: Place): Promise<Ran> {
  const shown = await asStranger(home, 'trust', '--json');
  const { digest } = JSON.parse(shown.out) as { digest: string };
  succeeds(await asStranger(home, 'trust', '--digest', digest));
  return shown;
}

/** Writes a canary before it does anything else. */
const changed = (home: Place): string =>
  `import { writeFileSync } from 'node:fs';\nwriteFileSync(${JSON.stringify(path.join(home.root, 'canary'))}, '');\n`;
const hasActed = (home: Place): boolean => fs.existsSync(path.join(home.root, 'canary'));

const COMMANDS: Record<string, { servers: string; files: Record<string, string>; swap: string }> = {
  'a script': { servers: '{x: {command: [node, tools/server.mjs]}}', files: {}, swap: 'tools/server.mjs' },
  'code next to a script': {
    servers: '{x: {command: [node, ./tools/start.mjs]}}',
    files: { 'tools/start.mjs': "import './server.mjs';\n" },
    swap: 'tools/server.mjs',
  },
  'a script of .mcp.json': {
    servers: '{x: true}',
    files: { '.mcp.json': '{"mcpServers": {"x": {"command": "node", "args": ["tools/server.mjs"]}}}' },
    swap: 'tools/server.mjs',
  },
  'an option with a script': {
    servers: '{x: {command: [node, --import=./tools/first.mjs, tools/server.mjs]}}',
    files: { 'tools/first.mjs': '' },
    swap: 'tools/first.mjs',
  },
  'a script in a folder that a shell enters': {
    servers: '{x: {command: [sh, -c, "cd tools && exec node server.mjs"]}}',
    files: {},
    swap: 'tools/server.mjs',
  },
  'a program in a folder of the path': {
    servers: '{x: {command: [sh, -c, lab], values: {PATH: "./tools:/usr/bin:/bin"}}}',
    files: { 'tools/lab': '#!/bin/sh\nexec node tools/server.mjs\n' },
    swap: 'tools/lab',
  },
  'a script of package.json': {
    servers: '{x: {command: [npm, run, serve]}}',
    files: {
      'package.json': '{"scripts": {"serve": "npm run real", "real": "node lib/main.mjs"}}',
      'lib/main.mjs': SERVER,
    },
    swap: 'lib/main.mjs',
  },
  'a Makefile of another folder': {
    servers: '{x: {command: [make, -C, lab, serve]}}',
    files: { 'lab/Makefile': 'serve:\n\tnode run/main.mjs\n', 'lab/run/main.mjs': SERVER },
    swap: 'lab/run/main.mjs',
  },
  'settings of a runner in another folder': {
    servers: '{x: {command: [uv, run, --directory, lab, serve]}}',
    files: { 'lab/pyproject.toml': '[project]\n' },
    swap: 'lab/pyproject.toml',
  },
  'code next to the target of a link': {
    servers: '{x: {command: [node, start.mjs]}}',
    files: { 'lab/start.mjs': "import './server.mjs';\n", 'lab/server.mjs': SERVER },
    swap: 'lab/server.mjs',
  },
  'a package of the folder': {
    servers: '{x: {command: [npx, --offline, lab-server]}}',
    files: {
      'node_modules/lab-server/package.json': '{"name": "lab-server", "version": "1.0.0", "bin": "server.mjs"}',
      'node_modules/lab-server/server.mjs': SERVER,
    },
    swap: 'node_modules/lab-server/server.mjs',
  },
};

for (const [what, { servers, files, swap }] of Object.entries(COMMANDS))
  test(`${what}: a pulled change of what a trusted MCP server runs does not run before it is trusted`, async (t) => {
    const config = `${yaml}plugins: {mcp: {servers: ${servers}}}\n`;
    const home = place(t, { ...base, 'tools/server.mjs': SERVER, ...files, 'guild.yaml': config });
    if (servers.includes('node, start.mjs')) fs.symlinkSync('lab/start.mjs', path.join(home.root, 'start.mjs'));
    assert.match((await trustAsItIs(home)).out, new RegExp(swap));
    assert.doesNotMatch((await asStranger(home, 'pump')).err, /trust/);
    const script = `#!/bin/sh\ntouch ${path.join(home.root, 'canary')}\n`;
    home.put(swap, swap.endsWith('lab') ? script : changed(home) + home.read(swap));
    const pump = await asStranger(home, 'pump');
    assert.match(pump.err, new RegExp(`changed since you trusted it[^]*\\+ ${swap} [0-9a-f]{12}`));
    await asStranger(home, 'mcp', 'list');
    await asStranger(home, 'prompt', 'boss');
    assert.ok(!hasActed(home));
    await trustAsItIs(home);
    if (swap.endsWith('.mjs') && swap.startsWith('tools')) {
      succeeds(await asStranger(home, 'mcp', 'list'));
      assert.ok(hasActed(home), 'a person can say yes');
    }
  });

test('a running process starts the server that was trusted, when it started or since', async (t) => {
  const script =
    '- {agent: ana, turn: 1, call: [{x_find: {query: a}}]}\n- {agent: ana, turn: 2, say: "{{last}}"}\n- {say: done}\n';
  const home = place(t, {
    ...scripted(script),
    'agents/ana.md': '---\ndescription: Finds\ntools: [x_find]\n---\nFind.\n',
    'tools/server.mjs': `import { writeFileSync } from 'node:fs';\nwriteFileSync('pid.txt', String(process.pid));\n${SERVER}`,
  });
  home.put(
    'guild.yaml',
    `${home.read('guild.yaml')}plugins: {mcp: {servers: {x: {command: [node, tools/server.mjs], free: [find]}}}}\n`,
  );
  await trustAsItIs(home);
  const watch = home.spawnWith({ untrusted: true }, 'watch');
  await until(() => home.list('agents/live').length > 0);
  home.put('tools/server.mjs', changed(home) + SERVER);
  // The one that listed the tools is still the trusted one.
  await until(() => home.list('.').includes('pid.txt') && home.read('pid.txt') !== '');
  process.kill(Number(home.read('pid.txt')));
  home.put('tasks/pending/t1.json', '{"description": "find it", "to": "ana"}');
  await until(() => home.list('results').includes('t1.md'));
  assert.match(home.read('results/t1.md'), /files that its command names have changed; guild trust shows them/);
  assert.ok(!hasActed(home));
  await trustAsItIs(home);
  home.put('tasks/pending/t2.json', '{"description": "find it", "to": "ana"}');
  await until(() => home.list('results').includes('t2.md'));
  assert.ok(hasActed(home), 'the running process starts what a person has accepted');
  watch.interrupt();
  await watch.ended;
});

test('a command of notify runs in the workspace, as it was trusted', async (t) => {
  const home = place(t, { ...base, 'tell.sh': 'pwd > told.txt\n' });
  home.put('guild.yaml', `${yaml}notify: {gather: 1ms, command: "sh ./tell.sh"}\n`);
  await trustAsItIs(home);
  const elsewhere = place(t);
  const run = (): Promise<Ran> =>
    home.guildWith({ untrusted: true, cwd: elsewhere.root }, 'run', 'boss', 'hello', '--workspace', home.root);
  succeeds(await run());
  assert.equal(home.read('told.txt').trim(), fs.realpathSync(home.root));
  fs.rmSync(path.join(home.root, 'told.txt'));
  home.put('tell.sh', `touch ${path.join(home.root, 'canary')}\n`);
  const ran = await run();
  assert.match(ran.err, /changed since you trusted it[^]*\+ tell\.sh/);
  assert.ok(!hasActed(home));
});

test('data that a trusted command names may change, and so may other code', async (t) => {
  const config = `${yaml}plugins: {mcp: {servers: {x: {command: [node, tools/server.mjs, --data, memory/x.db, .]}, y: {command: [npx, -y, some-server, ., ./memory]}}}}\n`;
  const home = place(t, { ...base, 'tools/server.mjs': SERVER, 'memory/x.db': 'a', 'guild.yaml': config });
  await trustAsItIs(home);
  home.put('memory/x.db', 'b');
  home.put('memory/note.md', 'b');
  home.put('src/other.mjs', 'b');
  home.put('node_modules/other/index.js', 'b');
  assert.doesNotMatch((await asStranger(home, 'pump')).err, /trust/);
});
