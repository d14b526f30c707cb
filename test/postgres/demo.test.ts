/** `guild demo --cluster`, as a person starts it. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { place, succeeds } from '../kit/guild.js';
import { NO_POSTGRES } from '../kit/postgres/server.js';
import { sampleTests } from '../kit/sample.js';

const test = sampleTests('postgres/demo', 2);

const options = { skip: NO_POSTGRES };

test('three workers lose one of them and finish, and the work comes home as plain files', options, async (t) => {
  const here = place(t);
  const { out, err } = succeeds(await here.spawn('demo', '--cluster', '--yes', '--dir', 'stage').ended);
  assert.match(err, /worker-\d is killed/);
  assert.match(err, /Waiting for your approval/);
  for (const id of ['lesson', 'print', 'claims', 'retries']) {
    assert.match(out, new RegExp(`^${id}$`, 'm'));
    assert.ok(fs.existsSync(path.join(here.root, 'stage/desk/results', `${id}.md`)));
  }
  assert.match(here.read('stage/desk/results/print.md'), /Printed, as you allowed/);
  const printed = [1, 2, 3].filter((n) => holds(path.join(here.root, `stage/worker-${n}`), 'printed.txt'));
  assert.equal(printed.length, 1, 'the approved command ran once, on one worker');
  const plain = succeeds(await here.guild('task', 'list', '--all', '--json', '--workspace', 'stage/plain'));
  const tasks = JSON.parse(plain.out) as { id: string; state: string }[];
  assert.ok(tasks.length >= 8 && tasks.every(({ state }) => state === 'completed'), plain.out);
});

test('a database that does not answer and a wrong option are one clear error each', async (t) => {
  const here = place(t);
  const { code, err } = await here.guildWith(
    { env: { GUILD_STORE: 'postgres://nobody@127.0.0.1:1/none' } },
    'demo',
    '--cluster',
    '--dir',
    'stage',
  );
  assert.equal(code, 1);
  assert.match(err, /127\.0\.0\.1:1/);
  const odd = await here.guild('demo', '--cluster', '--ui');
  assert.equal(odd.code, 2);
  assert.match(odd.err, /--cluster plays its own story/);
});

function holds(folder: string, name: string): boolean {
  return fs.readdirSync(folder, { recursive: true }).some((file) => path.basename(String(file)) === name);
}
