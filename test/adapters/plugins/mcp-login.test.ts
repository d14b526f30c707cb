/** Logging in to an MCP server on the web, with real HTTP on both sides. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { tempFolder } from '../../kit/temp/folder.js';
import { loadPlugins } from '../../../src/adapters/plugins/index.js';
import { mcpModule } from '../../../src/adapters/plugins/mcp-servers.js';
import { packageFolder } from '../../../src/adapters/starter/package-folder.js';
import type { ToolContext } from '../../../src/tools/core/tool.js';

/** An MCP server and its authorization server on one port. `revoke()` ends the current token. */
async function guardedServer(t: TestContext) {
  let challenge = '';
  let issued = 0;
  let valid = '';
  const seen: string[] = [];
  const answer = async (request: http.IncomingMessage, response: http.ServerResponse): Promise<void> => {
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const { pathname, searchParams } = new URL(request.url!, base);
    let body = '';
    for await (const chunk of request) body += String(chunk);
    const json = (value: unknown, status = 200, headers = {}): void =>
      void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value));
    seen.push(`${request.method} ${pathname}`);
    if (pathname.startsWith('/.well-known/oauth-protected-resource'))
      return json({ resource: `${base}/mcp`, authorization_servers: [base] });
    if (pathname === '/.well-known/oauth-authorization-server')
      return json({
        issuer: base,
        authorization_endpoint: `${base}/authorize`,
        token_endpoint: `${base}/token`,
        registration_endpoint: `${base}/register`,
        response_types_supported: ['code'],
        code_challenge_methods_supported: ['S256'],
        token_endpoint_auth_methods_supported: ['none'],
      });
    if (pathname === '/register') return json({ ...(JSON.parse(body) as object), client_id: 'client-1' }, 201);
    if (pathname === '/authorize') {
      challenge = searchParams.get('code_challenge')!;
      const back = new URL(searchParams.get('redirect_uri')!);
      back.search = new URLSearchParams({ code: 'code-1', state: searchParams.get('state')! }).toString();
      return void response.writeHead(302, { location: back.href }).end();
    }
    if (pathname === '/token') {
      const form = new URLSearchParams(body);
      const verifier = form.get('code_verifier') ?? '';
      const isProven = createHash('sha256').update(verifier).digest('base64url') === challenge;
      const isRenewal = form.get('grant_type') === 'refresh_token' && form.get('refresh_token') === 'refresh-1';
      if (!isProven && !isRenewal) return json({ error: 'invalid_grant' }, 400);
      valid = `token-${++issued}`;
      return json({ access_token: valid, token_type: 'Bearer', expires_in: 3600, refresh_token: 'refresh-1' });
    }
    if (pathname !== '/mcp' || request.method !== 'POST') return void response.writeHead(405).end();
    if (valid === '' || request.headers.authorization !== `Bearer ${valid}`)
      return json({}, 401, {
        'www-authenticate': `Bearer resource_metadata="${base}/.well-known/oauth-protected-resource"`,
      });
    const { id, method, params } = JSON.parse(body) as {
      id?: number;
      method: string;
      params: { protocolVersion: string };
    };
    if (id === undefined) return void response.writeHead(202).end();
    const results: Record<string, unknown> = {
      initialize: {
        protocolVersion: params?.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: 'w', version: '1' },
      },
      'tools/list': { tools: [{ name: 'whoami', inputSchema: { type: 'object' } }] },
      'tools/call': { content: [{ type: 'text', text: `token ${issued}` }] },
    };
    const result = results[method];
    return json({
      jsonrpc: '2.0',
      id,
      ...(result ? { result } : { error: { code: -32601, message: `no ${method}` } }),
    });
  };
  const server = http.createServer((request, response) => void answer(request, response));
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  return { url, seen, revoke: () => void (valid = 'revoked') };
}

test('a login is stored outside the workspace, used, and renewed without a person', async (t) => {
  const { url, revoke } = await guardedServer(t);
  const folder = tempFolder('login', t);
  const workspace = path.join(folder, 'work');
  fs.mkdirSync(workspace);
  const env = { PATH: process.env['PATH'], XDG_STATE_HOME: path.join(folder, 'state') };
  const config = { servers: { team: { url } } };
  const builtIn = packageFolder('plugins');
  const open = async () => {
    const plugins = await loadPlugins({ root: workspace, plugins: { mcp: config }, env, builtIn });
    t.after(() => plugins.close());
    return plugins;
  };
  const before = await open();
  assert.deepEqual(before.tools, []);
  assert.match(before.problems[0]!.message, /the MCP server team wants you to log in: guild mcp login team/);

  const servers = await mcpModule(builtIn);
  const host = { workspace, env, config };
  // The person's browser follows the redirect back to this machine.
  await servers.loginTo(host, 'team', (address) => void fetch(address).then((page) => page.text()));
  const [file] = fs.readdirSync(path.join(folder, 'state', 'guild', 'mcp'));
  const stored = path.join(folder, 'state', 'guild', 'mcp', file!);
  assert.equal(fs.statSync(stored).mode & 0o777, 0o600);
  assert.match(fs.readFileSync(stored, 'utf8'), /token-1/);
  assert.ok(!fs.readdirSync(workspace, { recursive: true }).some((name) => String(name).includes('token')));

  const plugins = await open();
  const whoami = plugins.tools.find(({ name }) => name === 'team_whoami')!;
  const context = { agent: { name: 'ana' }, task: { id: 't' }, callId: 'c' } as ToolContext;
  const said = async (): Promise<string> => {
    const reply = await whoami.run({}, context);
    return reply.kind === 'text' ? reply.text.split('\n')[1]! : reply.kind;
  };
  assert.equal(await said(), 'token 1');
  revoke();
  assert.match(await said(), /^token [23]$/, 'an expired token is renewed');
});

test('an answer with another state does not log anybody in', async (t) => {
  const { url, seen } = await guardedServer(t);
  const folder = tempFolder('login', t);
  const servers = await mcpModule(packageFolder('plugins'));
  const host = { workspace: folder, env: { XDG_STATE_HOME: folder }, config: { servers: { team: { url } } } };
  const forged: number[] = [];
  await servers.loginTo(host, 'team', (address) => {
    const back = new URL(new URL(address).searchParams.get('redirect_uri')!);
    back.search = new URLSearchParams({ code: 'stolen', state: 'guessed' }).toString();
    void fetch(back).then(async (page) => {
      forged.push(page.status);
      await fetch(address);
    });
  });
  assert.deepEqual(forged, [404]);
  assert.equal(seen.filter((line) => line === 'POST /token').length, 1);
});
