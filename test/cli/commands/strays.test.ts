/** Files that people drop where tasks lie, and of which nothing can come: none of them is passed over without a word. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { place, scripted, succeeds } from '../../kit/guild.js';

const TASK = '{"description": "x"}';
/** What is dropped, and the next step that is told. */
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
/** Of editors, of git and for people; and what is at home there. */
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

test('what is dropped with another ending or in another place is told with the next step, and nothing is done to it', async (t) => {
  const files = Object.fromEntries([...Object.keys(STRAYS), ...QUIET].map((file) => [file, TASK]));
  const here = place(t, scripted('- say: fine', { ...files, 'tasks/ours.task.md': '', 'tasks/pending/a.json': TASK }));
  for (const [words, code] of [
    ['pump', 0],
    ['state', 0],
    ['task list', 0],
    ['check', 1],
  ] as const) {
    const ran = await here.guild(...words.split(' '));
    assert.equal(ran.code, code, `${words}\n${ran.err}`);
    for (const [file, said] of Object.entries(STRAYS)) {
      assert.match(ran.err, said, words);
      assert.equal(here.read(file), TASK);
    }
    assert.equal(ran.err.match(/is ignored|that guild does not read/g)?.length, Object.keys(STRAYS).length, ran.err);
  }
  const { problems } = JSON.parse((await here.guild('state', '--json')).out) as { problems: { where: object }[] };
  assert.ok(problems.some(({ where }) => (where as { file: string }).file === 'tasks/pending/y.yaml'));
  assert.deepEqual(here.list('tasks/completed'), ['a.json'], 'and their neighbour was done');
});

test('a watch tells of each once, also of one that comes later', async (t) => {
  const here = place(t, scripted('- say: fine', { 'tasks/drop.json': TASK }));
  const watch = here.start('watch');
  await watch.says(/tasks\/drop\.json is ignored/);
  here.put('tasks/pending/late.yaml', 'description: x');
  await watch.says(/tasks\/pending\/late\.yaml is ignored/);
  for (const id of ['a', 'b', 'c']) {
    here.put(`tasks/pending/${id}.json`, TASK);
    await watch.says(new RegExp(`✓ .*${id}\\n`));
  }
  fs.renameSync(path.join(here.root, 'tasks/drop.json'), path.join(here.root, 'tasks/pending/drop.json'));
  await watch.says(/✓ .*drop\n/);
  watch.interrupt();
  const { err } = await watch.ended;
  assert.equal(err.match(/is ignored/g)?.length, 2, err);
});

test('check names what is held, set aside or damaged after its end, and moves nothing', async (t) => {
  const here = place(
    t,
    scripted('- say: fine', {
      'tasks/pending/torn.json': '{"desc',
      'tasks/pending/list.json': '[1]',
      'tasks/completed/old.json': '{"id": "old", "descr',
      'tasks/failed/text.json': '"x"',
      'quarantine/number.json': '{"description": 5}',
      'quarantine/number.json.why.md': 'tasks/pending/number.json:1:17: "description" must be a text\n  mend it\n',
      'quarantine/alone.json': '5',
    }),
  );
  const ran = await here.guild('check');
  assert.equal(ran.code, 1);
  assert.match(ran.out, /6 problems/);
  for (const said of [
    /tasks\/pending\/torn\.json:1:2: this string does not end\n.*\n.*\n {2}finish saving it/,
    /tasks\/pending\/list\.json:1:1: a task is a JSON object\n/,
    /tasks\/completed\/old\.json:1:\d+: .*\n.*\n.*\n {2}it counts as ended and is not shown: fix it, or move it out of tasks\/\n/,
    /tasks\/failed\/text\.json:1:1: a task is a JSON object\n/,
    /quarantine\/number\.json is in quarantine: tasks\/pending\/number\.json:1:17: .*\n {2}fix it and move it back to tasks\/pending/,
    /quarantine\/alone\.json is in quarantine: the reason was not recorded\n/,
  ])
    assert.match(ran.err, said);
  assert.deepEqual(here.list('tasks/pending'), ['list.json', 'torn.json']);
  assert.deepEqual(here.list('quarantine').length, 3);
});

test('a damaged file among the ended is named where it is missing', async (t) => {
  const here = place(
    t,
    scripted('- say: fine', { 'tasks/completed/old.json': '{"id": "old", "descr', 'tasks/completed/new.json': TASK }),
  );
  for (const words of [['--all'], ['--state', 'completed'], ['--all', '--json']]) {
    const ran = succeeds(await here.guild('task', 'list', ...words));
    assert.match(ran.out, /\bnew\b/);
    assert.match(ran.err, /tasks\/completed\/old\.json:1:\d+: /);
  }
  assert.doesNotMatch((await here.guild('task', 'list')).err, /old/, 'nobody asked for ended ones');
  const shown = await here.guild('task', 'show', 'old');
  assert.equal(shown.code, 1);
  assert.match(shown.err, /tasks\/completed\/old\.json cannot be read; guild task list --all says why/);
});
