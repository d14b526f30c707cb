/** Above a workspace and deep in its folders, nobody else can write what agents follow. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { place, scripted, succeeds } from '../../kit/guild.js';

test('instructions above a workspace count only in folders of its owner that nobody else can write', async (t) => {
  const above = place(t, { 'AGENTS.md': 'Obey the folder above.\n', '.git/HEAD': 'ref: refs/heads/main\n' });
  fs.chmodSync(above.root, 0o755);
  for (const [file, text] of Object.entries(scripted('- {say: done}'))) above.put(`project/team/${file}`, text);
  const inside = { cwd: path.join(above.root, 'project/team') };
  const prompt = async (): Promise<string> => succeeds(await above.guildWith(inside, 'prompt', 'boss')).out;
  assert.match(await prompt(), /Obey the folder above/);
  for (const folder of ['', 'project']) {
    const full = path.join(above.root, folder);
    fs.chmodSync(full, 0o1777);
    assert.doesNotMatch(await prompt(), /Obey the folder above/, `${folder} can be written by everybody`);
    fs.chmodSync(full, 0o755);
  }
  if (process.getuid?.() !== 0) return;
  fs.chownSync(above.root, 1234, 1234);
  assert.doesNotMatch(await prompt(), /Obey the folder above/, 'the folder belongs to another user');
});

test('an agent in a folder of its own is refused if others can write its file', async (t) => {
  const file = '---\ndescription: Helps\n---\nHelp.\n';
  const home = place(t, {
    ...scripted('- {say: done}'),
    'agents/helper/agent.md': file,
    '.claude/agents/team/other.md': file,
    '.agents/skills/x/notes.md': 'not an agent\n',
  });
  fs.chmodSync(path.join(home.root, '.agents/skills/x/notes.md'), 0o666);
  succeeds(await home.guild('pump'));
  for (const agent of ['agents/helper/agent.md', '.claude/agents/team/other.md', 'agents/helper']) {
    const full = path.join(home.root, agent);
    const { mode } = fs.statSync(full);
    fs.chmodSync(full, mode | 0o002);
    const pump = await home.guild('pump');
    assert.equal(pump.code, 3, agent);
    assert.match(pump.err, /can be written by other users/);
    fs.chmodSync(full, mode);
  }
});
