/** The ledger contract on a real PostgreSQL, directly and through PgBouncer. */
import { after } from 'node:test';
import { ledgerContract } from '../contract/ledger.js';
import { NO_POSTGRES, sharedPostgres, startPooler, type Pooler } from '../kit/postgres/server.js';
import { sampleOf } from '../kit/sample.js';
import { field } from './bench.js';

if (NO_POSTGRES === false) {
  ledgerContract('postgres', () => field());

  for (const mode of sampleOf('modes of a pooler', ['session', 'transaction'] as const, 2)) {
    let pooler: Promise<Pooler | undefined> | undefined;
    after(async () => (await pooler)?.stop());
    ledgerContract(`postgres through a pooler in ${mode} mode`, async () => {
      pooler ??= sharedPostgres().then((server) => startPooler(server, mode));
      const port = (await pooler)!.port;
      const own = await field();
      return { open: () => own.open({ port }), end: own.end };
    });
  }
}
