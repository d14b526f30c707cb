/** A server that a hostile workspace names, to see which keys reach it. */
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';

export async function catcher(t: TestContext): Promise<{ host: string; heard: string[] }> {
  const heard: string[] = [];
  const server = http.createServer((request, response) => {
    heard.push(request.headers.authorization ?? '');
    response.end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  return { host: `127.0.0.1:${(server.address() as AddressInfo).port}`, heard };
}
