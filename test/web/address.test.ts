/** Where the window can be reached: never unencrypted from elsewhere, only under its own names. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import path from 'node:path';
import { test } from 'node:test';
import { checkListening } from '../../src/web/listen.js';
import { startServer } from '../../src/web/server.js';
import { environment, place } from '../kit/guild.js';
import { openWindow, SCRIPTED } from '../kit/web/window.js';

const EMPTY = { 'guild.yaml': SCRIPTED, 'agents/boss.md': '---\ndescription: Does it\n---\nYou are the boss.\n' };

test('another address is refused without TLS and without a proxy that is named', async (t) => {
  assert.throws(() => checkListening({ host: '0.0.0.0' }), /in the clear/);
  assert.throws(() => checkListening({ host: '192.168.1.5' }), /in the clear/);
  checkListening({});
  checkListening({ host: '127.0.0.1' });
  checkListening({ host: '0.0.0.0', proxy: 'guild.example.org' });
  const workspace = place(t, EMPTY);
  const refused = await workspace.guild('ui', '--host', '0.0.0.0');
  assert.equal(refused.code, 3);
  assert.match(refused.err, /--tls-cert/);
  assert.equal((await workspace.guild('ui', '--tls-cert', 'a.pem')).code, 2);
  assert.equal((await workspace.guild('ui', '--behind-proxy', 'http://x/')).code, 2);
  const none = await workspace.guild('ui', '--link');
  assert.equal(none.code, 1);
  assert.match(none.err, /no window of this workspace is open/);
});

test('with TLS the server answers to the names in its certificate and to no other', async (t) => {
  const workspace = place(t, EMPTY);
  const [cert, key] = ['cert.pem', 'key.pem'].map((name) => path.join(workspace.root, name)) as [string, string];
  const subject = ['-subj', '/CN=guild.test', '-addext', 'subjectAltName=DNS:localhost'];
  const made = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', key, '-out', cert];
  execFileSync('openssl', ['req', '-x509', '-days', '2', ...made, ...subject], { stdio: 'ignore' });
  const options = { root: workspace.root, env: environment(workspace.root), port: 0, readOnly: false };
  const server = await startServer({ ...options, listening: { host: '127.0.0.1', tls: { cert, key } } });
  t.after(() => server.close());
  const link = new URL(server.link());
  assert.equal(link.protocol, 'https:');
  assert.equal(link.hostname, 'localhost');
  const ask = (host: string): Promise<number> =>
    new Promise((resolve, reject) => {
      const ca = fs.readFileSync(cert);
      const wanted = { host: '127.0.0.1', port: server.port, servername: 'localhost', ca, headers: { host } };
      https.get(wanted, (reply) => (reply.resume(), resolve(reply.statusCode!))).on('error', reject);
    });
  assert.equal(await ask(link.host), 200);
  assert.equal(await ask(`attacker.example:${server.port}`), 421);
});

test('behind a proxy only its name counts, and cookies are secure', async (t) => {
  const workspace = place(t, EMPTY);
  const options = { root: workspace.root, env: environment(workspace.root), port: 0, readOnly: false };
  const server = await startServer({ ...options, listening: { proxy: 'guild.example.org' } });
  t.after(() => server.close());
  assert.match(server.link(), /^https:\/\/guild\.example\.org\/#t=/);
  const body = JSON.stringify({ token: new URL(server.link()).hash.slice('#t='.length) });
  const enter = (host: string): Promise<http.IncomingMessage> =>
    new Promise((resolve, reject) => {
      const headers = { host, 'content-type': 'application/json' };
      const sent = { host: '127.0.0.1', port: server.port, path: '/api/enter', method: 'POST', headers };
      http
        .request(sent, (reply) => (reply.resume(), resolve(reply)))
        .on('error', reject)
        .end(body);
    });
  assert.equal((await enter(`127.0.0.1:${server.port}`)).statusCode, 421);
  const { statusCode, headers } = await enter('guild.example.org');
  assert.equal(statusCode, 204);
  assert.match(headers['set-cookie']![0]!, /; Secure/);
});

test('a read-only window has a key of its own: its guests cannot enter the other one', async (t) => {
  const workspace = place(t, EMPTY);
  const shown = await openWindow(t, workspace, { readOnly: true });
  const real = await openWindow(t, workspace);
  const cookie = shown.cookie;
  const reply = await real.raw('/api/hall', { headers: { cookie, 'x-guild-csrf': shown.hello.csrf } });
  assert.equal(reply.status, 401);
});

test('a torn state file only means that browsers must enter again', async (t) => {
  const workspace = place(t, EMPTY);
  const env = environment(workspace.root);
  const first = await startServer({ root: workspace.root, env, port: 0, readOnly: false });
  await first.close();
  const folder = path.join(`${workspace.root}-state`, 'windows');
  const [file] = fs.readdirSync(folder);
  assert.equal(fs.statSync(path.join(folder, file!)).mode & 0o777, 0o600);
  fs.writeFileSync(path.join(folder, file!), '{"hostName": "evil.example", "port"');
  const second = await startServer({ root: workspace.root, env, port: 0, readOnly: false });
  t.after(() => second.close());
  assert.match(second.link(), /^http:\/\/g-[0-9a-f]{8}\.localhost:\d+\/#t=/);
});
