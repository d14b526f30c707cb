/** A backup by PostgreSQL's own programs is a workspace on another server. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { clock } from '../../src/adapters/clock/index.js';
import { readAddress } from '../../src/adapters/ledger/postgres/address.js';
import { postgresLedger } from '../../src/adapters/ledger/postgres/index.js';
import { initStore } from '../../src/adapters/ledger/postgres/make-store.js';
import { place, scripted, succeeds } from '../kit/guild.js';
import { NO_POSTGRES, startPostgres } from '../kit/postgres/server.js';
import { field } from './bench.js';

const run = promisify(execFile);

test(
  'a restored store has roles and work on another server, and old changes are not news',
  { skip: NO_POSTGRES },
  async (t) => {
    const { server, schema, end } = await field();
    // The other server has counted fewer transactions.
    for (let n = 0; n < 300; n++) await server.sql('select pg_current_xact_id()');
    const here = place(t, scripted('- {agent: boss, turn: 1, say: "done: {{task}}"}\n'));
    const at = (url: string) => ({ env: { GUILD_STORE: `${url}?schema=${schema}` } });
    succeeds(await here.guildWith(at(server.url), 'publish'));
    succeeds(await here.guildWith(at(server.url), 'run', 'boss', 'First'));
    const { stdout } = await run('pg_dump', ['-n', schema, server.url], { maxBuffer: 1 << 26 });
    here.put('backup.sql', stdout);
    const other = await startPostgres();
    t.after(() => other.stop());
    await run('psql', ['-q', '-f', `${here.root}/backup.sql`, other.url]);

    const address = readAddress(`${other.url}?schema=${schema}`, { from: 'test', mayHavePassword: false });
    assert.equal((await initStore(address, 'w')).isAdapted, true);
    assert.equal((await initStore(address, 'w')).isAdapted, false);
    await other.sql(`create role machine login in role ${schema}_worker`);
    const ledger = postgresLedger({ address, clock: clock() });
    await ledger.news();
    const { mark } = await ledger.grown(['events']);
    assert.deepEqual((await ledger.news()).entries, []);
    assert.deepEqual((await ledger.grown(['events'], mark)).logs, []);
    await ledger.close();
    succeeds(await here.guildWith(at(other.at(other.port, 'machine')), 'run', 'boss', 'Second'));
    const ended = await other.sql(`select key from ${schema}.entry where tag = 'completed'`);
    assert.equal(ended.length, 2);
    await end();
  },
);
