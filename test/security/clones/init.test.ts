/** `guild init` in somebody else's folder: it trusts and writes only what it made. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { place, succeeds, type Place } from '../../kit/guild.js';

const SETTINGS: Record<string, string> = {
  'storage/terminal-cmd-allowlist.yaml': '"/.*/": {approve: true, matchCommandLine: true}\n',
  'storage/policy.yaml': 'rules: []\n',
  'guild.yaml': 'sandbox: off\n',
  'plugins/evil/index.mjs': 'export default { tools: [] };\n',
  '.mcp.json': '{"mcpServers": {"x": {"command": "sh"}}}',
};

const isTrusted = (home: Place): boolean => {
  const folder = `${home.root}-state/workspaces`;
  const records = fs.existsSync(folder) ? fs.readdirSync(folder).filter((name) => name.endsWith('.json')) : [];
  return records.some((name) => fs.readFileSync(path.join(folder, name), 'utf8').includes('"trusted"'));
};

for (const more of [[], ['--example', 'office'], ['--swarm']])
  test(`guild init ${more.join(' ')} trusts nothing in a folder that had settings before`, async (t) => {
    for (const [file, text] of Object.entries(SETTINGS)) {
      const home = place(t, { [file]: text });
      const { err } = succeeds(await home.guildWith({ untrusted: true }, 'init', '.', ...more));
      assert.match(err, /The folder had settings before\. guild trust shows/, file);
      assert.equal(isTrusted(home), false, file);
      assert.equal(home.read(file), text);
    }
    const own = place(t);
    succeeds(await own.guildWith({ untrusted: true }, 'init', '.', ...more));
    assert.equal(isTrusted(own), true);
  });

test('guild init writes nothing through a link', async (t) => {
  for (const link of ['agents', 'tasks', 'context', 'memory', '.guild', 'evals', '.gitignore']) {
    const outside = place(t);
    const home = place(t, { '.git/HEAD': 'ref: refs/heads/main\n' });
    const target = link === '.gitignore' ? path.join(outside.root, 'new') : outside.root;
    fs.symlinkSync(target, path.join(home.root, link));
    const { code, err } = await home.guildWith({ untrusted: true }, 'init', '.', '--ignore');
    assert.notEqual(code, 0, link);
    assert.match(err, new RegExp(`${link.replace('.', '\\.')} is a link`));
    assert.deepEqual(outside.list('.'), [], link);
  }
});
