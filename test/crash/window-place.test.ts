/** The state file of the window: a process that dies while it writes leaves one whole file. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { keepWindowPlace, windowPlace } from '../../src/app/trust/window-place.js';
import { environment, place } from '../kit/guild.js';

const ROUNDS = 12;

test('a window that is killed while it keeps its place is entered again with the same key', async (t) => {
  const { root } = place(t, { 'guild.yaml': 'model: s/x\n' });
  const env = environment(root);
  const first = { ...windowPlace(root, env, false), port: 4000 };
  keepWindowPlace(root, env, false, first);
  const module = JSON.stringify(
    path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../../src/app/trust/window-place.js'),
  );
  const code = `import { keepWindowPlace, windowPlace } from ${module};
    const [root, env] = ${JSON.stringify([root, env])};
    const start = windowPlace(root, env, false);
    process.stdout.write('on');
    for (let port = 4000; ; port = 4000 + ((port + 1) % 1000)) keepWindowPlace(root, env, false, { ...start, port });`;
  for (let round = 0; round < ROUNDS; round++) {
    const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const gone = new Promise((resolve) => child.once('exit', resolve));
    await new Promise((resolve) => child.stdout.once('data', resolve));
    child.kill('SIGKILL');
    await gone;
    const now = windowPlace(root, env, false);
    assert.deepEqual(now.key, first.key, `round ${round}`);
    assert.equal(now.hostName, first.hostName);
    assert.ok(now.port >= 4000);
  }
  const folder = path.join(`${root}-state`, 'windows');
  for (const name of fs.readdirSync(folder)) assert.equal(fs.statSync(path.join(folder, name)).mode & 0o077, 0, name);
});
