/**
 * A private PostgreSQL server, for a demo: in a temporary folder, on a free port of this
 * machine, with a random password. It uses the programs of an installed PostgreSQL.
 */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { problemError } from '../../../domain/problem.js';

const run = promisify(execFile);

export interface LocalPostgres {
  /** The address of its database, with the password. */
  url: string;
  /** The pid of its main process. */
  pid: number;
  stop(): Promise<void>;
}

/** Where packages put the server's programs, which are often not in PATH. */
const FOLDERS = ['/usr/lib/postgresql', '/opt/homebrew/opt', '/usr/local/opt', '/usr/pgsql'];

/** The folder of the server's programs. Undefined: PostgreSQL is not installed. */
export function postgresPrograms(): string | undefined {
  const installed = FOLDERS.filter((folder) => fs.existsSync(folder)).flatMap((folder) =>
    fs.readdirSync(folder).map((version) => path.join(folder, version, 'bin')),
  );
  return [...installed.sort().reverse(), ...(process.env['PATH'] ?? '').split(path.delimiter)].find((folder) =>
    ['initdb', 'postgres', 'pg_ctl'].every((name) => fs.existsSync(path.join(folder, name))),
  );
}

/** Its folder is removed when it stops. */
export async function startLocalPostgres(): Promise<LocalPostgres> {
  const programs = postgresPrograms();
  if (programs === undefined)
    throw problemError('not_found', 'PostgreSQL is not installed on this machine', {
      hint: 'install it (Debian: apt-get install postgresql), or set GUILD_STORE to the address of a database',
    });
  // Not in a folder of the caller: if that is root, the server runs as another user.
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'guild-postgres-'));
  const user = await unprivileged();
  if (user !== undefined) fs.chownSync(folder, user.uid, user.gid);
  const call = (program: string, ...args: string[]): Promise<unknown> =>
    run(path.join(programs, program), args, { ...user, cwd: folder });
  const password = randomBytes(16).toString('hex');
  const passwordFile = path.join(folder, 'password');
  const data = path.join(folder, 'data');
  fs.writeFileSync(passwordFile, `${password}\n`, { mode: 0o600 });
  if (user !== undefined) fs.chownSync(passwordFile, user.uid, user.gid);
  await call('initdb', '-D', data, '-U', 'guild', '-A', 'scram-sha-256', `--pwfile=${passwordFile}`, '-E', 'UTF8');
  fs.rmSync(passwordFile);
  const port = await freePort();
  // A process has two connections.
  const settings = `port = ${port}\nlisten_addresses = '127.0.0.1'\nunix_socket_directories = ''\nmax_connections = 200\n`;
  fs.appendFileSync(path.join(data, 'postgresql.conf'), settings);
  await call('pg_ctl', '-D', data, '-l', path.join(folder, 'log'), '-w', '-s', 'start');
  return {
    url: `postgres://guild:${password}@127.0.0.1:${port}/postgres`,
    pid: Number(fs.readFileSync(path.join(data, 'postmaster.pid'), 'utf8').split('\n')[0]),
    async stop() {
      await call('pg_ctl', '-D', data, '-w', '-s', '-m', 'fast', 'stop');
      fs.rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** PostgreSQL refuses to run as root. */
export async function unprivileged(): Promise<{ uid: number; gid: number } | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  for (const name of ['postgres', 'nobody']) {
    const ids = await Promise.all(['-u', '-g'].map((what) => run('id', [what, name]))).catch(() => undefined);
    if (ids !== undefined) return { uid: Number(ids[0]!.stdout), gid: Number(ids[1]!.stdout) };
  }
  throw problemError('not_allowed', 'PostgreSQL does not run as root, and there is no user postgres', {
    hint: 'run the demo as another user',
  });
}

export async function freePort(): Promise<number> {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as net.AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
