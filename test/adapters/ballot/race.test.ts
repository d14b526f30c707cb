/** Two processes write the ballot at the same moment: whatever one of them writes over, no approval counts as withdrawn, and all are shown. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ballot } from '../../../src/adapters/ballot/index.js';
import type { Approval } from '../../../src/domain/task/approval.js';
import type { Ballot } from '../../../src/ports/ballot.js';
import type { Disk } from '../../../src/ports/disk.js';
import { simDisk, type SimDisk } from '../../kit/sim-disk.js';

const FILE = '/w/tasks/approvals.task.md';

function approval(id: string): Approval {
  const request = {
    tool: 'execute_command',
    arguments: { command: `make ${id}` },
    digest: id,
    agent: 'ana',
    session: `ana-${id}`,
    call: id,
    reasons: ['it is not on the list'],
    risk: 'LOW' as const,
    taint: [],
    confinement: 'sandboxed',
  };
  return { id, title: `Approve command: make ${id}`, created: '2026-01-01T00:00:00.000Z', request };
}

/** What `first` shows comes after the other one has looked for the last time, and before it gives its own file the name. */
async function writtenOver(disk: SimDisk, first: () => Promise<void>): Promise<Ballot> {
  let before: string | undefined;
  let isBetween = false;
  const late: Disk = {
    ...disk,
    stamp: (file) => (isBetween && file === FILE ? before : disk.stamp(file)),
    async sync(file) {
      await disk.sync(file);
      if (isBetween || !file.includes('ballot')) return;
      before = disk.stamp(FILE);
      await first();
      isBetween = true;
    },
    rename(from, to) {
      if (to === FILE) isBetween = false;
      return disk.rename(from, to);
    },
  };
  const other = ballot({ root: '/w', disk: late, peer: 'other' });
  await other.show([approval('b')], [], new Map());
  return other;
}

test('an entry that another process wrote over is not withdrawn: it is shown again, and so is the other', async () => {
  const disk = simDisk();
  for (const folder of ['/w/tasks', '/w/.guild/tmp']) disk.makeFolder(folder);
  const one = ballot({ root: '/w', disk, peer: 'one', isAlive: () => true });
  await writtenOver(disk, () => one.show([approval('a')], [], new Map()));
  assert.ok(!disk.tree().get(FILE)!.includes('id: a\n'), 'written over');
  const both = [approval('a'), approval('b')];
  for (const who of [one, ballot({ root: '/w', disk, peer: 'third' })])
    assert.deepEqual(who.read(both), { answers: [], withdrawn: [], problems: [] });
  await one.show(both, [], new Map());
  for (const id of ['a', 'b']) assert.ok(disk.tree().get(FILE)!.includes(`id: ${id}\n`), id);
  // What a person then deletes is withdrawn as ever.
  disk.save(
    FILE,
    disk
      .tree()
      .get(FILE)!
      .replace(/- \[_\].*\n {2}id: a\n(?: {2}.*\n)*/, ''),
  );
  assert.deepEqual(one.read(both).withdrawn, ['a']);
});
