/** People's changes are in history under their name, and found without reading everything. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { ground, type Ground } from '../../kit/history/ground.js';

/** A new process commits what it finds; returns author, subject and files of each new commit. */
async function nextProcess({ again, own }: Ground): Promise<string[]> {
  const before = own('rev-parse', 'HEAD');
  const history = again();
  await history.commit('work', '', { evenIfSame: true });
  await history.close();
  const log = own('log', '--reverse', '--format=%an: %s', `${before}..HEAD`).split('\n');
  return log.filter((line) => line !== 'guild: work');
}

async function begun(t: Parameters<typeof ground>[0]): Promise<Ground> {
  const place = ground(t);
  fs.writeFileSync(path.join(place.root, '.gitconfig'), '[user]\nname = Ada Lovelace\nemail = ada@example.org\n');
  for (const file of [
    'guild.yaml',
    'agents/a.md',
    'memory/a.md',
    'tasks/plan.task.md',
    'results/a.md',
    'context/x/y.md',
  ])
    place.edit(file, 'first\n');
  await place.history.commit('work', '', { evenIfSame: true });
  await place.history.close();
  return place;
}

test("a person's edit is in the next commit under their name", async (t) => {
  const place = await begun(t);
  const { edit, own, root } = place;
  edit('agents/a.md', 'second\n');
  edit('agents/new.md', 'new\n');
  edit('results/a.md', 'corrected\n');
  fs.rmSync(path.join(root, 'tasks/plan.task.md'));
  fs.renameSync(path.join(root, 'context/x'), path.join(root, 'context/z'));
  assert.deepEqual(await nextProcess(place), [
    'Ada Lovelace: by hand: agents/a.md, agents/new.md, context/x/y.md and 3 more',
  ]);
  assert.deepEqual(
    own('ls-tree', '-r', '--name-only', 'HEAD')
      .split('\n')
      .map((name) => name.replace(/\d{4}-.*\//, '')),
    ['agents/a.md', 'agents/new.md', 'context/z/y.md', 'guild.yaml', 'memory/a.md', 'results/a.md'],
  );
  assert.equal(own('show', '-s', '--format=%ae %cn', 'HEAD~1'), 'ada@example.org guild');
  assert.deepEqual(await nextProcess(place), [], 'nothing has changed since');
});

test('a person without a name in git is known by their login', async (t) => {
  const place = await begun(t);
  fs.rmSync(path.join(place.root, '.gitconfig'));
  place.edit('memory/a.md', 'second\n');
  const [commit = ''] = await nextProcess(place);
  assert.doesNotMatch(commit, /^guild:|^Ada|^:/);
  assert.match(commit, /: by hand: memory\/a\.md$/);
});

test('a touched file did not change, whatever its stamps say', async (t) => {
  const place = await begun(t);
  const { root } = place;
  fs.utimesSync(path.join(root, 'memory/a.md'), new Date(), new Date());
  assert.deepEqual(await nextProcess(place), []);
  for (const lost of ['', 'garbage']) {
    fs.rmSync(path.join(root, '.guild/history'), { recursive: true });
    if (lost !== '') place.edit('.guild/history/stamps', lost);
    assert.deepEqual(await nextProcess(place), [], 'without the stamps, files are compared by content');
  }
  place.edit('memory/a.md', 'second\n');
  fs.rmSync(path.join(root, '.guild/history'), { recursive: true });
  assert.deepEqual(await nextProcess(place), ['Ada Lovelace: by hand: memory/a.md']);
});

test('a process that lives on finds edits at most once a minute', async (t) => {
  const place = await begun(t);
  let aheadMs = 0;
  const clock = { now: () => new Date(), monotonicMs: () => aheadMs, sleep: async () => undefined };
  const history = place.again({ clock });
  await history.commit('work', '', { evenIfSame: true });
  place.edit('memory/a.md', 'second\n');
  const subject = (): string => place.own('log', '-1', '--format=%s');
  await history.tend();
  assert.equal(subject(), 'work', 'not yet');
  aheadMs = 61_000;
  await history.tend();
  assert.equal(subject(), 'by hand: memory/a.md');
});

test('after a long look at everything, the next one waits in proportion', async (t) => {
  const place = await begun(t);
  let ms = 0;
  let perLookMs = 500;
  const clock = { now: () => new Date(), monotonicMs: () => (ms += perLookMs), sleep: async () => undefined };
  const history = place.again({ clock });
  await history.commit('work', '', { evenIfSame: true });
  perLookMs = 0;
  place.edit('memory/a.md', 'second\n');
  const subject = (): string => place.own('log', '-1', '--format=%s');
  ms += 61_000;
  await history.tend();
  assert.equal(subject(), 'work', 'it would take a share of more than 1/2000');
  ms += 24 * 60 * 60_000;
  await history.tend();
  assert.equal(subject(), 'by hand: memory/a.md');
});

test('files that the program changes are distinguished from files that people edit meanwhile', async (t) => {
  const place = await begun(t);
  const { root, own } = place;
  const history = place.again();
  place.edit('memory/a.md', 'by Ada\n');
  place.edit('memory/b.md', 'by the program\n');
  history.changed(path.join(root, 'memory/b.md'));
  await history.commit('planner remembered', '');
  await history.close();
  assert.deepEqual(own('log', '-2', '--format=%an %s', '--name-only').split(/\n+/), [
    'guild planner remembered',
    'memory/b.md',
    'Ada Lovelace by hand: memory/a.md',
    'memory/a.md',
  ]);
});
