/** Two processes write the ballot at once: no approval counts as withdrawn, and all are shown. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ballot } from '../../../src/adapters/ballot/index.js';
import type { Approval } from '../../../src/domain/task/approval.js';
import type { Ballot } from '../../../src/ports/ballot.js';
import type { Disk } from '../../../src/ports/disk.js';
import { consentOn } from './desk.js';
import { simClock } from '../../kit/sim-clock.js';
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

/**
 * Runs `first` between the other process's last check and its rename, so that it is overwritten.
 */
async function overwrite(disk: SimDisk, first: () => Promise<unknown>): Promise<Ballot> {
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
  const other = ballot({ root: '/w', consent: consentOn(disk), disk: late, clock: simClock(), peer: 'other' });
  await other.show([approval('b')], [], new Map());
  return other;
}

test('an entry overwritten by another process is shown again, not withdrawn', async () => {
  const disk = simDisk();
  for (const folder of ['/w/tasks', '/w/.guild/tmp']) disk.makeFolder(folder);
  const clock = simClock();
  const first = ballot({
    root: '/w',
    consent: consentOn(disk),
    disk,
    clock,
    peer: 'one',
    livePeers: async () => ['one', 'other', 'third'],
  });
  await overwrite(disk, () => first.show([approval('a')], [], new Map()));
  assert.ok(!disk.tree().get(FILE)!.includes('id: a\n'), 'overwritten');
  const both = [approval('a'), approval('b')];
  for (const reader of [
    first,
    ballot({ root: '/w', consent: consentOn(disk), disk, clock: simClock(), peer: 'third' }),
  ])
    assert.deepEqual(reader.read(both), { answers: [], withdrawn: [], problems: [] });
  await first.show(both, [], new Map());
  for (const id of ['a', 'b']) assert.ok(disk.tree().get(FILE)!.includes(`id: ${id}\n`), id);
  // An entry that a person deletes afterwards is withdrawn as usual.
  disk.save(
    FILE,
    disk
      .tree()
      .get(FILE)!
      .replace(/- \[_\].*\n {2}id: a\n(?: {2}.*\n)*/, ''),
  );
  first.read(both);
  await clock.advance(first.dueMs('read')!);
  assert.deepEqual(first.read(both).withdrawn, ['a']);
});
