/** One process writes history at a time; no change of the others, or of a killed one, is lost. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { changeLists } from '../../../src/adapters/git/changes/change-lists.js';
import { processes } from '../../../src/adapters/processes/index.js';
import { place, scripted } from '../../kit/guild.js';
import { asPerson, ground, type Ground } from '../../kit/history/ground.js';
import { seeded } from '../../kit/sim-processes.js';
import { sampleRounds, sampleTests } from '../../kit/sample.js';
import { SEED } from '../../kit/seed.js';
import { until } from '../../kit/until.js';

const test = sampleTests('adapters/git/processes', 4);

const KILLED = fileURLToPath(new URL('../../kit/history/killed-child.js', import.meta.url));
const CHILD = fileURLToPath(new URL('../../kit/history/commit-child.js', import.meta.url));

interface Child {
  said: string[];
  err: string;
  kill(): void;
  ended: Promise<number | null>;
}

function start({ root }: Ground, name: string, files: number): Child {
  const child = spawn(process.execPath, [CHILD, root, name, String(files)], { stdio: ['ignore', 'pipe', 'pipe'] });
  const running: Child = {
    said: [],
    err: '',
    kill: () => void child.kill('SIGKILL'),
    ended: new Promise((resolve) => child.on('close', resolve)),
  };
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => {
    text += chunk.toString('utf8');
    running.said = text.split('\n').slice(0, -1);
  });
  child.stderr.on('data', (chunk: Buffer) => (running.err += chunk.toString('utf8')));
  return running;
}

function filesInHistory({ own }: Ground): Set<string> {
  const names = own('ls-tree', '-r', '--name-only', 'HEAD', 'results').split('\n');
  return new Set(names.map((name) => path.basename(name, '.md')));
}

function isSound({ own }: Ground): boolean {
  try {
    own('fsck', '--strict');
    return true;
  } catch {
    return false;
  }
}

test('four processes share a workspace: one line of commits, every message and file, no error', async (t) => {
  const place = ground(t);
  fs.mkdirSync(path.join(place.root, 'results'));
  const names = ['ana', 'bob', 'cy', 'dee'];
  const children = names.map((name) => start(place, name, 8));
  const codes = await Promise.all(children.map(({ ended }) => ended));
  assert.deepEqual(
    children.map(({ err }) => err),
    ['', '', '', ''],
  );
  assert.deepEqual(codes, [0, 0, 0, 0]);
  await place.history.tend(); // the lists of the processes that ended while another one wrote
  const wanted = names.flatMap((name) => Array.from({ length: 8 }, (_, i) => `${name} ${i}`));
  const subjects = (await place.history.log({ limit: 1000 })).map(({ subject }) => subject);
  assert.deepEqual(subjects.filter((subject) => wanted.includes(subject)).sort(), wanted.sort());
  assert.deepEqual([...filesInHistory(place)].sort(), wanted.map((subject) => subject.replace(' ', '-')).sort());
  assert.equal(place.own('rev-list', '--merges', 'HEAD'), '');
  place.own('fsck', '--strict');
});

test('the next process commits what a killed one had done, as the work of the program', async (t) => {
  const place = ground(t);
  const { root, own, history, again } = place;
  fs.mkdirSync(path.join(root, 'results'));
  await history.commit('start', '', { evenIfSame: true });
  await history.close();
  const holder = again();
  await holder.commit('the holder', '', { evenIfSame: true });
  const child = start(place, 'ana', 1000);
  await until(() => child.said.includes('wrote ana-3'));
  await until(() => fs.readdirSync(path.join(root, '.guild/history')).some((name) => name.endsWith('.left')));
  child.kill();
  await child.ended;
  await holder.close();
  const next = again();
  await next.commit('the next', '', { evenIfSame: true });
  await next.close();
  const files = filesInHistory(place);
  for (const line of child.said) if (line.startsWith('wrote ')) assert.ok(files.has(line.slice(6)), line);
  // It may have been killed between writing a file and reporting it.
  const unreported = `by hand: results/ana-${child.said.filter((line) => line.startsWith('wrote ')).length}.md`;
  const byOthers = own('log', '--format=%an %s')
    .split('\n')
    .filter((line) => !line.startsWith('guild '));
  assert.deepEqual(
    byOthers.filter((line) => !line.endsWith(unreported)),
    [],
  );
  assert.deepEqual(owedLists(root), [], 'nothing is owed any more');
});

test('a process that may not write history leaves no list behind when it ends', async (t) => {
  const { root, history, again } = ground(t);
  await history.commit('the holder', '', { evenIfSame: true });
  const other = again();
  fs.mkdirSync(path.join(root, 'results'));
  for (const name of ['a', 'b']) {
    fs.writeFileSync(path.join(root, 'results', `${name}.md`), name);
    other.changed(path.join(root, 'results', `${name}.md`));
    await other.commit(name, '');
    await other.commit('nothing new', '');
  }
  await other.close();
  await history.close();
  const left = fs.readdirSync(path.join(root, '.guild/history')).filter((name) => name.endsWith('.live'));
  assert.deepEqual(left, []);
});

test('changes that a watch made before its first commit are not attributed to a person', async (t) => {
  const home = place(t, scripted('- {say: done}', {}));
  assert.equal((await home.guild('run', 'boss', 'first')).code, 0);
  home.put('tasks/pending/next.json', '{"description": "next", "to": "boss"}');
  const watch = home.spawn('watch');
  await watch.says(/✓ boss next/);
  watch.child.kill('SIGKILL');
  await watch.ended;
  assert.equal((await home.guild('run', 'boss', 'last')).code, 0);
  const { out } = await home.guild('log');
  assert.doesNotMatch(out, /by hand/);
  const names = asPerson(home.root, '--git-dir=.guild/history.git', 'ls-tree', '-r', '--name-only', 'HEAD');
  assert.match(names, /^results\/.*\/next\.md$/m);
  assert.deepEqual(owedLists(home.root), [], 'nothing is owed any more');
});

for (const change of [1, 2, 3, 4, 5, 6])
  test(`a process that is killed right after change ${change} did not do the work of a person`, async (t) => {
    const place = ground(t);
    const { root, own, history, edit } = place;
    edit('tasks/plan.task.md', '# Plan\n');
    edit('tasks/pending/old.json', '{}');
    for (const folder of ['active', 'completed', '../results']) fs.mkdirSync(path.join(root, 'tasks', folder));
    await history.commit('start', '', { evenIfSame: true });
    await history.close();
    const child = spawn(process.execPath, [KILLED, root, String(change)], { stdio: ['ignore', 'ignore', 'inherit'] });
    await once(child, 'close');
    assert.equal(child.signalCode, 'SIGKILL');
    await commitNext(place);
    assert.match(own('log', '--format=%an: %s'), /^guild: the next\nguild: left by a killed process: .+\nguild: /);
  });

/** The last changes of the killed process are in no list. */
for (const [when, arrange] of Object.entries<(place: Ground) => () => void>({
  'while the first commit of a large workspace is under way': ({ edit }) => {
    edit('.guild/history/beginning', 'tasks/completed\ntasks/failed\nresults\n');
    return () => undefined;
  },
  'while a third process works': ({ root }) => {
    const third = changeLists(root, processes());
    third.changing(path.join(root, 'results/third.md'));
    return third.close;
  },
}))
  test(`files of a process that is killed ${when} are not attributed to a person`, async (t) => {
    const place = ground(t);
    const { root, own, history, edit } = place;
    await history.commit('start', '', { evenIfSame: true });
    await history.close();
    const dead = { ...processes().me(), startTime: '0' };
    changeLists(root, { ...processes(), me: () => dead }).changing(path.join(root, 'results/a.md'));
    edit('results/a.md', 'done\n');
    edit('tasks/completed/a.json', '{}\n');
    const leave = arrange(place);
    await commitNext(place);
    leave();
    edit('results/b.md', 'mine\n');
    await commitNext(place);
    const log = own('log', '--format=%s');
    assert.match(log, /^left by a killed process: results\/a\.md, tasks\/completed\/a\.json$/m);
    assert.match(log, /^by hand: results\/b\.md$/m);
  });

async function commitNext({ again }: Ground): Promise<void> {
  const next = again();
  await next.commit('the next', '', { evenIfSame: true });
  await next.close();
}

test(`a process that dies at any moment loses no commit and blocks nobody (SEED=${SEED})`, async (t) => {
  const place = ground(t);
  const { root, own, again } = place;
  const random = seeded(SEED);
  fs.mkdirSync(path.join(root, 'results'));
  const wrote: string[] = [];
  const committed: string[] = [];
  for (const round of sampleRounds('history-kill', 24, 3)) {
    const child = start(place, `r${round}`, 1000);
    const lines = 1 + Math.floor(random() * 12);
    await until(() => child.said.length >= lines);
    await new Promise((resolve) => setTimeout(resolve, random() * 20));
    child.kill();
    await child.ended;
    assert.equal(child.err, '');
    for (const line of child.said) {
      if (line.startsWith('wrote ')) wrote.push(line.slice(6));
      else committed.push(line.slice('committed '.length));
    }
  }
  const next = again();
  await next.commit('the next', '', { evenIfSame: true });
  await next.close();
  const subjects = new Set(own('log', '--format=%s').split('\n'));
  for (const subject of committed) assert.ok(subjects.has(subject), subject);
  const files = filesInHistory(place);
  for (const name of wrote) assert.ok(files.has(name), name);
  await until(() => isSound(place)); // while packs are merged, fsck may find one gone
  assert.deepEqual(
    fs.readdirSync(path.join(root, '.guild')).filter((name) => name.includes('broken')),
    [],
  );
});

test('the first commit of a large workspace does not hold up the end, and later processes finish it', async (t) => {
  const place = ground(t);
  const { root, own, again } = place;
  for (const folder of ['results', 'sessions', 'tasks/completed']) {
    fs.mkdirSync(path.join(root, folder), { recursive: true });
    for (let i = 0; i < 3000; i++) fs.writeFileSync(path.join(root, folder, `f${i}.md`), `${folder} ${i}\n`);
  }
  const inHistory = (): number => own('ls-tree', '-r', '--name-only', 'HEAD').split('\n').length;
  const counts: number[] = [];
  const closeMs: number[] = [];
  // A process may run out of time after the last file and before it has noted that.
  const isLeft = (): boolean => fs.existsSync(path.join(root, '.guild/history/beginning'));
  for (let round = 0; (counts.at(-1) !== 9000 + round || isLeft()) && round < 1000; round++) {
    const history = again();
    fs.writeFileSync(path.join(root, `memory/${round}.md`), 'work');
    history.changed(path.join(root, `memory/${round}.md`));
    const commit = history.commit(`work ${round}`, '');
    await until(() => fs.existsSync(path.join(root, '.guild/history.git')));
    const from = performance.now();
    await history.close();
    closeMs.push(performance.now() - from);
    await commit;
    assert.match(own('log', '-200', '--format=%s'), new RegExp(`^work ${round}$`, 'm'));
    counts.push(inHistory());
  }
  assert.equal(counts.at(-1), 9000 + counts.length, counts.join(' '));
  assert.ok(counts.length > 1, 'it was large enough to need more than one process');
  assert.equal(isLeft(), false);
  t.diagnostic(`${counts.length} processes; close took at most ${Math.max(...closeMs).toFixed(0)} ms`);
});

test('beside many ended tasks a commit adds little to the repository', async (t) => {
  const place = ground(t);
  const { root, again, history } = place;
  const folders = ['results', 'sessions', 'tasks/completed'];
  for (const folder of folders) {
    fs.mkdirSync(path.join(root, folder), { recursive: true });
    for (let i = 0; i < 2500; i++) fs.writeFileSync(path.join(root, folder, `task_${i}.md`), `${folder} ${i}\n`);
  }
  await history.commit('begin', '', { evenIfSame: true });
  await history.tend();
  await history.close();
  const packs = path.join(root, '.guild/history.git/objects/pack');
  const bytes = (): number =>
    fs.readdirSync(packs).reduce((sum, name) => sum + fs.statSync(path.join(packs, name)).size, 0);
  const before = bytes();
  for (let run = 0; run < 10; run++) {
    const next = again();
    for (const folder of folders) {
      const file = path.join(root, folder, `run_${run}.md`);
      fs.writeFileSync(file, `an answer of ordinary length ${run} `.repeat(40));
      next.changed(file);
    }
    await next.commit(`run ${run}`, '');
    await next.close();
  }
  const growth = (bytes() - before) / 10;
  t.diagnostic(`${(growth / 1000).toFixed(1)} kB for each run`);
  assert.ok(growth < 30_000, `${growth} bytes for each run`);
});

test('a lock or list that a killed process created and never wrote is removed after a minute', async (t) => {
  const { root, history, again } = ground(t);
  await history.commit('start', '', { evenIfSame: true });
  await history.close();
  const folder = path.join(root, '.guild/history');
  const old = ['lock-old.tmp', 'old-0.live'];
  const young = ['lock-young.tmp', 'young-0.live'];
  for (const name of [...old, ...young]) fs.writeFileSync(path.join(folder, name), '');
  const before = new Date(Date.now() - 61_000);
  for (const name of old) fs.utimesSync(path.join(folder, name), before, before);
  const next = again();
  await next.commit('next', '', { evenIfSame: true });
  await next.close();
  assert.deepEqual(
    [...old, ...young].filter((name) => fs.existsSync(path.join(folder, name))),
    young,
  );
});

/** Lists that have content. A process that is killed right after creating one leaves it empty. */
function owedLists(root: string): string[] {
  const folder = path.join(root, '.guild/history');
  return fs
    .readdirSync(folder)
    .filter((name) => name !== 'stamps' && !/^lock-.*\.tmp$/.test(name))
    .filter((name) => fs.statSync(path.join(folder, name)).size > 0);
}
