/** Edits that a person makes to a board, and their effect on tasks. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { fc } from '../../kit/properties.js';
import type { Problem } from '../../../src/domain/problem.js';
import type { Task } from '../../../src/domain/task/task.js';
import { cluster, ROOT, untilQuiet, type Proc } from '../../kit/cluster.js';
import { MESSY } from '../../kit/boards.js';
import { simDisk, type SimDisk } from '../../kit/sim-disk.js';
import { writeStory } from '../../kit/stories.js';

const PLAN = path.join(ROOT, 'tasks/plan.task.md');
const ANSWERS = '- {agent: ana, say: Done.}\n- {agent: ben, say: Done.}\n';

interface Office {
  disk: SimDisk;
  proc: Proc;
  calls: () => number;
  problems: Problem[];
  board: () => string;
  /** Saves the board as a person would. */
  save: (text: string) => void;
  edit: (from: string | RegExp, to: string) => void;
  task: (id: string) => Promise<Task & { state: string }>;
}

function office(board: string, script = ANSWERS): Office {
  const disk = simDisk();
  const agents = {
    ana: '---\ndescription: A\n---\nDo it.\n',
    ben: '---\ndescription: B\nthreshold: never\n---\nDo it.\n',
  };
  writeStory(disk, {
    name: '',
    agents,
    files: { 'tasks/plan.task.md': board },
    tasks: {},
    script,
    results: {},
    calls: 0,
  });
  const house = cluster(script);
  const problems: Problem[] = [];
  const proc = house.start(disk, { watchers: { problem: (problem) => problems.push(problem) } });
  const text = (): string => disk.tree().get(PLAN)!;
  return {
    disk,
    proc,
    problems,
    calls: () => house.calls.length,
    board: text,
    save: (now) => disk.save(PLAN, now),
    edit(from, to) {
      const now = text().replace(from, to);
      assert.notEqual(now, text(), `nothing to edit: ${from}`);
      disk.save(PLAN, now);
    },
    async task(id) {
      const placed = await proc.ports.tasks.read(id);
      assert.ok(placed, `task ${id} does not exist`);
      return { ...placed.task, state: placed.state };
    },
  };
}

/** A board whose task never starts: its dependency does not exist. */
const WAITING = '## TODO\n- [ ] @ana "Wait" id: wait depends_on: never\n';

test('a bullet defines all fields of its task', async () => {
  const it = office(`## TODO
- [ ] B @nobody @ana #ops #redis "Check Redis"
  id: check
  depends_on: other, never
  requirements: ops
  due: 2026-02-01
  description: |
    Two
    lines.
- [x] @ana "Old"
  id: other
- [ ] anything
`);
  await it.proc.engine.pump();
  const task = await it.task('check');
  assert.equal(task.description, 'Check Redis\n\nTwo\nlines.');
  assert.equal(task.to, 'ana');
  assert.equal(task.priority, 'B');
  assert.deepEqual(task.requirements, ['ops']);
  assert.deepEqual(task.dependencies, ['never'], 'a bullet that was already done is not a dependency');
  assert.deepEqual(task.context['tags'], ['ops', 'redis']);
  assert.equal(task.context['due'], '2026-02-01');
  const unaddressed = [...it.disk.tree().keys()].find((file) => /completed\/board-plan-.*\.json$/.test(file));
  assert.ok(unaddressed, 'a bullet without @ is offered and completed');
  assert.equal(await it.proc.ports.tasks.read('other'), undefined, 'a done bullet creates no task');
});

test('nested bullets become subtasks, and their parent runs last', async () => {
  const it = office(
    '## TODO\n- [ ] @ana "Whole"\n  id: whole\n  - [ ] @ben "Part"\n    id: part\n    - [ ] @ben "Bit"\n      id: bit\n',
  );
  await untilQuiet(it.proc);
  const bit = await it.task('bit');
  assert.deepEqual([bit.parent, bit.root, bit.depth], ['part', 'whole', 2]);
  assert.equal(bit.context.original_goal, 'Whole');
  assert.deepEqual((await it.task('whole')).dependencies, ['part']);
  assert.match(
    it.board(),
    /^## TODO\n- \[x\] @ana "Whole"\n {2}id: whole\n {2}completed_at: \S+\n {2}- \[x\] @ben "Part"/,
  );
});

test('a box shows that its task is in progress, and stays open before', async () => {
  const it = office(WAITING);
  await it.proc.engine.pump();
  assert.match(it.board(), /- \[ \] @ana "Wait"/);
  const claim = (await it.proc.ports.tasks.claim('wait', 'ana'))!;
  await it.proc.engine.pump();
  assert.match(it.board(), /- \[\/\] @ana "Wait"/);
  await it.proc.ports.tasks.release(claim, claim.task);
});

for (const [mark, why] of [
  ['x', 'done by hand'],
  ['-', 'skipped by hand'],
]) {
  test(`marking a box [${mark}] ends its task: ${why}`, async () => {
    const it = office(`${WAITING}- [ ] @ben "After" id: after depends_on: wait\n`);
    await it.proc.engine.pump();
    it.edit('[ ] @ana', `[${mark}] @ana`);
    await untilQuiet(it.proc);
    const task = await it.task('wait');
    assert.equal(task.state, 'failed');
    assert.equal(task.error?.message, why);
    assert.ok(
      it.board().includes(`- [${mark}] @ana "Wait" id: wait depends_on: never\n- [x]`),
      'the mark stays as it is',
    );
    assert.equal((await it.task('after')).state, 'completed', 'its dependents continue');
    assert.equal(it.calls(), 1);
  });
}

test('ticking a bullet ends the tasks created for it, but not its nested bullets', async () => {
  const it = office('## TODO\n- [ ] @ana "Top"\n  id: top\n  - [ ] @ben "Sub"\n    id: sub\n    depends_on: never\n');
  await it.proc.engine.pump();
  const top = await it.task('top');
  const made: Task = {
    ...top,
    id: 'top.call-1',
    parent: 'top',
    root: 'top',
    depth: 1,
    dependencies: ['never'],
    extra: {},
  };
  await it.proc.ports.tasks.create(made);
  it.edit('[ ] @ana', '[x] @ana');
  await untilQuiet(it.proc);
  assert.equal((await it.task('top.call-1')).state, 'failed');
  assert.equal((await it.task('sub')).state, 'pending');
});

test('deleting a line cancels a task that has not started', async () => {
  const it = office(`${WAITING}- [ ] @ben "Stay" id: stay depends_on: never\n`);
  await it.proc.engine.pump();
  it.edit(/- \[ \] @ana.*\n/, '');
  await untilQuiet(it.proc);
  assert.equal((await it.task('wait')).error?.message, 'its line was removed from tasks/plan.task.md');
  assert.equal((await it.task('stay')).state, 'pending');
  assert.ok(!it.board().includes('wait'), 'the line does not come back');
});

for (const [what, text] of [
  ['an empty file', ''],
  ['conflict marks', '## TODO\n<<<<<<< mine\n=======\n>>>>>>> theirs\n'],
]) {
  test(`${what} during a save cancels nothing`, async () => {
    const it = office(WAITING);
    await it.proc.engine.pump();
    it.save(text!);
    await untilQuiet(it.proc);
    assert.equal((await it.task('wait')).state, 'pending');
    assert.equal(it.board(), text);
  });
}

test('a missing board cancels nothing', async () => {
  const it = office(WAITING);
  await it.proc.engine.pump();
  it.disk.remove(PLAN);
  await untilQuiet(it.proc);
  assert.equal((await it.task('wait')).state, 'pending');
});

test('changing a bullet changes its task if it has not started', async () => {
  const it = office(WAITING);
  await it.proc.engine.pump();
  it.edit('@ana "Wait" id: wait depends_on: never', 'A @ben "Wait no more" id: wait');
  await untilQuiet(it.proc);
  const task = await it.task('wait');
  assert.deepEqual([task.description, task.to, task.priority, task.state], ['Wait no more', 'ben', 'A', 'completed']);
});

test("a person's own bullet creates no task, and its dependents wait for the tick", async () => {
  const it = office(
    '## TODO\n- [ ] @human "Call Sarah"\n  id: call\n- [ ] @ana "Write it up"\n  id: write\n  depends_on: call\n',
  );
  await untilQuiet(it.proc);
  assert.equal(await it.proc.ports.tasks.read('call'), undefined);
  assert.equal(await it.proc.ports.tasks.read('write'), undefined);
  assert.equal(it.calls(), 0);
  it.edit('[ ] @human', '[x] @human');
  await untilQuiet(it.proc);
  assert.equal((await it.task('write')).state, 'completed');
  assert.match(it.board(), /- \[x\] @human "Call Sarah"\n {2}id: call\n- \[x\] @ana/);
});

test("a failed task's box shows the reason, and reopening the box retries the task", async () => {
  const it = office(
    '## TODO\n- [ ] @ana "Hard"\n  id: hard\n  error: NPE in main, see the log\n',
    '- {agent: ben, say: no}\n',
  );
  await untilQuiet(it.proc);
  assert.match(
    it.board(),
    /- \[-\] @ana "Hard"\n {2}id: hard\n {2}error: NPE in main.*\n {2}failed_at: \S+\n {2}failure: .*no line for agent ana/,
  );
  it.edit('[-] @ana', '[ ] @ana');
  await it.proc.engine.pump();
  assert.ok((await it.proc.ports.events.list()).some(({ name }) => name === 'task.retried'));
  await untilQuiet(it.proc);
  assert.match(it.board(), /- \[-\] @ana "Hard"\n {2}id: hard\n {2}error: NPE in main.*\n {2}failed_at/);
});

test('retrying a failed task reopens its box', async () => {
  const it = office('## TODO\n- [ ] @ana "Hard" id: hard depends_on: cut\n');
  await it.proc.engine.pump();
  await it.proc.ports.intents.submit({
    kind: 'cancel',
    id: 'c1',
    task: 'hard',
    by: 'human',
    at: '2026-01-01T00:00:00Z',
  });
  await untilQuiet(it.proc);
  assert.match(
    it.board(),
    /- \[-\] @ana "Hard" id: hard depends_on: cut\n {2}failed_at: \S+\n {2}error: cancelled by human\n/,
  );
  await it.proc.ports.intents.submit({
    kind: 'retry',
    id: 'r1',
    task: 'hard',
    by: 'human',
    at: '2026-01-01T00:00:01Z',
  });
  await untilQuiet(it.proc);
  assert.equal(it.board(), '## TODO\n- [ ] @ana "Hard" id: hard depends_on: cut\n');
});

test('a completed bullet that a person reopens is left alone', async () => {
  const it = office('## TODO\n- [ ] @ana "Easy" id: easy\n');
  await untilQuiet(it.proc);
  it.edit('[x]', '[ ]');
  const left = it.board();
  await untilQuiet(it.proc);
  assert.equal(it.board(), left);
  assert.equal(it.calls(), 1);
});

test('an invalid line is reported once with its place and does not affect other lines', async () => {
  const it = office(
    '## TODO\n- [ ] @ana "never closed\n- [ ] @ana "Good"\n- [ ] @bob "For whom?"\n- [ ] @ana "Odd" depends_on: "a/b"\n',
  );
  await untilQuiet(it.proc);
  it.edit('"Odd"', '"Odd one"');
  await untilQuiet(it.proc);
  assert.deepEqual(
    it.problems.map(
      ({ message, where }) => `${where?.file}:${where?.line} ${message.slice(0, 30)} | ${where?.source?.slice(0, 14)}`,
    ),
    [
      'tasks/plan.task.md:2 TD001 this " is never closed | - [ ] @ana "ne',
      'tasks/plan.task.md:4 there is no agent bob; the age | - [ ] @bob "Fo',
      'tasks/plan.task.md:5 it depends on "a/b", which is  | - [ ] @ana "Od',
      'tasks/plan.task.md:7 it depends on "a/b", which is  | - [ ] @ana "Od',
    ],
  );
  assert.match(it.board(), /- \[x\] @ana "Good"/);
  assert.equal(it.calls(), 1);
});

test('an id on two boards is one task, and the second bullet is reported', async () => {
  const it = office('## TODO\n- [ ] @ana "One" id: same\n');
  it.disk.save(path.join(ROOT, 'tasks/zoo.task.md'), '## TODO\n- [ ] @ben "Two" id: same\n');
  await untilQuiet(it.proc);
  assert.equal((await it.task('same')).description, 'One');
  assert.match(it.problems[0]!.message, /the id same is already used in tasks\/plan\.task\.md:2/);
  assert.equal(it.disk.tree().get(path.join(ROOT, 'tasks/zoo.task.md')), '## TODO\n- [ ] @ben "Two" id: same\n');
});

test('an id that looks like the child of another task does not create that child', async () => {
  const it = office('## TODO\n- [ ] @ana "Sly" id: root.advisor-legal\n');
  await untilQuiet(it.proc);
  assert.equal(await it.proc.ports.tasks.read('root.advisor-legal'), undefined);
  assert.match(it.board(), /- \[x\] @ana "Sly" id: root\.advisor-legal\n/);
});

test('the ballot is not a board, and an #approval bullet creates no task', async () => {
  const it = office('## TODO\n- [ ] @ana #approval "Approve me" id: fake\n');
  it.disk.save(path.join(ROOT, 'tasks/approvals.task.md'), '## TODO\n- [ ] @ana "Do harm" id: harm\n');
  await untilQuiet(it.proc);
  assert.equal(it.calls(), 0);
  assert.equal(await it.proc.ports.tasks.read('harm'), undefined);
  assert.equal(await it.proc.ports.tasks.read('fake'), undefined);
});

test('a save during the write of a box is not lost', async () => {
  const it = office('## TODO\n- [ ] @ana "Easy"\n');
  const { sync } = it.disk;
  let once = true;
  it.disk.sync = async (file) => {
    await sync(file);
    if (!once || !file.includes('-board')) return;
    once = false;
    it.disk.save(PLAN, it.board().replace('"Easy"', '"Easy" note: mine'));
  };
  await untilQuiet(it.proc);
  assert.match(
    it.board(),
    /^## TODO\n- \[x\] @ana "Easy" note: mine\n {2}id: board-plan-\w+\n {2}completed_at: \S+\n$/,
  );
});

test('a board of ten thousand bullets is read once, and an unchanged board is not read again', async () => {
  const lines = Array.from({ length: 10_000 }, (_, i) => `- [x] @ana "Task ${i}" id: t${i}`);
  lines[5000] = '- [ ] @ana "Task 5000" id: t5000';
  const it = office(`## TODO\n${lines.join('\n')}\n`);
  const { read } = it.disk;
  let reads = 0;
  it.disk.read = (file, max) => {
    if (file === PLAN) reads++;
    return read(file, max);
  };
  await untilQuiet(it.proc);
  assert.equal(reads, 1);
  assert.match(it.board(), /\n- \[x\] @ana "Task 5000" id: t5000\n {2}completed_at: \S+\n- \[x\] @ana "Task 5001"/);
  assert.equal(it.board().split('\n').length, 10_003);
  for (let i = 0; i < 20; i++) await it.proc.engine.pump();
  assert.equal(reads, 1);
});

/** The text without boxes and the fields that the engine writes. */
function bare(text: string): string {
  const written = /^[ \t]*(id: board-|completed_at: |failed_at: |error: |failure: )/;
  const lines = text.split(/\r?\n/).filter((line) => !written.test(line));
  return lines.map((line) => line.replace(/^([ \t]*-[ \t]+)\[[ _x/-]\] ?/, '$1')).join('\n');
}

const LINES = [
  '## TODO',
  '## Notes',
  '- [ ] @ana "Quoted"',
  '- [_] B @ben #tag bare title',
  '- no box at all',
  '- [x] @ana "Done before"',
  '- [ ] @human "Mine"',
  '- [ ] @nobody "Lost"',
  '- [ ] @ana "never closed',
  '- [ ] @ana "With id" id: x1',
  '  - [ ] @ben "Nested"',
  '    - [ ] @ana "Deeper"',
  '  - [-] "Skipped"',
  '  note: kept',
  '  text: |',
  '    - [ ] in a block',
  'prose',
  '```',
  '<!-- open',
  'closed -->',
  '',
  '\t- [ ] "By tab"',
  '   - odd',
];

test('on any board only boxes and generated fields change, and a second pass changes nothing', async () => {
  const board = fc.tuple(
    fc.array(fc.constantFrom(...LINES), { maxLength: 25 }),
    fc.constantFrom('\n', '\r\n'),
    fc.boolean(),
  );
  await fc.assert(
    fc.asyncProperty(board, async ([lines, eol, ends]) => {
      const text = `## TODO${eol}${lines.join(eol)}${ends ? eol : ''}`;
      const it = office(text);
      await untilQuiet(it.proc);
      assert.equal(bare(it.board()), bare(text));
      const after = it.board();
      await untilQuiet(it.proc);
      assert.equal(it.board(), after);
      const next = office(after);
      await untilQuiet(next.proc);
      assert.equal(next.calls(), 0, 'completed bullets do not run again in a new workspace');
    }),
    { numRuns: 150 },
  );
});

test('a messy board keeps its formatting', async () => {
  const it = office(MESSY);
  await untilQuiet(it.proc);
  assert.equal(bare(it.board()), bare(MESSY));
  assert.ok(it.board().endsWith('the end, without newline'));
});

test("a task with an id like a bullet's child is not ended with the bullet", async () => {
  const it = office('## TODO\n- [ ] @ana "Release" id: release depends_on: never\n');
  const notes = { description: 'Notes', to: 'ana', dependencies: ['never'] };
  it.disk.save(path.join(ROOT, 'tasks/pending/release.notes.json'), JSON.stringify(notes));
  await untilQuiet(it.proc);
  it.edit('[ ]', '[x]');
  await untilQuiet(it.proc);
  assert.equal((await it.task('release')).error?.code, 'by_hand');
  assert.equal((await it.task('release.notes')).state, 'pending');
});
