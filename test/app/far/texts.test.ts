/** Texts in a worker's folder go to the store only while the worker is alive there. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { clock, ids } from '../../../src/adapters/clock/index.js';
import { far } from '../../../src/adapters/far/index.js';
import { ledgerState, memoryLedger, type LedgerState } from '../../../src/adapters/ledger/memory.js';
import { mirror, type Mirror } from '../../../src/app/machines/mirror/index.js';

interface Worker {
  mirror: Mirror;
  /** Another process declares it dead. */
  bury(): Promise<void>;
}

async function worker(t: TestContext, state: LedgerState, root: string): Promise<Worker> {
  const me = { host: 'one', bootId: 'one', pid: 1, startTime: '0' };
  const store = far({ ledger: memoryLedger(state), clock: clock(), ids: ids(), me });
  t.after(() => store.stop());
  await store.presence.join();
  const key = store.far.outbox.guard()!;
  return {
    mirror: mirror({
      ...{
        root,
        ledger: memoryLedger(state),
        workspace: 'w',
        record: `${root}-shown.json`,
        now: () => new Date(),
        note() {},
      },
      ...{ documentsOnly: true, guard: () => store.far.outbox.guard() },
    }),
    async bury() {
      const { value } = (await memoryLedger(state).get(key))!;
      await memoryLedger(state).commit('bury', { puts: [{ key, value, live: false }], adds: [] });
    },
  };
}

test('a process that was declared dead writes no text, and the next one on the machine sends it', async (t) => {
  const root = fs.mkdtempSync(path.join(os.tmpdir(), 'guild-texts-'));
  t.after(() => [root, `${root}-shown.json`].forEach((file) => fs.rmSync(file, { recursive: true, force: true })));
  const save = (text: string): void => {
    fs.mkdirSync(path.join(root, 'memory'), { recursive: true });
    fs.writeFileSync(path.join(root, 'memory/note.md'), text);
  };
  const state = ledgerState();
  const stored = async (): Promise<string | undefined> => {
    const entry = await memoryLedger(state).get('doc/memory/note.md');
    return entry?.value;
  };
  const first = await worker(t, state, root);
  save('one\n');
  await first.mirror.look();
  assert.match((await stored())!, /one/);
  await first.bury();
  save('two, written by a process that was paused beyond its lease\n');
  await first.mirror.look();
  assert.match((await stored())!, /one/, 'nothing was written');
  fs.rmSync(path.join(root, 'memory/note.md'));
  await first.mirror.look();
  assert.match((await stored())!, /one/, 'and nothing was removed');
  save('three\n');
  const second = await worker(t, state, root);
  await second.mirror.look();
  assert.match((await stored())!, /three/);
});
