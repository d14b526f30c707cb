/** H4, M7: the walls of the sandbox hold, for root and for an ordinary user. */
import assert from 'node:assert/strict';
import dns from 'node:dns/promises';
import { once } from 'node:events';
import http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import test from 'node:test';
import tls from 'node:tls';
import { scopeArgs } from '../../src/adapters/shell/cgroup.js';
import { startProxy } from '../../src/adapters/shell/proxy.js';
import { seatbeltArgs } from '../../src/adapters/shell/seatbelt.js';
import { seccompFilter } from '../../src/adapters/shell/seccomp.js';
import { readHello } from '../../src/adapters/shell/tls-hello.js';
import { hostOf, isLocalAddress, namesHost, wrongHosts } from '../../src/rules/policy/hosts.js';
import { NO_SANDBOX, shellBench } from '../kit/commands.js';
import { until } from '../kit/until.js';
import { pump, scene, tickAll } from './scene.js';

const skip = NO_SANDBOX;

test('H4: kernel settings are read-only, root is dropped, and there are no new namespaces', { skip }, async (t) => {
  const { script } = shellBench(t, 'sandboxed');
  const { output } = await script(
    `id -u; (exec 3<>/proc/sys/kernel/core_pattern) && echo OPENED; unshare -U true && echo UNSHARED
    python3 - <<'P'
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
for number in (101, 250, 321, 323, 425):
    if libc.syscall(number, 0, 0, 0, 0, 0) != -1: print('CALLED', number)
    elif ctypes.get_errno() != 1: print('ERRNO', number, ctypes.get_errno())
P
    true`,
  );
  assert.doesNotMatch(output, /OPENED|UNSHARED|CALLED|ERRNO/);
  assert.notEqual(output.split('\n')[0], '0');
});

test('H4, M7: a command that a person approved finds these walls, on any build', { skip }, async (t) => {
  const look =
    'echo UID=$(id -u); (exec 3<>/proc/sys/kernel/core_pattern) && echo OPENED; echo SIZE=$(df -B1 --output=size /tmp | tail -1)';
  const workspace = scene(
    t,
    `- {turn: 1, call: [{execute_command: {command: ${JSON.stringify(look)}}}]}\n- say: done\n`,
  );
  await workspace.guild('run', 'executor', 'look');
  tickAll(workspace);
  const said = (): string => workspace.read(`sessions/${workspace.list('sessions')[0]!}`);
  // A file that was saved a moment ago is read by a later pass.
  for (let n = 0; n < 10 && !/SIZE=\d/.test(said()); n++) await pump(workspace);
  assert.doesNotMatch(said(), /^\s*OPENED/m, 'a setting of the kernel was opened for writing');
  assert.match(said(), /UID=[1-9]/);
  const size = Number(/SIZE=(\d+)/.exec(said())?.[1]);
  assert.ok(size > 0 && size <= 512 * 1024 ** 2, said());
});

test('H4: the process limit holds', { skip }, async (t) => {
  const { script } = shellBench(t, 'sandboxed', { limits: { processes: 40 } });
  // Perl reports a failed fork at once; Bash retries for 15 seconds.
  const fork =
    'for (1..80) { my $pid = fork; print("no fork: $!\\n"), last unless defined $pid; sleep(20), exit unless $pid }';
  const { output } = await script(`perl -e '$SIG{TERM} = "IGNORE"; ${fork} kill "TERM", 0'`);
  assert.match(output, /no fork: Resource temporarily unavailable/);
});

test('M7: every tmpfs that can be written has a size', { skip }, async (t) => {
  const { script } = shellBench(t, 'sandboxed');
  const { output } = await script(
    'for p in $(df --output=target,fstype | awk \'$2 == "tmpfs" {print $1}\'); do touch $p/x 2>/dev/null && df -B1 --output=size $p | tail -1; done',
  );
  const sizes = output.trim().split('\n').map(Number);
  assert.ok(sizes.length >= 2 && sizes.every((size) => size <= 512 * 1024 ** 2), output);
});

test('a named host is reached through the proxy, and no other', { skip }, async (t) => {
  const { script } = shellBench(t, 'sandboxed');
  const server = http.createServer((request, response) => response.end(`REACHED ${request.url}\n`));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const get = `curl -sS -m 20 http://127.0.0.1:${port}/x`;
  assert.match((await script(get, { hosts: [`127.0.0.1:${port}`] })).output, /REACHED \/x/);
  assert.match((await script(get, { hosts: ['example.org'] })).output, /not among the approved hosts/);
  assert.match(
    (await script(`curl -sS -p -m 20 http://127.0.0.1:${port}/y`, { hosts: [`127.0.0.1:${port}`] })).output,
    /REACHED \/y/,
  );
  assert.doesNotMatch((await script(`${get} --noproxy '*'`, { hosts: [`127.0.0.1:${port}`] })).output, /REACHED/);
  assert.equal((await script('exit 7', { hosts: ['example.org'] })).code, 7);
});

test('a request to an approved host is for no other site at the same address', async (t) => {
  const server = http.createServer(({ headers }, response) => response.end(`for ${headers.host}`));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const proxy = await startProxy([host], true);
  t.after(() => proxy.close());
  const headers = { host: 'other.example' };
  const request = http.request(proxy.env['http_proxy']!, { path: `http://${host}/x`, headers }).end();
  const [response] = (await once(request, 'response')) as [http.IncomingMessage];
  assert.equal(await text(response), `for ${host}`);
});

test('an encrypted connection to an approved host names no other site', async (t) => {
  let received = Buffer.alloc(0);
  const server = net.createServer(
    (socket) => void socket.on('data', (part) => (received = Buffer.concat([received, part]))),
  );
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve));
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const proxy = await startProxy([`localhost:${port}`], true);
  t.after(() => proxy.close());
  const connect = async (first: Buffer): Promise<net.Socket> => {
    received = Buffer.alloc(0);
    const request = http.request(proxy.env['http_proxy']!, { method: 'CONNECT', path: `localhost:${port}` }).end();
    const [, socket] = (await once(request, 'connect')) as [http.IncomingMessage, net.Socket];
    t.after(() => socket.destroy());
    // In two parts, as the network may bring them.
    socket.write(first.subarray(0, 20));
    setImmediate(() => socket.write(first.subarray(20)));
    return socket;
  };
  const right = await helloFor('localhost');
  await connect(right);
  await until(() => received.equals(right));
  for (const wrong of [await helloFor('other.example'), await helloFor(undefined), twice(right), cut(right)]) {
    const [alert] = (await once(await connect(wrong), 'data')) as [Buffer];
    assert.deepEqual([...alert], [0x15, 3, 1, 0, 2, 2, 112]);
    assert.equal(received.length, 0);
  }
  await connect(Buffer.from('the port was named, so this may be any protocol'));
  await until(() => received.toString().startsWith('the port was named'));
});

/** The first bytes that Node sends to a server. */
async function helloFor(servername: string | undefined): Promise<Buffer> {
  const server = net.createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const client = tls.connect({ host: '127.0.0.1', port, ...(servername === undefined ? {} : { servername }) });
  client.on('error', () => {});
  const [socket] = (await once(server, 'connection')) as [net.Socket];
  const [hello] = (await once(socket, 'data')) as [Buffer];
  client.destroy();
  socket.destroy();
  server.close();
  assert.deepEqual(readHello(hello), { name: servername });
  for (const length of [0, 1, 4, 5, hello.length - 1]) assert.equal(readHello(hello.subarray(0, length)), 'partial');
  return hello;
}

/** With a second extension that names a site. */
function twice(hello: Buffer): Buffer {
  const name = Buffer.from('localhost');
  const at = hello.indexOf(name);
  // Type, length, length of the list, kind and length of the name come before it.
  const extension = hello.subarray(at - 9, at + name.length);
  const all = Buffer.concat([hello.subarray(0, at - 9), extension, hello.subarray(at - 9)]);
  all.writeUInt16BE(all.readUInt16BE(3) + extension.length, 3);
  all.writeUIntBE(all.readUIntBE(6, 3) + extension.length, 6, 3);
  const sizeAt = 5 + 4 + 34 + 1 + all[43]!;
  const ciphers = all.readUInt16BE(sizeAt);
  const extensionsAt = sizeAt + 2 + ciphers + 1 + all[sizeAt + 2 + ciphers]!;
  all.writeUInt16BE(all.readUInt16BE(extensionsAt) + extension.length, extensionsAt);
  return all;
}

/** In two records, of which the first ends before the name. */
function cut(hello: Buffer): Buffer {
  const [first, rest] = [hello.subarray(5, 60), hello.subarray(60)];
  const header = (length: number): Buffer => Buffer.from([0x16, 3, 1, length >> 8, length & 255]);
  return Buffer.concat([header(first.length), first, header(rest.length), rest]);
}

test('inside of a connection to port 80 each request is for the approved site', async (t) => {
  const server = http.createServer(({ headers, url }, response) => response.end(`${url} for ${headers.host}`));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const { request } = http;
  // An ordinary user cannot listen on port 80.
  t.mock.method(http, 'request', (options: http.RequestOptions, ...more: []) =>
    request(options.port === 80 ? { ...options, port } : options, ...more),
  );
  const proxy = await startProxy(['127.0.0.1'], true);
  t.after(() => proxy.close());
  const connect = request(proxy.env['http_proxy']!, { method: 'CONNECT', path: '127.0.0.1:80' }).end();
  const [, socket] = (await once(connect, 'connect')) as [http.IncomingMessage, net.Socket];
  const ask = (target: string): string => `GET ${target} HTTP/1.1\r\nHost: other.example\r\n\r\n`;
  socket.write(`${ask('/a')}${ask('/b')}${ask('http://other.example/c')}`);
  let said = '';
  socket.on('data', (part) => void (said += String(part)));
  await until(() => said.includes('400 Bad Request'));
  socket.destroy();
  assert.match(said, /\/a for 127\.0\.0\.1[^]*\/b for 127\.0\.0\.1/);
  assert.doesNotMatch(said, /\/c for/);
});

test('an approved name that means this machine, or means it a moment later, is not connected to', async (t) => {
  let reached = 0;
  const server = http.createServer((_, response) => void (reached++, response.end('REACHED')));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  // The answer of a name server that an attacker runs.
  const answers = [['127.0.0.1'], ['169.254.169.254', '::ffff:127.0.0.1'], ['127.0.0.1']];
  const lookup = t.mock.method(dns, 'lookup', async () => answers.shift()!.map((address) => ({ address, family: 4 })));
  const proxy = await startProxy([`rebind.example:${port}`], true);
  t.after(() => proxy.close());
  for (let n = 0; n < 2; n++) {
    const request = http.request(proxy.env['http_proxy']!, { path: `http://rebind.example:${port}/` }).end();
    const [response] = (await once(request, 'response')) as [http.IncomingMessage];
    assert.equal(response.statusCode, 403);
    assert.match(await text(response), /leads to an address of this machine or its local link/);
  }
  const connect = http.request(proxy.env['http_proxy']!, { method: 'CONNECT', path: `rebind.example:${port}` }).end();
  const [response] = (await once(connect, 'connect')) as [http.IncomingMessage];
  assert.equal(response.statusCode, 403);
  assert.equal(lookup.mock.callCount(), 3, 'the name is resolved once for each connection');
  assert.equal(reached, 0);
});

test('hosts are names, and loopback and link-local addresses must be named', () => {
  assert.equal(wrongHosts(['registry.npmjs.org', '*.example.org', 'example.org:8443', '[::1]:3000']), undefined);
  for (const wrong of [[], ['*'], ['*.com'], ['http://x.org'], ['a b'], ['x.org:99999'], 'x.org', [7]])
    assert.ok(wrongHosts(wrong), JSON.stringify(wrong));
  assert.deepEqual(hostOf('Example.ORG:80'), { name: 'example.org', port: 80 });
  assert.ok(namesHost('*.example.org', 'a.example.org', 443));
  for (const [entry, name, port] of [
    ['*.example.org', 'example.org.evil.net', 443],
    ['example.org', 'evilexample.org', 443],
    ['example.org', 'example.org', 22],
  ] as const)
    assert.ok(!namesHost(entry, name, port), entry);
  for (const address of [
    '127.0.0.1',
    '127.8.8.8',
    '::1',
    '169.254.169.254',
    '0.0.0.0',
    'fe80::1',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '64:ff9b::7f00:1',
    '64:ff9b::a9fe:a9fe',
    '64:ff9b::1',
  ])
    assert.ok(isLocalAddress(address), address);
  assert.ok(
    !isLocalAddress('93.184.216.34') && !isLocalAddress('2606:2800::1') && !isLocalAddress('64:ff9b::5db8:d822'),
  );
});

test('the filter is a valid program for each architecture', () => {
  for (const arch of ['x64', 'arm64']) {
    const filter = seccompFilter(arch)!;
    assert.equal(filter.length % 8, 0);
    assert.ok(filter.length / 8 < 4096);
    // Every jump stays inside the program.
    for (let at = 0; at < filter.length / 8; at++) {
      const code = filter.readUInt16LE(at * 8);
      if ((code & 0x07) !== 0x05) continue;
      const farthest = at + 1 + Math.max(filter.readUInt8(at * 8 + 2), filter.readUInt8(at * 8 + 3));
      assert.ok(farthest < filter.length / 8, `${arch} ${at}`);
    }
  }
  assert.equal(seccompFilter('mips'), undefined);
});

test('the Seatbelt profile denies by default and ends with what is hidden', () => {
  const folder = { root: '/Users/me/ws', home: '/Users/me/ws/workspaces/ana', agent: 'ana' };
  const visibility = { shown: [], covered: [{ path: '/Users/me/ws/.env', isFolder: false }], repositories: [] };
  const own = seatbeltArgs(folder, { writes: 'own' }, visibility);
  assert.match(own, /^\(version 1\)\n\(deny default\)/);
  assert.doesNotMatch(own, /allow file-write\* \(subpath "\/Users\/me\/ws"\)/);
  assert.match(own, /\(allow file-write\* \(subpath "\/Users\/me\/ws\/workspaces\/ana"\)/);
  assert.match(own, /\(deny file-read\* file-write\* \(subpath "\/Users\/me\/ws\/\.env"\)\)/);
  assert.match(own, /\(deny network\*\)$/);
  const wide = seatbeltArgs(
    folder,
    { writes: 'workspace', proxy: { folder: '/tmp/p', helper: [], port: 4711 } },
    visibility,
  );
  assert.ok(
    wide.indexOf('allow file-write* (subpath "/Users/me/ws")') < wide.indexOf('(subpath "/Users/me/ws/agents")'),
  );
  assert.match(wide, /\(deny network\*\)\n\(allow network-outbound \(remote ip "localhost:4711"\)\)$/);
  const odd = seatbeltArgs({ ...folder, root: '/a "b\\c' }, { writes: 'own' }, visibility);
  assert.ok(odd.includes('(subpath "/a \\"b\\\\c")'));
});

test('a control group limits memory and processes together', () => {
  assert.deepEqual(scopeArgs({ memoryBytes: 1000, processes: 5 }).slice(0, 3), ['systemd-run', '--scope', '--quiet']);
  assert.ok(
    scopeArgs({ memoryBytes: 1000, processes: 5 })
      .join(' ')
      .includes('-p MemoryMax=1000 -p MemorySwapMax=0 -p TasksMax=5'),
  );
});
