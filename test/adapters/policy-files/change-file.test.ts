/** Concurrent writes to small policy files: every approval is counted and kept. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gate } from '../../../src/adapters/policy-files/gate.js';
import { ALLOWLIST_FILE } from '../../../src/adapters/policy-files/index.js';
import type { Disk } from '../../../src/ports/disk.js';
import type { WorkspaceFiles } from '../../../src/ports/workspace-files.js';
import type { Gate } from '../../../src/ports/gate.js';
import { simDisk } from '../../kit/sim-disk.js';

const FOLDER = { judge: () => ({ verdict: 'refuse', reason: 'nothing is here' }) } as unknown as WorkspaceFiles;
const ALLOWED = `/w/${ALLOWLIST_FILE}`;

function gates(disk: Disk, ...peers: string[]): Gate[] {
  disk.makeFolder('/w/.guild/tmp');
  return peers.map((peer) => gate({ root: '/w', disk, folder: FOLDER, peer, isSandboxed: () => true }));
}

test('simultaneous approvals, here and in another process, are all counted', async () => {
  const disk = simDisk();
  const [one, two] = gates(disk, 'one', 'two');
  const counts = await Promise.all([one, two, one, two, one].map((here) => here!.noteAllowed('touch x')));
  assert.deepEqual(counts.sort(), [1, 2, 3, 4, 5]);
  assert.deepEqual(disk.list('/w/.guild/tmp'), []);
});

test('counts that came with a copied folder do not count, whatever their file holds', async () => {
  const line = 'touch x';
  const others = ['null', '[]', '7', `{"${line}":2}`, `{"workspace":"theirs","counts":{"${line}":2}}`];
  const wrong = ['{"workspace":"ours","counts":null}', `{"workspace":"ours","counts":{"${line}":"2"}}`];
  for (const text of [...others, ...wrong]) {
    const disk = simDisk();
    disk.makeFolder('/w/.guild/tmp');
    disk.save('/w/.guild/allowed.json', text);
    const here = gate({ root: '/w', disk, folder: FOLDER, peer: 'a', isSandboxed: () => true, workspace: 'ours' });
    assert.deepEqual([await here.noteAllowed(line), await here.noteAllowed(line)], [1, 2], text);
  }
});

test("rules approved at the same moment are all kept, and so is a person's edit in between", async () => {
  const disk = simDisk();
  let writes = 0;
  const slow: Disk = {
    ...disk,
    async createSynced(file, bytes) {
      await disk.createSynced(file, bytes);
      // A person saves before the file of the first write gets its name.
      if (++writes === 1) disk.save(ALLOWED, 'git status: true\n');
    },
  };
  const [one, two] = gates(slow, 'one', 'two');
  await Promise.all([one!.allowAlways('touch a'), two!.allowAlways('touch a b'), one!.allowAlways('mkdir c')]);
  const kept = disk.tree().get(ALLOWED)!;
  assert.match(kept, /^git status: true$/m);
  for (const line of ['touch a', 'touch a b', 'mkdir c']) assert.ok(kept.includes(`"/^${line}$/"`), line);
  await two!.allowAlways('touch a');
  assert.equal(disk.tree().get(ALLOWED), kept, 'a rule is written once');
});
