/**
 * MCP servers: logins are in the user's state folder and readable by the user alone, and the kept
 * list of tools may be that of a stranger.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { ROOT } from '../kit/guild.js';

type Env = Record<string, string>;
interface Login {
  loginProvider(url: string, env: Env): { tokens(): unknown; saveTokens(tokens: unknown): void };
}

const { loginProvider } = (await import(pathToFileURL(path.join(ROOT, 'plugins/mcp/login.mjs')).href)) as Login;
const URL_OF = 'https://mcp.example/';
const NAME = `${createHash('sha256').update(URL_OF).digest('hex').slice(0, 24)}.json`;

test('a login of an earlier version moves once into the state folder, for the user alone', (t) => {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), 'guild-logins-'));
  t.after(() => fs.rmSync(home, { recursive: true, force: true }));
  const old = path.join(home, '.local/state/guildhall/mcp', NAME);
  fs.mkdirSync(path.dirname(old), { recursive: true });
  fs.writeFileSync(old, JSON.stringify({ tokens: { access_token: 'a' } }), { mode: 0o644 });
  assert.deepEqual(loginProvider(URL_OF, { HOME: home }).tokens(), { access_token: 'a' });
  const file = path.join(home, '.local/state/guild/mcp', NAME);
  assert.equal(fs.statSync(file).mode & 0o777, 0o600);
  assert.equal(fs.statSync(path.dirname(file)).mode & 0o777, 0o700);
  assert.ok(!fs.existsSync(path.join(home, '.local/state/guildhall')), 'nothing is left behind');
  loginProvider(URL_OF, { HOME: home }).saveTokens({ access_token: 'b' });
  fs.mkdirSync(path.dirname(old), { recursive: true });
  fs.writeFileSync(old, JSON.stringify({ tokens: { access_token: 'older' } }));
  assert.deepEqual(loginProvider(URL_OF, { HOME: home }).tokens(), { access_token: 'b' }, 'the newer one counts');
});

test('GUILD_STATE holds logins, too', (t) => {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), 'guild-logins-'));
  t.after(() => fs.rmSync(home, { recursive: true, force: true }));
  const env = { HOME: home, GUILD_STATE: path.join(home, 'mine') };
  loginProvider(URL_OF, env).saveTokens({ access_token: 'a' });
  assert.equal(fs.statSync(path.join(home, 'mine/mcp', NAME)).mode & 0o777, 0o600);
  assert.deepEqual(fs.readdirSync(home), ['mine']);
});

test('a pipe or device in place of the kept list of tools is not read', (t) => {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), 'guild-tools-'));
  t.after(() => fs.rmSync(home, { recursive: true, force: true }));
  const key = createHash('sha256').update('{}').digest('hex').slice(0, 16);
  const file = path.join(home, '.guild/cache/mcp', `notes-${key}.json`);
  fs.mkdirSync(path.dirname(file), { recursive: true });
  const cache = pathToFileURL(path.join(ROOT, 'plugins/mcp/tool-cache.mjs')).href;
  const code = `import { keptTools } from ${JSON.stringify(cache)}; console.log(keptTools(${JSON.stringify(home)}, 'notes', {}).read())`;
  // A call that blocks would block this process, too.
  const read = (): string =>
    spawnSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8', timeout: 60_000 }).stdout;
  fs.writeFileSync(file, '{"tools": []}');
  assert.match(read(), /tools/);
  fs.rmSync(file);
  execFileSync('mkfifo', [file]);
  assert.match(read(), /undefined/);
  fs.rmSync(file);
  fs.symlinkSync('/dev/zero', file);
  assert.match(read(), /undefined/);
});
