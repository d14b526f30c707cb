/** A workspace on its own PostgreSQL server, and the same on files. */
import fs from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import { initStore } from '../../src/app/machines/index.js';
import { postgresPrograms, startLocalPostgres } from '../../src/adapters/ledger/postgres/local-server.js';
import { publishDefinitions } from '../../src/app/machines/publish.js';
import { readAddress } from '../../src/adapters/ledger/postgres/address.js';
import { acceptTrust } from '../../src/app/trust/trust.js';
import type { Testbed } from '../harness/rows.js';
import { addAgents } from '../harness/shipped-workspace.js';

export interface FarPlace {
  /** The folder whose work is in the database. */
  root: string;
  env: Record<string, string>;
  schema: string;
  /** A bare connection to the same server. */
  client: pg.Client;
  /** The process ids of the server, to sum their processor time. */
  pids(): number[];
  /** Another folder with the same definitions. */
  copy(name: string): string;
  close(): Promise<void>;
}

/** Undefined: PostgreSQL is not installed. */
export async function farPlace(testbed: Testbed, script: string): Promise<FarPlace | undefined> {
  if (postgresPrograms() === undefined) return undefined;
  const folder = testbed.folder('far');
  const server = await startLocalPostgres();
  const schema = 'bench';
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: folder,
    GUILD_STATE: path.join(folder, 'state'),
    GUILD_STORE: `${server.url}?schema=${schema}`,
  };
  await initStore(readAddress(env.GUILD_STORE, { from: 'bench', mayHavePassword: true }), 'bench');
  const copy = (name: string): string => writeFolder(path.join(folder, name), script, env);
  const root = copy('root');
  await publishDefinitions(root, env);
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  return {
    root,
    env,
    schema,
    client,
    copy,
    pids: () => [server.pid, ...childrenOf(server.pid)],
    async close() {
      await client.end();
      await server.stop();
    },
  };
}

/** The same workspace on files. */
export function nearFolder(testbed: Testbed, script: string): { root: string; env: Record<string, string> } {
  const folder = testbed.folder('near');
  const env = { PATH: process.env['PATH'] ?? '', HOME: folder, GUILD_STATE: path.join(folder, 'state') };
  return { root: writeFolder(path.join(folder, 'root'), script, env), env };
}

function writeFolder(root: string, script: string, env: Record<string, string>): string {
  fs.mkdirSync(path.join(root, 'agents'), { recursive: true });
  fs.writeFileSync(
    path.join(root, 'guild.yaml'),
    'model: pretend/x\nproviders:\n  pretend: { kind: scripted, script: script.yaml }\ndefault_agent: ana\n' +
      'git: false\nlimits: { parallel: 16 }\n',
  );
  fs.writeFileSync(path.join(root, 'script.yaml'), script);
  fs.writeFileSync(path.join(root, 'agents/ana.md'), '---\ndescription: Answers\n---\nAnswer.\n');
  addAgents(root);
  acceptTrust(root, env);
  return root;
}

function childrenOf(pid: number): number[] {
  const file = `/proc/${pid}/task/${pid}/children`;
  return fs.existsSync(file) ? fs.readFileSync(file, 'utf8').trim().split(/\s+/).filter(Boolean).map(Number) : [];
}

/** Processor time so far, of the processes that still run. */
export function cpuMsOf(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => {
    const file = `/proc/${pid}/stat`;
    if (!fs.existsSync(file)) return sum;
    const fields = fs.readFileSync(file, 'utf8').split(') ').at(-1)!.split(' ');
    return sum + (Number(fields[11]) + Number(fields[12])) * MS_PER_TICK;
  }, 0);
}

const MS_PER_TICK = 10;
