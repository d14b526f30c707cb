/** Files that come with a task and files that an agent reads, on their way to the model. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { place, succeeds } from '../kit/guild.js';

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

test('an image and a text of a task, and an image that the agent reads, are in its conversation', async (t) => {
  const workspace = place(t, {
    'guild.yaml': 'model: demo/script\nproviders: {demo: {kind: scripted, script: script.yaml}}\n',
    'agents/ana.md': '---\ndescription: Looks\ntools: [read_file]\n---\nLook.\n',
    'script.yaml': `
- {agent: ana, turn: 1, when: the plan is green, call: [{read_file: {path: context/b.png}}]}
- {agent: ana, turn: 2, when: image/png, say: I see both.}
`,
    'context/notes.md': 'the plan is green\n',
  });
  for (const name of ['a.png', 'b.png']) workspace.put(`context/${name}`, PNG as unknown as string);
  const ran = await workspace.guild(
    'run',
    'ana',
    'Look',
    '--attach',
    'context/a.png,context/notes.md',
    '--id',
    'look',
    '-q',
  );
  assert.equal(succeeds(ran).out, 'I see both.\n');
  const session = workspace.read('sessions/ana-look.session.yaml');
  const shown = [
    ...session.matchAll(/files: \[\{name: '(.*?)', media_type: "image\/png", blob: '([0-9a-f]{64})', bytes: \d+\}\]/g),
  ];
  assert.deepEqual(
    shown.map(([, name]) => name),
    ['a.png', 'b.png'],
    session,
  );
  assert.ok(workspace.list('storage/blobs').includes(shown[0]![2]!));
  assert.doesNotMatch(session, /iVBOR/, 'the bytes are in the blob alone');
});

test('a file that is missing or outside the workspace is refused before a task exists', async (t) => {
  const workspace = place(t, {
    'guild.yaml': 'model: demo/script\nproviders: {demo: {kind: scripted, script: script.yaml}}\n',
    'agents/ana.md': '---\ndescription: Looks\n---\nLook.\n',
    'script.yaml': '- {say: hi}\n',
  });
  for (const [file, says] of [
    ['nothing.png', /there is no file nothing\.png/],
    ['../secret.png', /\.\.\/secret\.png is not in the workspace/],
  ] as const) {
    const ran = await workspace.guild('run', 'ana', 'Look', '--attach', file);
    assert.equal(ran.code, 1);
    assert.match(ran.err, says);
  }
  assert.deepEqual(workspace.list('tasks/pending'), []);
});

test('a picture that the agent may not read is named with the reason, not shown', async (t) => {
  const workspace = place(t, {
    'guild.yaml': 'model: demo/script\nproviders: {demo: {kind: scripted, script: script.yaml}}\n',
    'agents/ana.md': '---\ndescription: Looks\n---\nLook.\n',
    'script.yaml': '- {when: it cannot be read, say: I cannot see it.}\n',
    '.env.png': 'x',
    'tasks/pending/look.json':
      '{"description": "Look", "to": "ana", "attachments": ["storage/policy.yaml", "context/none.png"]}',
  });
  succeeds(await workspace.guild('pump', '--all', '-q'));
  assert.match(workspace.read('results/look.md'), /I cannot see it\./);
});
