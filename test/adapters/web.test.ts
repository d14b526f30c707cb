/** Pages are fetched with limits, and only from the host that a person was shown. */
import assert from 'node:assert/strict';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import { isInternal, isLinkLocal, isLocalName } from '../../src/adapters/web/internal-address.js';
import { web } from '../../src/adapters/web/index.js';

async function serve(t: TestContext, answer: http.RequestListener): Promise<string> {
  const server = http.createServer(answer);
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('HTML becomes text, and other text stays as it is', async (t) => {
  const base = await serve(t, (request, response) => {
    const isHtml = request.url === '/page';
    response.writeHead(200, { 'content-type': isHtml ? 'text/html; charset=utf-8' : 'application/json' });
    response.end(isHtml ? '<h1>Über</h1><p>Text</p>' : '{"a": 1}');
  });
  const page = await web().get(`${base}/page`);
  assert.ok('text' in page);
  assert.deepEqual([page.status, page.type, page.text], [200, 'text/html', '# Über\n\nText']);
  const json = await web().get(`${base}/data`);
  assert.equal('text' in json && json.text, '{"a": 1}');
});

test('a redirect is followed on the same host only', async (t) => {
  const base = await serve(t, (request, response) => {
    const to = request.url === '/here' ? '/there' : request.url === '/away' ? 'https://example.org/x' : undefined;
    response.writeHead(to === undefined ? 200 : 302, { 'content-type': 'text/plain', ...(to ? { location: to } : {}) });
    response.end('arrived');
  });
  const there = await web().get(`${base}/here`);
  assert.ok('text' in there);
  assert.deepEqual([there.url, there.text], [`${base}/there`, 'arrived']);
  const away = await web().get(`${base}/away`);
  assert.deepEqual('redirect' in away && [away.redirect, away.text], ['https://example.org/x', '']);
});

test('an endless page is cut, an endless redirect and a silent server end', async (t) => {
  const base = await serve(t, (request, response) => {
    if (request.url === '/round') return void response.writeHead(302, { location: '/round' }).end();
    if (request.url === '/silent') return;
    response.writeHead(200, { 'content-type': 'text/plain' });
    const write = (): void => void response.write('x'.repeat(500_000), () => response.destroyed || write());
    write();
  });
  const long = await web().get(`${base}/long`);
  assert.ok('cut' in long);
  assert.deepEqual([long.cut, long.bytes], [true, 5_000_000]);
  assert.match(problemOf(await web().get(`${base}/round`)), /redirects more than 5 times/);
  assert.match(problemOf(await web().get(`${base}/silent`, AbortSignal.timeout(50))), /cannot be fetched/);
});

test('addresses with a password and other protocols are refused', async () => {
  assert.match(problemOf(await web().get('https://a:b@example.org/')), /a user name or a password/);
  assert.match(problemOf(await web().get('file:///etc/passwd')), /only http and https/);
  assert.match(problemOf(await web().get('nonsense')), /cannot be fetched/);
});

test('an address inside the network is fetched only if it is written as what it is', async (t) => {
  const base = await serve(t, (_request, response) => response.end('inside'));
  const { port } = new URL(base);
  for (const host of ['2130706433', '0x7f.1', '127.1', '0177.0.0.1', '①②⑦.0.0.1', '[::ffff:127.0.0.1]'])
    assert.match(
      problemOf(await web().get(`http://${host}:${port}/`)),
      /an address inside the network; write it/,
      host,
    );
  const page = await web().get(base);
  assert.equal('text' in page && page.text, 'inside');
});

test('the keys of a machine in a cloud are not behind a local name', () => {
  for (const address of ['169.254.169.254', '::ffff:169.254.169.254', 'fe80::1', 'fd00:ec2::254'])
    assert.ok(isLinkLocal(address), address);
  for (const address of ['127.0.0.1', '10.169.254.1', '::1', 'fd00::1']) assert.ok(!isLinkLocal(address), address);
});

test('addresses inside the network are known in every form', () => {
  const inside = [
    '127.0.0.1',
    '10.1.2.3',
    '169.254.169.254',
    '192.168.0.1',
    '::1',
    'fe80::1',
    '::ffff:127.0.0.1',
    '0.0.0.0',
    ...['::127.0.0.1', '::ffff:0:7f00:1', '64:ff9b::a00:1', '64:ff9b:1::7f00:1', '2002:7f00:1::1', 'fec0::1'],
  ];
  for (const address of inside) assert.ok(isInternal(address), address);
  for (const address of ['93.184.216.34', '2606:4700::1111', '172.32.0.1']) assert.ok(!isInternal(address), address);
  assert.deepEqual(['localhost', 'db.internal', 'example.org', 'localhost.example.org'].map(isLocalName), [
    true,
    true,
    false,
    false,
  ]);
});

function problemOf(page: object): string {
  return 'problem' in page ? String(page.problem) : '';
}
