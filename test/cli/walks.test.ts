/** The walks of docs/explanation/architecture.md: every file that a walk names takes part in it. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { Session } from 'node:inspector/promises';
import path from 'node:path';
import { test } from 'node:test';
import { place, ROOT, scripted, succeeds, type Place } from '../kit/guild.js';
import { until } from '../kit/until.js';

const SOURCES = new URL('../../src/', import.meta.url).href;
const page = fs.readFileSync(path.join(ROOT, 'docs/explanation/architecture.md'), 'utf8');
const BALLOT = 'tasks/approvals.task.md';

/** The files that the walk with this heading names. */
function walk(heading: string): string[] {
  const section = page.split(/^###? /m).find((text) => text.startsWith(heading))!;
  const files = [...section.matchAll(/`([a-z]+\/[\w/-]+\.ts)`/g)].map((match) => match[1]!);
  assert.ok(files.length > 0, heading);
  return [...new Set(files)];
}

/** The source files with a function that ran during the work. */
async function ranIn(work: () => Promise<unknown>): Promise<Set<string>> {
  const session = new Session();
  session.connect();
  try {
    await session.post('Profiler.enable');
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
    await work();
    const { result } = await session.post('Profiler.takePreciseCoverage');
    const ran = result.filter(({ functions }) =>
      functions.some(({ functionName, ranges }) => functionName !== '' && ranges[0]!.count > 0),
    );
    return new Set(ran.map(({ url }) => url.replace(SOURCES, '').replace(/\.js$/, '.ts')));
  } finally {
    session.disconnect();
  }
}

async function takesPart(heading: string, work: () => Promise<unknown>): Promise<void> {
  const ran = await ranIn(work);
  assert.deepEqual(
    walk(heading).filter((file) => !ran.has(file)),
    [],
  );
}

function office(command: string): Record<string, string> {
  const script = `- {agent: ana, turn: 1, call: [{execute_command: {command: "${command}"}}]}\n- {say: Done.}\n`;
  return scripted(script, {
    'tasks/pending/t1.json': '{"description": "do it", "to": "ana"}',
    'agents/ana.md': '---\ndescription: Does things\ntools: [execute_command]\n---\nDo it.\n',
  });
}

const isDone = (workspace: Place, id: string): boolean => workspace.list('tasks/completed').includes(`${id}.json`);

async function isAsked(workspace: Place): Promise<void> {
  await until(() => fs.existsSync(path.join(workspace.root, BALLOT)) && workspace.read(BALLOT).includes('- [_]'));
}

/** Ticks the only entry, as an editor that replaces the file does. */
function tick(workspace: Place): void {
  const file = path.join(workspace.root, BALLOT);
  fs.writeFileSync(`${file}.swp`, fs.readFileSync(file, 'utf8').replace('- [_]', '- [x]'));
  fs.renameSync(`${file}.swp`, file);
}

test('a dropped file becomes a result through the named files', async (t) => {
  const workspace = place(t, scripted('- {say: Hello.}\n'));
  await takesPart('A dropped file', async () => {
    const watch = workspace.start('watch');
    await watch.says(/watching/);
    workspace.put('tasks/pending/hello.json', '{"description": "hello", "to": "hand"}');
    await until(() => isDone(workspace, 'hello'));
    watch.interrupt();
    await watch.ended;
  });
});

test('an approval goes through the named files', async (t) => {
  const workspace = place(t, office('touch x'));
  await takesPart('One approval', async () => {
    const watch = workspace.start('watch');
    await isAsked(workspace);
    tick(workspace);
    await until(() => isDone(workspace, 't1'));
    watch.interrupt();
    await watch.ended;
  });
});

test('an advisor is asked through the named files', async (t) => {
  const workspace = place(
    t,
    scripted('- {say: Hello.}\n', { 'agents/ana.md': '---\ndescription: Asks\nadvisors: [hand]\n---\nAsk.\n' }),
  );
  await takesPart('One advisor', async () => succeeds(await workspace.guild('run', 'ana', 'hello')));
});

test('a killed process is replaced through the named files', async (t) => {
  const workspace = place(t, office('touch started; sleep 60'));
  const first = workspace.spawn('watch');
  await isAsked(workspace);
  tick(workspace);
  await until(() => fs.existsSync(path.join(workspace.root, 'started')));
  first.child.kill('SIGKILL');
  await first.ended;
  await takesPart('One kill', async () => succeeds(await workspace.guild('pump', '--all')));
  assert.ok(isDone(workspace, 't1'));
});
