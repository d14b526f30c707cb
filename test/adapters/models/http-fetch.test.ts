/** `fetch` over our own HTTP client behaves as the AI SDK's providers expect. */
import assert from 'node:assert/strict';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { after, test } from 'node:test';
import { httpFetch } from '../../../src/adapters/models/ai-sdk/http-fetch.js';
import { keepAliveHttp } from '../../../src/adapters/models/ai-sdk/http.js';
import { rawServer } from '../../kit/raw-server.js';

const open: { close(): unknown }[] = [];
after(() => Promise.all(open.map((server) => server.close())));

test('a body of any size arrives complete, even with a slow reader', async () => {
  const bytes = Buffer.alloc(3_000_000, 'abcdefg');
  const server = await rawServer((response) => void response.end(bytes));
  open.push(server);
  const response = await httpFetch(keepAliveHttp({ stallMs: 120_000 }))(server.url);
  assert.ok(response instanceof Response);
  const chunks: Uint8Array[] = [];
  for await (const chunk of response.body!) {
    chunks.push(chunk);
    await new Promise(setImmediate);
  }
  assert.ok(Buffer.concat(chunks).equals(bytes));
});

test('a request on a connection that the server has closed is repeated', async () => {
  // Closes a connection at its second request, like a server whose idle timeout has passed.
  let requests = 0;
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    let served = 0;
    socket.on('error', () => undefined);
    socket.on('data', () => {
      if (served++ > 0) return void socket.resetAndDestroy();
      requests++;
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: keep-alive\r\n\r\nok');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  open.push({ close: () => [server.close(), ...sockets.map((socket) => socket.destroy())] });
  const fetch = httpFetch(keepAliveHttp({ stallMs: 120_000 }));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  for (let i = 1; i <= 3; i++) {
    assert.equal(await (await fetch(url, { method: 'POST', body: 'x' })).text(), 'ok');
    assert.equal(requests, i);
    await new Promise(setImmediate);
  }
});

test('a redirect is not followed, so that a key stays with its host', async () => {
  const server = await rawServer((response) => void response.writeHead(307, { location: 'http://127.0.0.1:1/' }).end());
  open.push(server);
  assert.equal((await httpFetch(keepAliveHttp({ stallMs: 120_000 }))(server.url)).status, 307);
});

test("status and headers are the server's", async () => {
  const server = await rawServer(
    (response) => void response.writeHead(418, { 'x-one': '1', 'set-cookie': ['a=1', 'b=2'] }).end('{}'),
  );
  open.push(server);
  const response = await httpFetch(keepAliveHttp({ stallMs: 120_000 }))(new URL(server.url), {
    method: 'POST',
    headers: { 'X-Two': '2' },
    body: '{"ü":1}',
  });
  assert.equal(response.status, 418);
  assert.equal(response.headers.get('x-one'), '1');
  assert.deepEqual(await response.json(), {});
  assert.equal(server.requests[0]!.headers['x-two'], '2');
  assert.deepEqual(server.requests[0]!.body, { ü: 1 });
});

test('cancelling the body closes the connection', async () => {
  let closed: () => void;
  const gone = new Promise<void>((resolve) => (closed = resolve));
  const server = await rawServer((response) => {
    response.on('close', () => closed());
    response.write('forever');
  });
  open.push(server);
  const response = await httpFetch(keepAliveHttp({ stallMs: 120_000 }))(server.url);
  await response.body!.cancel();
  await gone;
});
