/** Ledgers on a real server, each in its own schema. */
import { clock } from '../../src/adapters/clock/index.js';
import { readAddress, type Address } from '../../src/adapters/ledger/postgres/address.js';
import { initStore } from '../../src/adapters/ledger/postgres/make-store.js';
import { postgresLedger, type PostgresOptions } from '../../src/adapters/ledger/postgres/index.js';
import type { Ledger } from '../../src/ports/ledger.js';
import { sharedPostgres, type Postgres } from '../kit/postgres/server.js';

let schemas = 0;

export interface Field {
  server: Postgres;
  schema: string;
  address: Address;
  /** Another peer's handle. `port`: of a proxy or pooler. */
  open(options?: Partial<PostgresOptions> & { port?: number }): Promise<Ledger>;
  /** A handle with the default options, without waiting for the connection. */
  ledger(): Ledger;
  end(): Promise<void>;
}

/** A fresh workspace in the server that the tests of this file share. */
export async function field(given?: Postgres): Promise<Field> {
  const server = given ?? (await sharedPostgres());
  const schema = `t${++schemas}`;
  const at = (port = server.port): Address =>
    readAddress(`${server.at(port)}?schema=${schema}`, { from: 'test', mayHavePassword: false });
  const address = at();
  await initStore(address, `workspace ${schema}`);
  return {
    server,
    schema,
    address,
    async open({ port, ...options } = {}) {
      return postgresLedger({ address: at(port), clock: clock(), ...options });
    },
    ledger: () => postgresLedger({ address, clock: clock() }),
    async end() {
      await server.sql(`drop schema ${schema} cascade`);
    },
  };
}
