/** Compiled code is kept where only the user can write it: whoever writes it decides what runs. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import * as module from 'node:module';
import path from 'node:path';
import test from 'node:test';
import { place, scripted, stateOf, succeeds } from '../kit/guild.js';

/** From Node 22 on. */
const isKept = 'enableCompileCache' in module;

test('compiled code is kept in the state folder, for its user alone, and only if that folder exists', async (t) => {
  const here = place(t, scripted('- {say: done}'));
  const state = stateOf(here.root)['GUILD_STATE']!;
  const run = async (): Promise<void> => void succeeds(await here.spawnWith({ untrusted: true }, '--help').ended);
  const compiled = path.join(state, 'compiled');
  await run();
  assert.ok(!fs.existsSync(state), 'help writes nothing');
  fs.mkdirSync(state, { mode: 0o700 });
  await run();
  assert.equal(fs.existsSync(compiled), isKept);
  if (isKept) assert.equal(fs.statSync(compiled).mode & 0o777, 0o700);
});

test('compiled code that others could write is neither used nor written', async (t) => {
  const here = place(t, scripted('- {say: done}'));
  const state = stateOf(here.root)['GUILD_STATE']!;
  const compiled = path.join(state, 'compiled');
  const elsewhere = path.join(here.root, 'elsewhere');
  const places: Record<string, () => void> = {
    'a link': () => fs.symlinkSync(elsewhere, compiled),
    'a folder for a group': () => (fs.mkdirSync(compiled), fs.chmodSync(compiled, 0o770)),
    'a state folder for a group': () => fs.chmodSync(state, 0o770),
    'a file': () => fs.writeFileSync(compiled, ''),
  };
  for (const [what, make] of Object.entries(places)) {
    fs.rmSync(state, { recursive: true, force: true });
    fs.mkdirSync(state, { mode: 0o700 });
    fs.mkdirSync(elsewhere, { recursive: true });
    make();
    succeeds(await here.spawnWith({ untrusted: true }, '--help').ended);
    assert.deepEqual(fs.readdirSync(elsewhere), [], what);
    const stat = fs.lstatSync(compiled, { throwIfNoEntry: false });
    if (stat?.isDirectory()) assert.deepEqual(fs.readdirSync(compiled), [], what);
  }
});

test('compiled code that came with a workspace is neither used nor written', async (t) => {
  const here = place(t, scripted('- {say: done}'));
  const compiled = path.join(here.root, '.local/state/guild/compiled');
  fs.mkdirSync(compiled, { recursive: true, mode: 0o700 });
  const env = { GUILD_STATE: '', XDG_STATE_HOME: '' };
  for (const HOME of [here.root, '.'])
    succeeds(await here.spawnWith({ untrusted: true, env: { ...env, HOME } }, '--help').ended);
  assert.deepEqual(fs.readdirSync(compiled), []);
});

test('the window starts without compiled code, which would stay in its memory', async (t) => {
  const here = place(t, scripted('- {say: done}'));
  const state = stateOf(here.root)['GUILD_STATE']!;
  fs.mkdirSync(state, { mode: 0o700 });
  succeeds(await here.spawnWith({ untrusted: true }, 'ui', '--help').ended);
  assert.ok(!fs.existsSync(path.join(state, 'compiled')));
});
