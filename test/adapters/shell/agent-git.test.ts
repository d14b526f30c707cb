/** The Git history of an agent's folder, with and without the sandbox. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { skipReason, shellBench, MODES } from '../../kit/commands.js';
import { withEnoughTime } from '../../kit/until.js';

function git(home: string, ...args: string[]): string {
  const done = spawnSync('git', ['-C', home, ...args], { encoding: 'utf8' });
  if (done.status !== 0) throw new Error(done.stderr);
  return done.stdout;
}

for (const mode of MODES) {
  const skip = skipReason(mode);

  test(
    `${mode}: each command that changes something is a commit with its text, task and exit code`,
    { skip },
    async (t) => {
      const { script, line, home } = shellBench(t, mode);
      const first = await script("echo 'a' > f; exit 3", { task: 't-1', command: "echo 'a' > f; exit 3" });
      const read = await line('cat f', { task: 't-2' });
      const second = await script('rm f; mkdir -p d; echo b > "d/with blank"\n# a second line', { task: 't-3' });
      assert.equal(read.commit, first.commit, 'a command that only reads makes no commit');
      assert.notEqual(second.commit, first.commit);
      assert.equal(git(home, 'rev-parse', 'HEAD').trim(), second.commit);
      assert.equal(
        git(home, 'log', '--format=%s <%an>').trim(),
        [
          'rm f; mkdir -p d; echo b > "d/with blank" <ana>',
          "echo 'a' > f; exit 3 <ana>",
          'The folder of ana <ana>',
        ].join('\n'),
      );
      assert.match(git(home, 'log', '-1', '--format=%B', first.commit!), /\n\nTask: t-1\nExit-Code: 3\n/);
      assert.match(git(home, 'log', '-1', '--format=%B'), /# a second line\n\nTask: t-3\nExit-Code: 0\n/);
      assert.equal(git(home, 'status', '--porcelain'), '');
    },
  );

  test(`${mode}: a rollback is a new commit, and uncommitted changes are committed first`, { skip }, async (t) => {
    const { shell, script, home } = shellBench(t, mode);
    const first = await script('echo 1 > f; echo keep > k');
    await script('echo 2 > f; rm k; mkdir new; echo x > new/x');
    fs.writeFileSync(path.join(home, 'loose'), 'by a tool');
    const back = await shell.rollback('ana', first.commit!);
    assert.ok(back.ok, JSON.stringify(back));
    assert.deepEqual(back.files.toSorted(), ['f', 'k', 'loose', 'new/x']);
    assert.deepEqual(fs.readdirSync(home).toSorted(), ['.git', 'f', 'k']);
    assert.equal(fs.readFileSync(path.join(home, 'f'), 'utf8'), '1\n');
    assert.equal(git(home, 'rev-parse', 'HEAD').trim(), back.commit);
    assert.equal(git(home, 'log', '--format=%s').split('\n')[0], `Back to ${first.commit}`);
    assert.equal(git(home, 'show', 'HEAD~1:loose'), 'by a tool');
    for (const invalid of ['HEAD', '--help', 'deadbeefdeadbeef', '', 'main', first.commit!.slice(0, 4)]) {
      assert.equal((await shell.rollback('ana', invalid)).ok, false, invalid);
    }
    assert.equal(git(home, 'rev-parse', 'HEAD').trim(), back.commit);
  });

  test(`${mode}: files written between two commands are not part of the second commit`, { skip }, async (t) => {
    const { script, home } = shellBench(t, mode);
    await script('true');
    fs.writeFileSync(path.join(home, 'written'), 'x');
    const ran = await script('echo y > made');
    assert.equal(git(home, 'show', '--format=', '--name-only', ran.commit!).trim(), 'made');
    assert.match(git(home, 'show', '--format=%s', '--name-only', 'HEAD~1'), /^Between commands\n\nwritten/);
  });

  test(`${mode}: a killed command is committed too`, { skip }, async (t) => {
    const { script, home } = shellBench(t, mode);
    const ran = await withEnoughTime(
      (timeoutMs) => script('echo half > f; sleep 600', { timeoutMs }),
      () => fs.existsSync(path.join(home, 'f')),
    );
    assert.equal(ran.kind, 'killed');
    assert.match(git(home, 'log', '-1', '--format=%B', ran.commit!), /Ended-By: time-out/);
    assert.equal(git(home, 'show', `${ran.commit}:f`), 'half\n');
  });

  test(`${mode}: a failed commit does not fail the command, and the next commit catches up`, { skip }, async (t) => {
    const { script, home } = shellBench(t, mode);
    await script('true');
    const ran = await script('echo x > f; mv .git/HEAD .git/HEAD.away; echo ok');
    assert.deepEqual([ran.kind, ran.code, ran.output, ran.commit], ['exited', 0, 'ok\n', undefined]);
    assert.match(ran.note!, /^its changes were not committed: git/);
    const next = await script('cat f');
    assert.equal(next.output, 'x\n');
    assert.match(next.note!, /was damaged, so it was renamed and a new one was created/);
    assert.equal(git(home, 'show', `${next.commit}:f`), 'x\n');
  });

  test(`${mode}: a stale Git lock does not stop the history`, { skip }, async (t) => {
    const { script } = shellBench(t, mode);
    const ran = await script('echo x > f; touch .git/index.lock');
    assert.ok(ran.commit);
    assert.equal(ran.note, undefined);
  });
}

test('without a sandbox, settings that make Git run programs are restored before Git is called', async (t) => {
  const { script, home, root } = shellBench(t, 'not sandboxed');
  await script('true');
  const owned = path.join(root, 'owned');
  const ran = await script(
    [
      `git config core.fsmonitor 'touch ${owned}-monitor'`,
      `git config filter.x.clean 'touch ${owned}-filter; cat'`,
      "echo '* filter=x' > .gitattributes",
      `mkdir -p .git/hooks; printf '#!/bin/sh\\ntouch ${owned}-hook\\n' > .git/hooks/post-commit; chmod +x .git/hooks/post-commit`,
      'echo x > f',
    ].join('\n'),
  );
  assert.ok(ran.commit, ran.note);
  assert.match(ran.note!, /settings of its Git repository had been changed and were restored/);
  assert.deepEqual(fs.readdirSync(root), ['workspaces']);
  assert.equal(git(home, 'show', `${ran.commit}:f`), 'x\n');
  assert.doesNotMatch(fs.readFileSync(path.join(home, '.git/config'), 'utf8'), /filter|touch/);
});

test('without a sandbox, a .git link is not followed', async (t) => {
  const { script, home, root } = shellBench(t, 'not sandboxed');
  fs.mkdirSync(path.join(root, 'elsewhere'));
  const ran = await script('echo x > f; rm -rf .git; ln -s ../../elsewhere .git');
  assert.match(ran.note!, /\.git is no longer a folder/);
  const next = await script('true');
  assert.match(next.note!, /was renamed/);
  assert.deepEqual(fs.readdirSync(path.join(root, 'elsewhere')), []);
  assert.equal(git(home, 'show', `${next.commit}:f`), 'x\n');
});
