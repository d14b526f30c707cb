/**
 * Workers in processes and folders of their own, with nothing in common but a real database. They
 * are killed, paused beyond their lease and cut off, and their clocks are wrong; the server is
 * restarted, frozen for up to four leases, out of connections or disk space, and replaced by a
 * standby, which may be behind. The database records every change of every entry. A program that
 * shares no code with the product judges that history and what is left.
 */
import assert from 'node:assert/strict';
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { removeFolder, tempFolder } from '../kit/temp/folder.js';
import { publishDefinitions } from '../../src/app/machines/publish.js';
import { makeTask } from '../../src/domain/task/task.js';
import { environment, ROOT } from '../kit/guild.js';
import { NO_POSTGRES, startPostgres } from '../kit/postgres/server.js';
import { hasSmallDisk, smallDisk } from '../kit/postgres/small-disk.js';
import { wire, type Wire } from '../kit/postgres/wire.js';
import { sampleOf, sampleTests } from '../kit/sample.js';
import { SEED } from '../kit/seed.js';
import { seeded } from '../kit/sim-processes.js';
import { trust } from '../kit/trust/state.js';
import { field } from '../postgres/bench.js';

/** `npm test` runs one of the three storms. */
const test = sampleTests('storm', 3, 2);

const run = promisify(execFile);
const TASKS = 40;
const WORKERS = 3;
const LEASE_MS = 2000;
const KINDS = ['plain', 'writer', 'lead', 'plain', 'writer'];
const LIMIT_MS = 240_000;

const ANYWHERE = ['kill', 'pause', 'cut', 'restart', 'freeze', 'exhaust', 'failover', 'behind', 'skew'] as const;
type Weather = (typeof ANYWHERE)[number] | 'full';
/** Only root can mount a disk that is small enough to fill. */
const WEATHERS: readonly Weather[] = hasSmallDisk() ? [...ANYWHERE, 'full'] : ANYWHERE;
/** A file system of this size holds an empty server, its log and the work of one storm. */
const DISK_MB = 150;
const SMALL = 'max_wal_size = 32MB\nmin_wal_size = 32MB';
/** How wrong the clocks of the workers are. */
const SKEWS_MS = [-600_000, 0, 3_600_000];

for (const weather of sampleOf('storms on several machines', WEATHERS, 8)) {
  test(`nothing is lost or done twice: ${weather} (SEED=${SEED})`, { skip: NO_POSTGRES }, async (t) => {
    const random = seeded(SEED);
    const base = tempFolder('far-storm');
    const disk = weather === 'full' ? smallDisk(DISK_MB) : undefined;
    const server = await startPostgres(disk === undefined ? {} : { under: disk.folder, settings: SMALL });
    t.after(async () => {
      await server.stop();
      disk?.remove();
      await removeFolder(base);
    });
    const { schema, open } = await field(server);
    await server.sql(HISTORY.replaceAll('{schema}', schema));
    const wires: Wire[] = await Promise.all(Array.from({ length: WORKERS }, () => wire(server.port)));
    const roots = wires.map((_, n) => lay(path.join(base, `m${n}`)));
    for (const root of roots) trust(root, environment(root));
    // The address is part of the definitions, so each worker gets it from its environment.
    const env = (n: number): Record<string, string> =>
      environment(roots[n]!, {
        GUILD_STORE: `${server.at(wires[n]!.port)}?schema=${schema}`,
        ...(weather === 'skew' ? { NODE_OPTIONS: clockOff(SKEWS_MS[n]!) } : {}),
      });
    await publishDefinitions(roots[0]!, environment(roots[0]!, { GUILD_STORE: `${server.url}?schema=${schema}` }));
    // The person's own connection, which also leads to the new server after a failover.
    const watched = await wire(server.port);
    const ledger = await open({ port: watched.port });
    const standby =
      weather === 'failover' || weather === 'behind'
        ? await server.standby(weather === 'behind' ? 'asynchronous' : 'synchronous')
        : undefined;
    const at = new Date().toISOString();
    const puts = Array.from({ length: TASKS }, (_, n) => {
      const to = KINDS[n % 5]!;
      const task = makeTask({ id: `${to}-${n}`, description: `Task ${n}`, to, created_at: at });
      return { key: `task/${task.id}`, value: JSON.stringify({ task, state: 'pending' }), expect: 0, live: true };
    });
    await ledger.commit('storm', { puts, adds: [] });
    const enter = (n: number): ChildProcess =>
      spawn(process.execPath, [path.join(ROOT, 'bin/guild.mjs'), 'watch', '--quiet', '--workspace', roots[n]!], {
        env: env(n),
        stdio: ['ignore', 'ignore', 'pipe'],
      });
    const workers = roots.map((_, n) => enter(n));
    t.after(() => workers.forEach((worker) => (worker.kill('SIGCONT'), worker.kill('SIGKILL'))));
    const until = Date.now() + LIMIT_MS;
    let blows = 0;
    while ((await ledger.list('task/', { live: true, limit: 1 })).length > 0) {
      assert.ok(Date.now() < until, `still open after ${LIMIT_MS / 1000} s and ${blows} blows`);
      await sleep(300 + random() * 900);
      workers.forEach((worker, n) => {
        if (worker.exitCode !== null || worker.signalCode !== null) workers[n] = enter(n);
      });
      if (blows < 6) await blow(weather, Math.floor(random() * WORKERS));
      blows++;
    }
    await ledger.close();
    for (const worker of workers) worker.kill('SIGCONT');
    await sleep(weather === 'pause' || weather === 'cut' ? LEASE_MS : 200);
    for (const worker of workers) worker.kill('SIGKILL');
    for (const each of [...wires, watched]) await each.close();
    const checker = path.join(ROOT, 'test/storm/far-checker.mjs');
    const { stdout } = await run(process.execPath, [
      checker,
      standby?.url ?? server.url,
      schema,
      String(TASKS),
      weather,
      ...roots,
    ]);
    assert.deepEqual(JSON.parse(stdout), []);

    async function blow(kind: Weather, n: number): Promise<void> {
      const worker = workers[n]!;
      const longMs = LEASE_MS * (kind === 'freeze' && blows === 0 ? 4 : 1 + 1.5 * random());
      if (kind === 'kill' || kind === 'skew') worker.kill('SIGKILL');
      if (kind === 'restart') await server.restart('immediate');
      if (kind === 'pause') worker.kill('SIGSTOP');
      if (kind === 'cut') wires[n]!.cut(random() < 0.3 ? 'in' : random() < 0.5 ? 'out' : undefined);
      if (kind === 'freeze') await server.freeze();
      if (kind === 'full') disk?.fill();
      if (standby !== undefined && blows === 1) {
        if (kind === 'behind') {
          await standby.deafen();
          await sleep(700);
        }
        await server.halt('immediate');
        await standby.promote();
        for (const each of [...wires, watched]) each.lead(standby.port);
      }
      if (!['pause', 'cut', 'freeze', 'exhaust', 'full'].includes(kind)) return;
      const held = kind === 'exhaust' ? await allConnections(server.url) : [];
      await sleep(longMs);
      if (kind === 'pause') worker.kill('SIGCONT');
      if (kind === 'cut') wires[n]!.heal();
      if (kind === 'freeze') await server.thaw();
      if (kind === 'full') {
        disk?.free();
        // A server that could not write its log has stopped itself.
        await server.sql('select 1').catch(() => server.start().catch(() => undefined));
      }
      for (const client of held) await client.end();
    }
  });
}

/** Every change of an entry, in the order in which the rows were changed. */
const HISTORY = `
create table {schema}.history(n bigserial primary key, key text, rev bigint, value text, live boolean,
  at timestamptz default clock_timestamp());
create function {schema}.note() returns trigger language plpgsql security definer as $note$ begin
  insert into {schema}.history(key, rev, value, live) values (new.key, new.rev, new.value, new.live); return null;
end $note$;
create trigger note after insert or update on {schema}.entry for each row execute function {schema}.note();`;

/** A Node option that makes the clock of a process wrong by this much. */
function clockOff(ms: number): string {
  const code = `const Real = Date; globalThis.Date = class extends Real {
    constructor(...given) { given.length === 0 ? super(Real.now() + ${ms}) : super(...given); }
    static now() { return Real.now() + ${ms}; } };`;
  return `--import=data:text/javascript,${encodeURIComponent(code)}`;
}

/** Connects until the server has no more connections to give, and drops those of the workers. */
async function allConnections(url: string): Promise<pg.Client[]> {
  const held: pg.Client[] = [];
  for (;;) {
    const client = new pg.Client({ connectionString: url });
    client.on('error', () => undefined);
    try {
      await client.connect();
    } catch {
      break;
    }
    held.push(client);
  }
  await held[0]?.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'guildhall' and pid <> pg_backend_pid()`,
  );
  return held;
}

function lay(root: string): string {
  const put = (file: string, text: string): void => {
    fs.mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
    fs.writeFileSync(path.join(root, file), text);
  };
  put(
    'guild.yaml',
    'model: demo/model\ngit: false\nproviders: { demo: { kind: scripted, script: script.yaml } }\n' +
      `limits: { attempts: 1000, parallel: 6 }\nwatch: { rescan: 1s }\ncoordination: { lease: ${LEASE_MS}ms }\n`,
  );
  put('agents/plain.md', '---\ndescription: Answers\ntools: [read_file]\n---\nAnswer.\n');
  put('agents/writer.md', '---\ndescription: Writes\ntools: [write_file]\n---\nWrite.\n');
  put('agents/lead.md', '---\ndescription: Leads\ntools: [delegate_to_agent]\nagents: [plain, writer]\n---\nLead.\n');
  put('memory/facts.md', 'A fact.\n');
  put(
    'script.yaml',
    `- { agent: plain, turn: 1, wait: 50ms, call: [{ read_file: { path: memory/facts.md } }] }
- { agent: plain, turn: 2, wait: 50ms, say: "answer of {{task}}" }
- { agent: writer, turn: 1, wait: 50ms, call: [{ write_file: { path: "workspaces/writer/{{task}}.txt", content: "{{task}} wrote this\\n" } }] }
- { agent: writer, turn: 2, when: /unknown_outcome/, wait: 50ms, say: "perhaps written by {{task}}" }
- { agent: writer, turn: 2, wait: 50ms, say: "written by {{task}}" }
- { agent: lead, turn: 1, wait: 50ms, call: [{ delegate_to_agent: { agent: plain, task: look } }, { delegate_to_agent: { agent: writer, task: write } }] }
- { agent: lead, turn: 2, wait: 50ms, say: "both answered {{task}}" }
`,
  );
  return root;
}
