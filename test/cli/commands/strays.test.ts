/** Files in the task folders that cannot become tasks are reported, never silently ignored. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { place, scripted, succeeds } from '../../kit/guild.js';

const TASK = '{"description": "x"}';
/** Dropped files and the next step that the message names. */
const STRAYS: Record<string, RegExp> = {
  'tasks/drop.json': /tasks\/drop\.json is ignored: .*\n {2}move it to tasks\/pending\/drop\.json\n/,
  'tasks/pending/BIG.JSON': /tasks\/pending\/BIG\.JSON is ignored: .*\n {2}name it tasks\/pending\/BIG\.json\n/,
  'tasks/pending/y.yaml': /tasks\/pending\/y\.yaml is ignored: .*\n {2}write tasks\/pending\/y\.json with \{/,
  'tasks/pending/y2.yml': /tasks\/pending\/y2\.yml is ignored/,
  'tasks/pending/plain.txt': /tasks\/pending\/plain\.txt is ignored/,
  'tasks/pending/plain': /tasks\/pending\/plain is ignored/,
  'tasks/pending/deep/a.json': /tasks\/pending\/deep\/ contains a task file that guild does not read\n/,
  'tasks/todo/a.json': /tasks\/todo\/ contains a task file that guild does not read\n {2}.*tasks\/pending\n/,
  'tasks/list.md': /tasks\/list\.md is ignored: .*\n {2}name it list\.task\.md/,
  'tasks/pending/b.task.md': /tasks\/pending\/b\.task\.md is ignored: .*\n {2}move it to tasks\/b\.task\.md\n/,
};
/** Files that are not reported: those of editors and of git, documentation, and our own files. */
const QUIET = [
  'tasks/README.md',
  'tasks/pending/.gitkeep',
  'tasks/pending/.a.json.swp',
  'tasks/pending/a.json~',
  'tasks/pending/#a.json#',
  'tasks/pending/a.json.tmp',
  'tasks/pending/4913',
  'tasks/notes/a.md',
  'tasks/ours.task.md',
];

test('a file with a wrong extension or in a wrong folder is reported with the next step and left unchanged', async (t) => {
  const files = Object.fromEntries([...Object.keys(STRAYS), ...QUIET].map((file) => [file, TASK]));
  const workspace = place(
    t,
    scripted('- say: fine', { ...files, 'tasks/ours.task.md': '', 'tasks/pending/a.json': TASK }),
  );
  for (const [command, code] of [
    ['pump', 0],
    ['state', 0],
    ['task list', 0],
    ['check', 1],
  ] as const) {
    const ran = await workspace.guild(...command.split(' '));
    assert.equal(ran.code, code, `${command}\n${ran.err}`);
    for (const [file, expected] of Object.entries(STRAYS)) {
      assert.match(ran.err, expected, command);
      assert.equal(workspace.read(file), TASK);
    }
    assert.equal(ran.err.match(/is ignored|that guild does not read/g)?.length, Object.keys(STRAYS).length, ran.err);
  }
  const { problems } = JSON.parse((await workspace.guild('state', '--json')).out) as { problems: { where: object }[] };
  assert.ok(problems.some(({ where }) => (where as { file: string }).file === 'tasks/pending/y.yaml'));
  assert.deepEqual(workspace.list('tasks/completed'), ['a.json'], 'and their neighbour was done');
});

test('a watch reports each stray file once, including later ones', async (t) => {
  const workspace = place(t, scripted('- say: fine', { 'tasks/drop.json': TASK }));
  const watch = workspace.start('watch');
  await watch.says(/tasks\/drop\.json is ignored/);
  workspace.put('tasks/pending/late.yaml', 'description: x');
  await watch.says(/tasks\/pending\/late\.yaml is ignored/);
  for (const id of ['a', 'b', 'c']) {
    workspace.put(`tasks/pending/${id}.json`, TASK);
    await watch.says(new RegExp(`✓ .*${id}\\n`));
  }
  fs.renameSync(path.join(workspace.root, 'tasks/drop.json'), path.join(workspace.root, 'tasks/pending/drop.json'));
  await watch.says(/✓ .*drop\n/);
  watch.interrupt();
  const { err } = await watch.ended;
  assert.equal(err.match(/is ignored/g)?.length, 2, err);
});

test('check names held, quarantined and damaged ended tasks, and moves nothing', async (t) => {
  const workspace = place(
    t,
    scripted('- say: fine', {
      'tasks/pending/torn.json': '{"desc',
      'tasks/pending/list.json': '[1]',
      'tasks/completed/old.json': '{"id": "old", "descr',
      'tasks/failed/text.json': '"x"',
      'quarantine/number.json': '{"description": 5}',
      'quarantine/number.json.why.md': 'tasks/pending/number.json:1:17: "description" must be a text\n  fix it\n',
      'quarantine/alone.json': '5',
    }),
  );
  const ran = await workspace.guild('check');
  assert.equal(ran.code, 1);
  assert.match(ran.out, /6 problems/);
  for (const expected of [
    /tasks\/pending\/torn\.json:1:2: this string does not end\n.*\n.*\n {2}finish saving it/,
    /tasks\/pending\/list\.json:1:1: a task is a JSON object\n/,
    /tasks\/completed\/old\.json:1:\d+: .*\n.*\n.*\n {2}it counts as ended and is not shown: fix it, or move it out of tasks\/\n/,
    /tasks\/failed\/text\.json:1:1: a task is a JSON object\n/,
    /quarantine\/number\.json is in quarantine: tasks\/pending\/number\.json:1:17: .*\n {2}fix it and move it back to tasks\/pending/,
    /quarantine\/alone\.json is in quarantine: the reason was not recorded\n/,
  ])
    assert.match(ran.err, expected);
  assert.deepEqual(workspace.list('tasks/pending'), ['list.json', 'torn.json']);
  assert.deepEqual(workspace.list('quarantine').length, 3);
});

test('a damaged file of an ended task is named in the lists that omit it', async (t) => {
  const workspace = place(
    t,
    scripted('- say: fine', { 'tasks/completed/old.json': '{"id": "old", "descr', 'tasks/completed/new.json': TASK }),
  );
  for (const command of [['--all'], ['--state', 'completed'], ['--all', '--json']]) {
    const ran = succeeds(await workspace.guild('task', 'list', ...command));
    assert.match(ran.out, /\bnew\b/);
    assert.match(ran.err, /tasks\/completed\/old\.json:1:\d+: /);
  }
  assert.doesNotMatch((await workspace.guild('task', 'list')).err, /old/, 'ended tasks were not requested');
  const shown = await workspace.guild('task', 'show', 'old');
  assert.equal(shown.code, 1);
  assert.match(shown.err, /tasks\/completed\/old\.json cannot be read; guild task list --all says why/);
});
