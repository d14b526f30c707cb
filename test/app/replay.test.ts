/**
 * A recorded run is replayed without a model and writes the same bytes; differences are reported.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { tempFolder } from '../kit/temp/folder.js';
import type { Model, OpenOptions, Workspace } from '../../src/app/index.js';
import { recordRun, type Recorded } from '../../src/app/replay/record-run.js';
import { replayRun, type ReplayOptions } from '../../src/app/replay/replay-run.js';
import type { CassetteEntry, FileState } from '../../src/domain/session/cassette.js';
import { ProblemError } from '../../src/domain/problem.js';
import { printEntry } from '../../src/text/records/cassette.js';
import { ROOT as STAGE } from '../kit/cluster.js';
import { sampleOf, sampleTests } from '../kit/sample.js';
import type { SimDisk } from '../kit/sim-disk.js';
import { STORIES, type Story } from '../kit/stories.js';
import { trust } from '../kit/trust/state.js';

const test = sampleTests('app/replay', 5);

const CONFIG = `model: pretend/x
providers:
  pretend: { kind: scripted, script: script.yaml }
  demo: { kind: scripted, script: script.yaml }
`;
const AGENT = '---\ndescription: Answers\n---\nYou are ana.\n';

for (const story of sampleOf('replays of stories', STORIES, 4)) {
  test(`${story.name}: two replays of a recording write the same bytes`, async (t) => {
    const { root, cassette, recorded } = await record(t, writeStory(t, story), (workspace) => play(workspace, story));
    assert.ok(recorded.calls >= story.calls, `${recorded.calls} model calls`);
    const [first, second] = [await again(t, cassette), await again(t, cassette)];
    assert.equal(first.difference, undefined);
    assert.deepEqual(first.calls, { replayed: recorded.calls, live: 0 });
    assert.deepEqual(bytes(first.root), bytes(root));
    assert.deepEqual(bytes(second.root), bytes(first.root));
  });
}

test('a replay needs neither a provider nor a script', async (t) => {
  const { cassette, recorded } = await record(t, writeStory(t, storyOf('delegation')), (workspace) =>
    workspace.pumpUntilQuiet(),
  );
  const edited = fs.readFileSync(cassette, 'utf8');
  assert.match(edited, /"file":"script.yaml"/);
  const empty = put(t, { 'script.yaml': 'not a script' });
  const played = await again(t, cassette, { with: new Map([['script.yaml', path.join(empty, 'script.yaml')]]) });
  assert.equal(played.difference, undefined);
  assert.equal(played.calls.replayed, recorded.calls);
});

test('with another prompt, the first different request is reported with its agent, task and turn', async (t) => {
  const { cassette } = await record(t, writeStory(t, storyOf('delegation')), (workspace) => workspace.pumpUntilQuiet());
  const other = put(t, { 'right.md': '---\ndescription: Right\n---\nDo what you are asked, in verse.\n' });
  const { difference, calls } = await again(t, cassette, {
    with: new Map([['agents/right.md', path.join(other, 'right.md')]]),
  });
  assert.equal(difference?.agent, 'right');
  assert.equal(difference.turn, 1);
  assert.match(difference.task ?? '', /^both\.call-/);
  assert.equal(difference.what, 'system prompt');
  assert.match(difference.diff ?? '', /^- Do what you are asked\.\n\+ Do what you are asked, in verse\.$/m);
  assert.deepEqual(calls, { replayed: 2, live: 0 }, 'lead and left were the same');
});

test('agents may come from another workspace; a difference that no model sees shows in the files', async (t) => {
  const { cassette } = await record(t, writeStory(t, storyOf('dropped task')), (workspace) =>
    workspace.pumpUntilQuiet(),
  );
  const other = put(t, {
    'agents/ana.md': '---\ndescription: Answers well\ntools: [read_file]\n---\nDo what you are asked.\n',
  });
  const { difference } = await again(t, cassette, { agentsFrom: other });
  assert.equal(difference?.agent, undefined);
  assert.match(difference?.message ?? '', /^(sessions|storage\/blobs)\//);
});

test('on request a replay continues live from the first difference, and the beginning costs nothing', async (t) => {
  const { cassette, recorded } = await record(t, writeStory(t, storyOf('delegation')), (workspace) =>
    workspace.pumpUntilQuiet(),
  );
  const other = put(t, {
    'right.md': '---\ndescription: Right\n---\nDo what you are asked, in verse.\n',
  });
  const played = await again(t, cassette, {
    live: true,
    env: {},
    with: new Map([['agents/right.md', path.join(other, 'right.md')]]),
  });
  assert.ok(played.live);
  assert.equal(played.difference?.agent, 'right');
  assert.deepEqual(played.calls, { replayed: 2, live: recorded.calls - 2 });
  assert.match(fs.readFileSync(path.join(played.root, 'results/both.md'), 'utf8'), /Both have answered/);
});

test('failures and waits of a model are replayed at the same times, without waiting', async (t) => {
  let calls = 0;
  const model: Model = {
    call: async () =>
      ++calls < 3
        ? { ok: false, failure: { class: 'rate', message: 'too many', retryAfterMs: 40 } }
        : { ok: true, answer: { ...NOTHING, text: 'At last.', inputTokens: 7, outputTokens: 3 } },
  };
  const root = put(t, { 'guild.yaml': CONFIG, 'agents/ana.md': AGENT });
  const { cassette } = await record(t, root, (workspace) => workspace.run('ana', 'Try'), { model });
  const played = await again(t, cassette);
  assert.equal(played.difference, undefined);
  assert.deepEqual(played.calls, { replayed: 3, live: 0 });
  assert.deepEqual(bytes(played.root), bytes(root));
});

test('a run that was stopped during a model call stops there again', async (t) => {
  const root = put(t, { 'guild.yaml': CONFIG, 'agents/ana.md': AGENT });
  let asked = (): void => undefined;
  const started = new Promise<void>((resolve) => (asked = resolve));
  const model: Model = {
    call: ({ signal }) =>
      new Promise((resolve) => {
        signal?.addEventListener('abort', () =>
          resolve({ ok: false, failure: { class: 'aborted', message: 'stopped' } }),
        );
        asked();
      }),
  };
  const { cassette } = await record(
    t,
    root,
    async (workspace) => {
      await workspace.add({ description: 'Take your time', to: 'ana', id: 'slow' });
      const passed = workspace.pump();
      await started;
      await workspace.engine.stop();
      await passed;
    },
    { model },
  );
  assert.ok(fs.existsSync(path.join(root, 'tasks/pending/slow.json')));
  const played = await again(t, cassette);
  assert.equal(played.difference, undefined);
  assert.ok(fs.existsSync(path.join(played.root, 'tasks/pending/slow.json')));
});

test('edits made during a model call are replayed at the same time', async (t) => {
  const root = put(t, { 'guild.yaml': CONFIG, 'agents/ana.md': AGENT, 'memory/a.md': 'old' });
  let calls = 0;
  const model: Model = {
    async call() {
      calls++;
      const session = path.join(root, 'sessions/ana-first.session.yaml');
      if (calls === 1) fs.writeFileSync(path.join(root, 'memory/a.md'), 'new');
      if (calls === 2) fs.appendFileSync(session, '  - role: user\n    content: And be brief.\n');
      return { ok: true, answer: { ...NOTHING, ...(calls === 1 ? LOOK : { text: `Answer ${calls}` }) } };
    },
  };
  const { cassette } = await record(t, root, (workspace) => workspace.run('ana', 'Look', { id: 'first' }), { model });
  assert.ok(calls >= 3, 'it was asked again, with what was added to its conversation');
  const played = await again(t, cassette);
  assert.equal(played.difference, undefined);
  assert.match(fs.readFileSync(path.join(played.root, 'sessions/ana-first.session.yaml'), 'utf8'), /And be brief/);
  assert.match(
    fs.readFileSync(path.join(played.root, 'events', fs.readdirSync(path.join(root, 'events'))[0]!), 'utf8'),
    /session\.edited/,
  );
  assert.deepEqual(bytes(played.root), bytes(root));
});

test('plugin tools and the files they wrote come from the cassette; their code is not needed', async (t) => {
  const root = put(t, {
    'guild.yaml': `${CONFIG}plugins: [dice]\n`,
    'agents/ana.md': '---\ndescription: Plays\ntools: [roll]\n---\nPlay.\n',
    'script.yaml': '- {agent: ana, turn: 1, call: [{roll: {sides: 6}}]}\n- {agent: ana, turn: 2, say: "I rolled."}\n',
    'plugins/dice/index.mjs': `import fs from 'node:fs';
export default { tools: [{
  definition: { name: 'roll', description: 'Rolls', parameters: { type: 'object', properties: { sides: { type: 'integer' } } } },
  metadata: { requiresHumanApproval: false },
  execute: (_args, { workspace }) => {
    const rolled = String(Math.random());
    fs.writeFileSync(workspace + '/rolled.bin', Buffer.from([0xff, rolled.length]));
    return rolled;
  },
}] };\n`,
  });
  const { cassette } = await record(t, root, (workspace) => workspace.run('ana', 'Roll'));
  const broken = put(t, { 'index.mjs': 'throw new Error("loaded")' });
  const played = await again(t, cassette, {
    with: new Map([['plugins/dice/index.mjs', path.join(broken, 'index.mjs')]]),
  });
  assert.equal(played.difference, undefined);
  assert.deepEqual(
    [...fs.readFileSync(path.join(played.root, 'rolled.bin'))],
    [...fs.readFileSync(path.join(root, 'rolled.bin'))],
  );
});

test('a cassette leaves out secrets and says so; a listing still shows their names', async (t) => {
  const root = put(t, {
    'guild.yaml': CONFIG,
    'agents/ana.md': '---\ndescription: Looks\ntools: [list_directory]\n---\nLook.\n',
    'script.yaml':
      "- {agent: ana, turn: 1, call: [{list_directory: {path: .}}]}\n- {agent: ana, turn: 2, when: '.env\\t13', say: Done.}\n",
    '.env': 'KEY=hush-hush',
    'secrets/key.txt': 'hush-hush',
    'node_modules/x/index.js': 'hush-hush',
  });
  const { cassette, recorded } = await record(t, root, (workspace) => workspace.run('ana', 'Go'));
  assert.equal(recorded.calls, 2);
  assert.doesNotMatch(fs.readFileSync(cassette, 'utf8'), /hush-hush/);
  assert.deepEqual(recorded.leftOut.map(({ file }) => file).sort(), ['.env', 'node_modules', 'secrets']);
  assert.equal((await again(t, cassette)).difference, undefined);
});

test('a torn, edited, incompatible or invalid cassette is one problem that says which', async (t) => {
  const { cassette } = await record(t, writeStory(t, storyOf('dropped task')), (workspace) =>
    workspace.pumpUntilQuiet(),
  );
  const text = fs.readFileSync(cassette, 'utf8');
  const lines = text.split('\n');
  const at = lines.findIndex((line) => line.includes('podman.'));
  const cases: [string, string, RegExp, number | undefined][] = [
    ['torn in a line', text.slice(0, text.length - 20), /cut off/, undefined],
    ['torn between lines', `${lines.slice(0, 6).join('\n')}\n`, /cut off after 6 complete lines/, undefined],
    ['edited', text.replace('podman.', 'docker.'), /was edited or lost/, at + 1],
    ['a line lost', lines.filter((_, i) => i !== 2).join('\n'), /was edited or lost/, 3],
    ['of another version', text.replace('"cassette":1', '"cassette":2'), /version 2; this program reads 1/, undefined],
    ['no cassette', 'hello\n', /is not a cassette/, undefined],
    ['nothing', '', /is not a cassette/, undefined],
  ];
  for (const [what, bad, says, line] of cases) {
    fs.writeFileSync(cassette, bad);
    await assert.rejects(
      replayRun(cassette),
      (thrown) =>
        thrown instanceof ProblemError &&
        thrown.problem.code === 'bad_file' &&
        says.test(thrown.problem.message) &&
        thrown.problem.where?.line === line,
      what,
    );
  }
  await assert.rejects(replayRun(`${cassette}.none`), /there is no cassette/);
});

test('a recording never replaces a file, and a foreign cassette writes only inside its folder', async (t) => {
  const { cassette } = await record(t, writeStory(t, storyOf('dropped task')), (workspace) =>
    workspace.pumpUntilQuiet(),
  );
  assert.throws(() => recordRun({ file: cassette, command: [], version: '0' }), /already exists/);
  const away = put(t, { 'x.md': 'x' });
  const typo = new Map([['agents/anna.md', path.join(away, 'x.md')]]);
  await assert.rejects(again(t, cassette, { with: typo }), /there is no agents\/anna\.md on the cassette/);
  for (const state of [
    { file: '../out.md', text: 'x' },
    { file: 'out', link: '/etc' },
  ]) {
    await assert.rejects(again(t, forged(t, state)), /outside the folder/);
  }
});

test('a workspace that is too big for a cassette is refused before the run', async (t) => {
  const root = put(t, { 'guild.yaml': CONFIG, 'agents/ana.md': AGENT, 'script.yaml': '- {say: Done.}' });
  const big = fs.openSync(path.join(root, 'big.bin'), 'w');
  fs.ftruncateSync(big, 65 * 1024 * 1024);
  fs.closeSync(big);
  await assert.rejects(
    record(t, root, (workspace) => workspace.run('ana', 'Go')),
    (thrown) => thrown instanceof ProblemError && thrown.problem.where?.file === 'big.bin',
  );
  assert.equal(fs.existsSync(path.join(root, 'tasks')), false);
});

// A run, recorded

const NOTHING = {
  text: '',
  toolCalls: [],
  finish: 'stop' as const,
  inputTokens: 0,
  outputTokens: 0,
  cachedTokens: 0,
  microUsd: 0,
};

const LOOK = { toolCalls: [{ id: 'c', name: 'nothing', arguments: {} }], finish: 'tool_calls' as const };

async function record(
  t: TestContext,
  root: string,
  work: (workspace: Workspace) => Promise<unknown>,
  options: OpenOptions = {},
): Promise<{ root: string; cassette: string; recorded: Recorded }> {
  const cassette = path.join(folder(t), 'run.jsonl');
  const recording = recordRun({ file: cassette, command: ['test'], version: '0.0.0' });
  trust(root);
  const workspace = await recording.open(root, { env: {}, ...options });
  await work(workspace);
  await workspace.close();
  return { root, cassette, recorded: recording.finish()! };
}

/** A complete cassette with one file. */
function forged(t: TestContext, state: FileState): string {
  const head = {
    kind: 'head' as const,
    cassette: 1,
    guild: '0',
    command: [],
    at: 0,
    seed: '',
    variables: [],
    leftOut: [],
  };
  const entries: CassetteEntry[] = [head, { kind: 'file', ...state }, { kind: 'end', at: 0, files: {} }];
  let before = '';
  const lines = entries.map((entry) => {
    const { line, sum } = printEntry(entry, before);
    before = sum;
    return line;
  });
  return path.join(put(t, { 'forged.jsonl': lines.join('') }), 'forged.jsonl');
}

async function again(t: TestContext, cassette: string, options: ReplayOptions = {}): ReturnType<typeof replayRun> {
  return replayRun(cassette, { dir: path.join(folder(t), 'again'), ...options });
}

async function play(workspace: Workspace, story: Story): Promise<void> {
  do await workspace.pumpUntilQuiet();
  while (story.human?.(asDisk(workspace.root)));
}

/** The part of a disk that the humans of the stories use, on a real folder. */
function asDisk(root: string): SimDisk {
  const real = (file: string): string => path.join(root, path.relative(STAGE, file));
  const disk: Pick<SimDisk, 'read' | 'save' | 'tree'> = {
    read: (file) =>
      fs.existsSync(real(file)) ? { kind: 'file', bytes: fs.readFileSync(real(file)), stamp: '' } : { kind: 'missing' },
    save: (file, text) => fs.writeFileSync(real(file), text),
    tree: () =>
      new Map(
        fs
          .readdirSync(root, { recursive: true, withFileTypes: true })
          .filter((entry) => entry.isFile())
          .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)))
          .map((file) => [path.join(STAGE, file), fs.readFileSync(path.join(root, file), 'utf8')]),
      ),
  };
  return disk as SimDisk;
}

function storyOf(word: string): Story {
  return STORIES.find(({ name }) => name.includes(word))!;
}

function writeStory(t: TestContext, story: Story): string {
  return put(t, {
    'script.yaml': story.script,
    ...Object.fromEntries(Object.entries(story.agents).map(([name, text]) => [`agents/${name}.md`, text])),
    ...story.files,
    'guild.yaml': CONFIG + (story.files?.['guild.yaml'] ?? ''),
    ...Object.fromEntries(
      Object.entries(story.tasks).map(([name, task]) => [`tasks/pending/${name}.json`, JSON.stringify(task)]),
    ),
  });
}

function put(t: TestContext, files: Record<string, string>): string {
  const root = folder(t);
  for (const [file, text] of Object.entries(files)) {
    fs.mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
    fs.writeFileSync(path.join(root, file), text);
  }
  return root;
}

function folder(t: TestContext): string {
  const made = tempFolder('replay-test', t);
  return made;
}

/** Every file except the private caches and Git's own files, by the sha256 of its bytes. */
function bytes(root: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const entry of fs.readdirSync(root, { recursive: true, withFileTypes: true })) {
    const full = path.join(entry.parentPath, entry.name);
    const file = path.relative(root, full);
    const isPrivate = /(^|\/)\.git\//.test(file) || /^\.guild\/(?!run\/)/.test(file);
    if (entry.isFile() && !isPrivate) found[file] = createHash('sha256').update(fs.readFileSync(full)).digest('hex');
  }
  return found;
}
