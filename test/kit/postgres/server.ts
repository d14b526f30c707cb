/**
 * A real PostgreSQL server for one test file: its own folder, a free loopback port, an unprivileged
 * user. A guard process waits for the end of its input, which comes however this process ends; it
 * then stops the server and removes the folder.
 */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { freePort, postgresPrograms, unprivileged } from '../../../src/adapters/ledger/postgres/local-server.js';
import { until } from '../until.js';

const run = promisify(execFile);

export interface Postgres {
  readonly port: number;
  /** The address for the superuser, who needs no password. */
  readonly url: string;
  /** The address of another port, such as that of a proxy or a pooler. */
  at(port: number, user?: string): string;
  /** Runs SQL as the superuser. */
  sql(text: string, values?: unknown[]): Promise<Record<string, unknown>[]>;
  /** Stops the server as a crash would, or in order, and starts it again on the same port. */
  restart(mode?: 'immediate' | 'fast'): Promise<void>;
  halt(mode?: 'immediate' | 'fast'): Promise<void>;
  start(): Promise<void>;
  /** Freezes every process of the server, and thaws them. */
  freeze(): Promise<void>;
  thaw(): Promise<void>;
  /**
   * Starts a copy that follows this server. Synchronous: a commit waits until the copy has it, too.
   */
  standby(mode: 'synchronous' | 'asynchronous'): Promise<Standby>;
  stop(): Promise<void>;
}

interface Standby {
  readonly port: number;
  readonly url: string;
  /** From now on the copy gets no more commits. */
  deafen(): Promise<void>;
  /** Turns it into a server that takes commits. */
  promote(): Promise<void>;
}

interface PostgresOptions {
  /** Lines for postgresql.conf. */
  settings?: string;
  /** Lines of pg_hba.conf that come first. */
  access?: string;
  /** Where it makes its own folder; default: among the temporary files. */
  under?: string;
}

/** The reason to skip a test; CI does not allow skipping. */
export const NO_POSTGRES = postgresPrograms() === undefined ? 'PostgreSQL is not installed' : false;

let shared: Promise<Postgres> | undefined;

/** One server for all tests of a file, started at first use. It stops with the process. */
export function sharedPostgres(): Promise<Postgres> {
  return (shared ??= startPostgres());
}

export async function startPostgres(given: PostgresOptions = {}): Promise<Postgres> {
  const { settings = '', access = '', under = os.tmpdir() } = given;
  const programs = postgresPrograms();
  if (programs === undefined) throw new Error('PostgreSQL is not installed');
  const folder = fs.mkdtempSync(path.join(under, 'guild-postgres-'));
  const data = path.join(folder, 'data');
  const user = await unprivileged();
  if (user) fs.chownSync(folder, user.uid, user.gid);
  const options = { ...user, cwd: folder };
  const call = (program: string, ...args: string[]): Promise<unknown> =>
    run(path.join(programs, program), args, options);
  await call('initdb', '-D', data, '--no-sync', '--no-locale', '-E', 'UTF8', '-U', 'guild', '-A', 'trust');
  fs.writeFileSync(
    path.join(data, 'pg_hba.conf'),
    `${access}\n${fs.readFileSync(path.join(data, 'pg_hba.conf'), 'utf8')}`,
  );
  const guard = startGuard(STOP_SERVER, path.join(programs, 'pg_ctl'), folder, options);
  const port = await freePort();
  const config = `port = ${port}\nlisten_addresses = '127.0.0.1'\nunix_socket_directories = ''\nshared_buffers = 32MB\n`;
  fs.appendFileSync(path.join(data, 'postgresql.conf'), `${config}${settings}\n`);
  const log = path.join(folder, 'log');
  const at = (at: number, user = 'guild'): string => `postgres://${user}@127.0.0.1:${at}/postgres`;
  const signal = async (name: NodeJS.Signals): Promise<void> => {
    const [main] = fs.readFileSync(path.join(data, 'postmaster.pid'), 'utf8').split('\n');
    for (const pid of [Number(main), ...(await childrenOf(Number(main)))]) process.kill(pid, name);
  };
  const server: Postgres = {
    port,
    url: at(port),
    at,
    sql: (text, values) => sqlAt(at(port), text, values),
    async start() {
      await call('pg_ctl', '-D', data, '-l', log, '-w', '-s', 'start').catch((thrown: unknown) => {
        const said = fs.existsSync(log) ? fs.readFileSync(log, 'utf8') : '';
        throw new Error(`PostgreSQL does not start: ${said || String(thrown)}`);
      });
    },
    async halt(mode = 'immediate') {
      await call('pg_ctl', '-D', data, '-w', '-s', '-m', mode, 'stop');
    },
    async restart(mode) {
      await server.halt(mode);
      await server.start();
    },
    async standby(mode) {
      const copy = path.join(folder, 'standby');
      const own = await freePort();
      const from = ['-h', '127.0.0.1', '-p', String(port), '-U', 'guild'];
      await call('pg_basebackup', '-D', copy, ...from, '-R', '-X', 'stream', '-c', 'fast');
      fs.appendFileSync(path.join(copy, 'postgresql.conf'), `port = ${own}\n`);
      const primary = `host=127.0.0.1 port=${port} user=guild application_name=standby`;
      fs.appendFileSync(path.join(copy, 'postgresql.auto.conf'), `primary_conninfo = '${primary}'\n`);
      await call('pg_ctl', '-D', copy, '-l', path.join(folder, 'standby.log'), '-w', '-s', 'start');
      const state = async (): Promise<unknown> =>
        (await server.sql('select sync_state as state from pg_stat_replication'))[0]?.['state'];
      await until(async () => (await state()) !== undefined);
      if (mode === 'synchronous') {
        await server.sql(`alter system set synchronous_standby_names = 'standby'`);
        await server.sql('select pg_reload_conf()');
        await until(async () => (await state()) === 'sync');
      }
      return {
        port: own,
        url: at(own),
        async deafen() {
          await sqlAt(at(own), `alter system set primary_conninfo = ''`);
          await sqlAt(at(own), 'select pg_reload_conf()');
          await until(async () => (await state()) === undefined);
        },
        promote: async () => void (await call('pg_ctl', '-D', copy, '-w', '-s', 'promote')),
      };
    },
    freeze: () => signal('SIGSTOP'),
    thaw: () => signal('SIGCONT'),
    async stop() {
      await release(guard);
      fs.rmSync(folder, { recursive: true, force: true });
    },
  };
  await server.start();
  return server;
}

async function sqlAt(url: string, text: string, values?: unknown[]): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    const found = await client.query(text, values);
    return (Array.isArray(found) ? found.at(-1) : found).rows as Record<string, unknown>[];
  } finally {
    await client.end();
  }
}

/** A paused server cannot stop, so it is resumed first. */
const STOP_SERVER =
  'cat > /dev/null; for pid in $(head -1 "$2/data/postmaster.pid"); do kill -CONT $pid $(ps -o pid= --ppid $pid); done; ' +
  '"$1" -D "$2/data" -m immediate stop; [ ! -d "$2/standby" ] || "$1" -D "$2/standby" -m immediate stop; rm -rf "$2"';

/** Runs a script that waits for the end of its input and cleans up. $1: a program, $2: a folder. */
function startGuard(
  script: string,
  program: string,
  folder: string,
  user: { uid?: number; gid?: number },
): ChildProcess {
  const guard = spawn('sh', ['-c', script, 'guard', program, folder], {
    ...user,
    cwd: '/',
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  // The guard alone does not keep a finished test file running.
  guard.unref();
  (guard.stdin as net.Socket).unref();
  return guard;
}

async function release(guard: ChildProcess): Promise<void> {
  guard.ref();
  guard.stdin!.end();
  if (guard.exitCode === null) await once(guard, 'exit');
}

async function childrenOf(pid: number): Promise<number[]> {
  const { stdout } = await run('ps', ['-o', 'pid=', '--ppid', String(pid)]);
  return stdout.trim().split(/\s+/).map(Number);
}

export interface Pooler {
  readonly port: number;
  stop(): Promise<void>;
}

/** Debian's PgBouncer in front of a server. Undefined: it is not installed. */
export async function startPooler(server: Postgres, mode: 'session' | 'transaction'): Promise<Pooler | undefined> {
  const program = ['/usr/sbin/pgbouncer', '/usr/bin/pgbouncer'].find((file) => fs.existsSync(file));
  if (program === undefined) return undefined;
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'guild-pooler-'));
  const user = await unprivileged();
  const port = await freePort();
  fs.writeFileSync(path.join(folder, 'users.txt'), '"guild" ""\n');
  fs.writeFileSync(
    path.join(folder, 'pgbouncer.ini'),
    `[databases]\npostgres = host=127.0.0.1 port=${server.port}\n[pgbouncer]\nlisten_addr = 127.0.0.1\n` +
      `listen_port = ${port}\nunix_socket_dir =\nauth_type = trust\nauth_file = ${folder}/users.txt\n` +
      `pool_mode = ${mode}\nlogfile =\nserver_login_retry = 1\n`,
  );
  if (user)
    for (const name of ['', 'users.txt', 'pgbouncer.ini']) fs.chownSync(path.join(folder, name), user.uid, user.gid);
  const script = '"$1" -q "$2/pgbouncer.ini" & cat > /dev/null; kill -9 $!; wait; rm -rf "$2"';
  const guard = startGuard(script, program, folder, user ?? {});
  await until(() => answers(port));
  return { port, stop: () => release(guard) };
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1', () => (socket.destroy(), resolve(true)));
    socket.on('error', () => resolve(false));
  });
}
