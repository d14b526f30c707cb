/** Runs the store contract on every adapter. */
import fs from 'node:fs';
import path from 'node:path';
import { after } from 'node:test';
import { tempFolder } from '../kit/temp/folder.js';
import { disk } from '../../src/adapters/disk/index.js';
import { far } from '../../src/adapters/far/index.js';
import { replay } from '../../src/adapters/far/sessions.js';
import { files } from '../../src/adapters/files/index.js';
import { ledgerState, memoryLedger } from '../../src/adapters/ledger/memory.js';
import { memory, world, type MemoryOptions } from '../kit/memory/store.js';
import type { Disk } from '../../src/ports/disk.js';
import type { Store } from '../../src/ports/store/index.js';
import { parseSession, printHeader, printMessages } from '../../src/text/session/parse.js';
import { SEED } from '../kit/seed.js';
import { simClock } from '../kit/sim-clock.js';
import { simDisk } from '../kit/sim-disk.js';
import { countedIds, seeded, simProcesses } from '../kit/sim-processes.js';
import type { Bench } from './store/bench.js';
import { storeContract } from './store/index.js';

const all = tempFolder('contract', { after });

storeContract('memory', () => memoryBench());

storeContract(`memory that answers late (SEED=${SEED})`, () => memoryBench({ random: seeded(SEED) }));

function memoryBench(options: Partial<MemoryOptions> = {}): Bench {
  const w = world();
  const ids = countedIds();
  return {
    join: () => memory(w, { clock: simClock(), ids, ...options }),
    kill: (store) => void w.alive.delete(store.presence.peer.id),
    edit(id, change) {
      const session = w.sessions.get(id)!;
      w.sessions.set(id, { ...session, messages: change([...session.messages]) });
    },
  };
}

storeContract('far, on a ledger in memory', () => farBench());

/** Peers renew only in time that a test lets pass. */
function farBench(): Bench {
  const state = ledgerState();
  const processes = simProcesses();
  const ids = countedIds();
  const outside = memoryLedger(state);
  return {
    join() {
      const never = (): (() => void) => () => undefined;
      const ledger = memoryLedger(state);
      const clock = simClock();
      return far({ ledger, clock, ids, me: processes.start().me(), lag: queueMicrotask, every: never });
    },
    /** Declares it dead, as a peer does after observing it for a whole lease. */
    kill(store) {
      const { id } = store.presence.peer;
      const entry = state.entries.get(`peer/${id}`)!;
      void outside.commit(`kill-${id}`, { puts: [{ key: entry.key, value: entry.value, live: false }], adds: [] });
    },
    edit(id, change) {
      const session = replay(state.logs.get(`session/${id}`)!.map(({ text }) => text))!;
      const whole = { ...session, messages: change([...session.messages]) };
      const add = { log: `session/${id}`, text: JSON.stringify([{ whole }]) };
      void outside.commit(`edit-${state.count}`, { puts: [], adds: [add] });
    },
  };
}

storeContract('files', () => {
  const root = fs.mkdtempSync(path.join(all, 'bench-'));
  return filesBench(disk(), root, (file, text) => fs.writeFileSync(file, text));
});

storeContract('files on a simulated disk', () => {
  const sim = simDisk();
  return filesBench(sim, '/w', (file, text) => sim.save(file, text));
});

function filesBench(disk: Disk, root: string, save: (file: string, text: string) => void): Bench {
  const processes = simProcesses();
  const started = new Map<Store, () => void>();
  const ids = countedIds();
  return {
    join() {
      const process = processes.start();
      const store = files({ root, disk, clock: simClock(), ids, processes: process });
      started.set(store, () => process.die());
      return store;
    },
    kill: (store) => started.get(store)!(),
    edit(id, change) {
      const file = path.join(root, 'sessions', `${id}.session.yaml`);
      const read = disk.read(file);
      if (read.kind !== 'file') throw new Error('no such session');
      const parsed = parseSession(read.bytes.toString('utf8'), file);
      if (!parsed.ok) throw new Error('session does not parse');
      save(file, printHeader(parsed.session.header) + printMessages(change(parsed.session.messages)));
    },
  };
}
