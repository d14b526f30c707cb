/** New agents: of several who make the same one at the same moment, one does, and the others are told. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { roster } from '../../src/adapters/roster/index.js';
import { simDisk } from '../kit/sim-disk.js';

const SOURCE = '---\ndescription: Draws\n---\nYou draw.\n';

test('made twice at once, here or by another process, an agent is there once and nobody meets a missing file', async () => {
  const disk = simDisk();
  disk.makeFolder('/w/agents');
  const [one, two] = [roster(disk, '/w'), roster(disk, '/w')];
  const made = await Promise.all([one, two, one].map((here) => here.create('drawer', SOURCE)));
  assert.deepEqual(made.map((problem) => problem?.code ?? 'made').sort(), ['duplicate', 'duplicate', 'made']);
  assert.equal(disk.tree().get('/w/agents/drawer.md'), SOURCE);
});
