/**
 * A file that the system does not let us read is held and named once; everything else continues
 * (R2). The errors are injected below the adapters; one test uses a real unprivileged process.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import type { Event } from '../../src/domain/event.js';
import type { Problem } from '../../src/domain/problem.js';
import type { Disk } from '../../src/ports/disk.js';
import { cluster, ROOT, untilQuiet } from '../kit/cluster.js';
import { environment, place, ROOT as PACKAGE, scripted } from '../kit/guild.js';
import { simDisk, type SimDisk } from '../kit/sim-disk.js';
import { writeStory } from '../kit/stories.js';

const AGENT = '---\ndescription: A\n---\nDo it.\n';
const SCRIPT = '- {agent: ana, say: done}';

/** The disk of the story, except that these paths fail with this error until `heal` is called. */
function brokenDisk(disk: SimDisk, broken: readonly string[], error: Error): { disk: Disk; heal(): void } {
  const paths = new Set(broken.map((file) => path.join(ROOT, file)));
  const check = (file: string): void => {
    if (paths.has(file)) throw Object.assign(error, { path: file });
  };
  return {
    heal: () => paths.clear(),
    disk: {
      ...disk,
      read: (file, max) => (check(file), disk.read(file, max)),
      readFrom: (file, from, max) => (check(file), disk.readFrom(file, from, max)),
      list: (folder) => (check(folder), disk.list(folder)),
    },
  };
}

function errno(code: string): Error {
  return Object.assign(new Error(`${code}: injected`), { code, syscall: 'open' });
}

const ERRORS: Record<string, () => Error> = {
  EACCES: () => errno('EACCES'),
  EIO: () => errno('EIO'),
  EISDIR: () => errno('EISDIR'),
  ELOOP: () => errno('ELOOP'),
  ENAMETOOLONG: () => errno('ENAMETOOLONG'),
  RangeError: () => new RangeError('Maximum call stack size exceeded'),
};

const PLACES = {
  'tasks/pending/bad.json': '{"description": "Held"}',
  'tasks/waiting/bad.json': '{"description": "Held", "claimed_at": "2026-01-01T00:00:00.000Z"}',
  'agents/bad.md': AGENT,
  'templates/bad.agent.yaml': 'name: bad\ndescription: B\nprompt: Do it.\n',
  '.claude/agents/bad.md': AGENT,
  'inbox/bad.jsonl': '{"text": "hello"}\n',
  'tasks/bad.task.md': '- [ ] Something @ana\n',
  'storage/planner-checkin.yaml': 'interval_seconds: 60\n',
};

for (const [file, text] of Object.entries(PLACES))
  test(`R2: ${file} that cannot be read is held and named once, and the rest continues`, async () => {
    for (const [name, error] of Object.entries(ERRORS)) {
      const disk = simDisk();
      writeStory(disk, {
        name: '',
        agents: { ana: AGENT, planner: AGENT },
        tasks: { good: { description: 'Good', to: 'ana' } },
        script: SCRIPT,
        results: {},
        calls: 0,
      });
      const problems: Problem[] = [];
      const events: Event[] = [];
      const watchers = {
        problem: (one: Problem) => void problems.push(one),
        event: (one: Event) => void events.push(one),
      };
      const broken = brokenDisk(disk, [file], error());
      const proc = cluster(SCRIPT).start(broken.disk, { watchers });
      disk.makeFolder(path.dirname(path.join(ROOT, file)));
      disk.save(path.join(ROOT, file), text);
      for (let times = 0; times < 3; times++) await untilQuiet(proc);
      assert.equal((await proc.ports.tasks.read('good'))?.state, 'completed', name);
      const named = problems.filter(({ where }) => where?.file === file);
      assert.equal(named.length, 1, `${name}: ${JSON.stringify(problems)}`);
      assert.match(named[0]!.message, /cannot be read/);
      assert.equal(events.filter(({ name: event }) => event === 'file.held').length, 1, name);
      assert.equal(disk.tree().get(path.join(ROOT, file)), text, 'the bytes are untouched');
    }
  });

for (const folder of ['agents', 'templates', '.claude/agents', 'inbox', 'tasks/pending', 'tasks/waiting'])
  test(`R2: a folder ${folder} that cannot be listed is named once, and what is known of it stays`, async () => {
    const disk = simDisk();
    writeStory(disk, {
      name: '',
      agents: { ana: AGENT },
      tasks: {},
      files: { 'inbox/a.jsonl': '{"text": "hello", "to": "ana"}\n' },
      script: SCRIPT,
      results: {},
      calls: 0,
    });
    const problems: Problem[] = [];
    let isBroken = false;
    const full = path.join(ROOT, folder);
    const failing: Disk = {
      ...disk,
      list(name) {
        if (isBroken && name === full) throw errno('EACCES');
        return disk.list(name);
      },
      // A real change of permissions would change the stamp, so this stamp differs, too.
      glance: (name) => (isBroken && name === full ? 'closed' : disk.glance(name)),
    };
    const proc = cluster(SCRIPT).start(failing, { watchers: { problem: (one) => void problems.push(one) } });
    await untilQuiet(proc);
    isBroken = true;
    disk.save(path.join(ROOT, 'agents/new.md'), AGENT); // so that a change is noticed
    for (let times = 0; times < 3; times++) await untilQuiet(proc);
    assert.deepEqual(
      problems.map(({ where }) => where?.file),
      [folder],
    );
    assert.ok(proc.ports.agents.all().has('ana'), 'the agents stay');
    isBroken = false;
    disk.save(path.join(ROOT, 'tasks/pending/late.json'), '{"description": "Late", "to": "ana"}');
    await untilQuiet(proc);
    assert.equal((await proc.ports.tasks.read('late'))?.state, 'completed', 'and it recovers');
  });

test('R2: a held file is read as soon as the system allows it', async () => {
  const disk = simDisk();
  writeStory(disk, {
    name: '',
    agents: { ana: AGENT },
    tasks: { t: { description: 'T', to: 'ana' } },
    script: SCRIPT,
    results: {},
    calls: 0,
  });
  const broken = brokenDisk(disk, ['tasks/pending/t.json'], errno('EIO'));
  const proc = cluster(SCRIPT).start(broken.disk);
  await untilQuiet(proc);
  assert.ok(proc.ports.tasks.isOpen('t'), 'it counts as open, so nothing that waits for it starts');
  broken.heal();
  await untilQuiet(proc);
  assert.equal((await proc.ports.tasks.read('t'))?.state, 'completed');
});

const NOBODY = 65_534;
const IS_ROOT = process.getuid?.() === 0;
/** Root may read everything, so the commands run as another user. */
const AS_NOBODY = IS_ROOT
  ? ['setpriv', '--reuid', String(NOBODY), '--regid', String(NOBODY), '--clear-groups', '--']
  : [];
const CANNOT_DROP =
  IS_ROOT && spawnSync(AS_NOBODY[0]!, [...AS_NOBODY.slice(1), process.execPath, '-e', '0']).status !== 0
    ? 'root needs setpriv to start a process of another user'
    : false;

test('R2: the commands of an unprivileged user work beside files of another user', { skip: CANNOT_DROP }, (t) => {
  const home = place(
    t,
    scripted('- {say: done}', {
      'tasks/pending/good.json': '{"description": "good", "to": "boss"}',
      'tasks/pending/fixed.json': '{"description": "read-only", "to": "boss"}',
      'tasks/pending/bad.json': '{"description": "bad"}',
      'tasks/waiting/bad.json': '{"description": "bad"}',
      'tasks/held.task.md': '- [ ] something\n',
      'inbox/held.jsonl': '{"text": "x"}\n',
      'memory/a.md': 'A note.\n',
      'agents/held.md': AGENT,
      'templates/a.agent.yaml': '',
      '.claude/agents/a.md': AGENT,
    }),
  );
  const guild = (...args: string[]): { code: number | null; said: string } => {
    const [program, ...rest] = [...AS_NOBODY, process.execPath, path.join(PACKAGE, 'bin/guild.mjs'), ...args];
    const run = spawnSync(program!, rest, {
      cwd: home.root,
      env: environment(home.root),
      encoding: 'utf8',
    });
    return { code: run.status, said: run.stdout + run.stderr };
  };
  const entries = fs.readdirSync(home.root, { recursive: true, encoding: 'utf8' });
  if (IS_ROOT) for (const entry of ['', ...entries]) fs.chownSync(path.join(home.root, entry), NOBODY, NOBODY);
  const held = ['tasks/pending/bad.json', 'tasks/waiting/bad.json', 'tasks/held.task.md', 'inbox/held.jsonl'];
  for (const file of [...held, 'agents/held.md', 'templates', '.claude/agents'])
    fs.chmodSync(path.join(home.root, file), 0);
  fs.chmodSync(path.join(home.root, 'tasks/pending/fixed.json'), 0o444);
  const pumped = guild('pump');
  assert.equal(pumped.code, 0, pumped.said);
  for (const file of [...held, 'agents/held.md', 'templates', '.claude/agents'])
    assert.equal(pumped.said.split(`problem: ${file} cannot be read: permission denied`).length, 2, `${file} once`);
  assert.deepEqual(home.list('tasks/completed').sort(), ['fixed.json', 'good.json'], 'a task may be read-only');
  for (const [command, code] of [
    ['task list', 0],
    ['state', 0],
    ['check', 1],
  ] as const) {
    const { code: exit, said } = guild(...command.split(' '));
    assert.equal(exit, code, `${command}: ${said}`);
    assert.match(said, /tasks\/pending\/bad\.json cannot be read: permission denied/, command);
    assert.ok(!said.includes('a bug in guild'), said);
  }
  fs.chmodSync(path.join(home.root, 'memory'), 0);
  const closed = guild('run', 'boss', '--id', 'later', 'later');
  assert.deepEqual([closed.code, closed.said.includes('memory/')], [0, false], closed.said);
  assert.match(guild('log').said, /later: boss answered/, 'history continues beside a folder of another user');
  fs.chmodSync(path.join(home.root, 'memory'), 0o755);
  assert.doesNotMatch(guild('undo', 'HEAD~1').said, /memory/, 'and does not count its files as deleted');
});
