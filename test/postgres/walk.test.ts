/**
 * The steps of docs/how-to/run-on-several-machines.md with the swarm example: three workers in
 * three folders, a person in a fourth. One worker is killed and one is paused beyond its lease; a
 * request is answered in the mirrored ballot. At the end everything comes home as plain files.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { place, ROOT, succeeds, whileRunning, type Place, type Spawned } from '../kit/guild.js';
import { NO_POSTGRES, type Postgres } from '../kit/postgres/server.js';
import { until } from '../kit/until.js';
import { field } from './bench.js';
import { sampleTests } from '../kit/sample.js';

const test = sampleTests('postgres, long', 3, 1);

const LEASE = '2s';
const DIAGRAM = '{"description": "Draw the data model of the API", "requirements": ["diagram_drawing"]}';

/** The example with a store, and with two turns that take long enough to be interrupted. */
function swarm(store: string): Record<string, string> {
  const from = path.join(ROOT, 'examples/swarm');
  const names = fs.readdirSync(from, { recursive: true, encoding: 'utf8' });
  const files = names.filter((name) => fs.statSync(path.join(from, name)).isFile() && !name.startsWith('tasks'));
  const found = Object.fromEntries(files.map((name) => [name, fs.readFileSync(path.join(from, name), 'utf8')]));
  const slow = (part: string): [RegExp, string] => [
    new RegExp(`(task: "\\*\\.${part}\\.work"\\n  turn: 1\\n)`),
    '$1  wait: 6s\n',
  ];
  for (const [line, text] of [slow('rules'), slow('models')]) {
    assert.match(found['script.yaml']!, line);
    found['script.yaml'] = found['script.yaml']!.replace(line, text);
  }
  found['guild.yaml'] += `store: ${store}\ncoordination: { lease: ${LEASE} }\ngit: false\n`;
  return found;
}

/** The process that holds a task whose id ends like this. */
async function holder(server: Postgres, schema: string, end: string): Promise<number | undefined> {
  const [row] = await server.sql(
    `select (p.value::json)->>'pid' as pid from ${schema}.entry t
     join ${schema}.entry p on p.key = 'peer/' || ((t.value::json)->'owner'->>'peer')
     where t.key like $1 and t.live and p.live and (t.value::json)->>'state' = 'active'`,
    [`task/%${end}`],
  );
  return row && Number(row['pid']);
}

test('the swarm example on three machines, one killed and one paused', { skip: NO_POSTGRES }, async (t) => {
  const { server, schema, end } = await field();
  const files = swarm(`${server.url}?schema=${schema}`);
  const checkout = place(t, files);
  const anna = path.join(checkout.root, 'anna');
  const desk = (file: string): string => path.join(anna, file);
  const has = (file: string): boolean => fs.existsSync(desk(file));
  succeeds(await checkout.guild('publish'));
  const places = [1, 2, 3].map(() => place(t, files));
  const workers = places.map((here) => here.spawn('watch'));
  const sync = checkout.spawn('sync', 'anna');
  const running = new Set<Spawned>([...workers, sync]);
  const wait = (what: () => boolean | Promise<boolean>): Promise<unknown> => whileRunning([...running], until(what));
  // A desk may hold a task for a moment, to give back the tasks of a dead process.
  const next = async (part: string, but: readonly Spawned[]): Promise<Spawned> => {
    let found: Spawned | undefined;
    await wait(async () => {
      const pid = await holder(server, schema, part);
      found = workers.find((worker) => worker.child.pid === pid && !but.includes(worker));
      return found !== undefined;
    });
    return found!;
  };
  await whileRunning([...running], sync.says(/shows the store/));
  fs.copyFileSync(
    path.join(ROOT, 'examples/swarm/tasks/pending/build_user_api.json'),
    desk('tasks/pending/build_user_api.json'),
  );

  const killed = await next('.rules.work', []);
  running.delete(killed);
  killed.child.kill('SIGKILL');

  const paused = await next('.models.work', [killed]);
  paused.child.kill('SIGSTOP');
  const third = await next('.models.work', [killed, paused]);
  assert.notEqual(third.child.pid, paused.child.pid, 'another worker continues what the paused one held');
  paused.child.kill('SIGCONT');
  await wait(() => has('results/build_user_api.md'));
  assert.match(fs.readFileSync(desk('results/build_user_api.md'), 'utf8'), /API for user management is written/);

  fs.writeFileSync(desk('tasks/pending/diagram.json'), DIAGRAM);
  const ballot = desk('tasks/approvals.task.md');
  await wait(() => has('tasks/approvals.task.md') && /^- \[_\]/m.test(fs.readFileSync(ballot, 'utf8')));
  fs.writeFileSync(ballot, fs.readFileSync(ballot, 'utf8').replace(/^- \[_\]/m, '- [x]'));
  await wait(() => has('results/diagram.md'));
  assert.match(
    fs.readFileSync(desk('results/diagram.md'), 'utf8'),
    /erDiagram/,
    'the new agent read what another wrote',
  );
  const alive = places.filter((_, at) => workers[at] !== killed);
  await wait(() => alive.every((here) => here.list('agents').includes('drawer.md')));
  const state = succeeds(await checkout.guild('state'));
  assert.doesNotMatch(state.err, /takes no work/, 'an approved agent does not make definitions differ');

  for (const one of running) one.interrupt();
  await Promise.all([...running].map(({ ended }) => ended));
  await goesOnAsFiles(checkout, has);
  await end();
});

/** Pulled and worked on without the database. */
async function goesOnAsFiles(checkout: Place, has: (file: string) => boolean): Promise<void> {
  succeeds(await checkout.guild('store', 'pull', 'plain'));
  const plain = path.join(checkout.root, 'plain');
  for (const name of checkout.list('anna/sessions'))
    assert.equal(checkout.read(`plain/sessions/${name}`), checkout.read(`anna/sessions/${name}`), name);
  assert.deepEqual(checkout.list('plain/tasks/completed'), checkout.list('anna/tasks/completed'));
  assert.ok(checkout.list('plain/agents').includes('drawer.md'), 'an agent that a person approved comes along');
  assert.ok(has('results/diagram.md'));
  const digest = /digest ([0-9a-f]{64})/.exec((await checkout.guild('trust', '--workspace', plain)).out)![1]!;
  succeeds(await checkout.guild('trust', '--workspace', plain, '--digest', digest));
  const watching = checkout.spawn('watch', '--workspace', plain);
  await watching.says(/watching/);
  checkout.put('plain/tasks/pending/diagram-2.json', '{"description": "Find out more", "to": "search"}');
  // The script has no line for it, so it fails, and the folder has to show that.
  await whileRunning(
    [watching],
    until(() => checkout.list('plain/tasks/failed').includes('diagram-2.json')),
  );
  watching.interrupt();
  await watching.ended;
}
