/**
 * Throughput of the note bus: durable batches against a loop that appends and syncs the same bytes,
 * batches without sync, and the memory bus against a loop that fills a map. Latency: until a
 * subscriber in this process and in another one receives a note. Each note is a state change of
 * about 250 bytes; each round checks that all notes arrived.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { bus as filesBus } from '../../src/adapters/bus/index.js';
import { memoryBus } from '../../test/kit/memory/bus.js';
import { clock } from '../../src/adapters/clock/index.js';
import { disk } from '../../src/adapters/disk/index.js';
import type { Note } from '../../src/domain/coordination/note.js';
import { printNote } from '../../src/text/records/note.js';
import type { Bus } from '../../src/ports/bus.js';
import { atMost, median, figure, type Testbed, type Bench, type Row } from '../harness/rows.js';

const BATCH = 1000;
const BATCHES = 60;
const AT = new Date().toISOString();

export const noteBus: Bench = {
  name: 'bus',
  async run(testbed) {
    // First, so that the garbage of the file rounds does not slow the memory rounds.
    const memory = await inMemory(testbed);
    return [...(await onDisk(testbed)), ...memory, ...(await latency(testbed))];
  },
};

async function onDisk(testbed: Testbed): Promise<Row[]> {
  const [ours, raw, unsynced]: [number[], number[], number[]] = [[], [], []];
  for (let round = 0; round < testbed.scale(10); round++) {
    raw.push(await rate(appendAndSync(testbed.folder('bus-raw'))));
    ours.push(await deliveryRate(busIn(testbed.folder('bus')), true));
    unsynced.push(await deliveryRate(busIn(testbed.folder('bus')), false));
  }
  return [
    atLeast('notes published durably, in batches of 1,000', median(ours), median(raw), 100_000),
    figure('… without sync, received in the same process', median(unsynced), '/s'),
    figure('… in the best tenth of the rounds', bestTenthRate(unsynced), '/s'),
  ];
}

async function inMemory(testbed: Testbed): Promise<Row[]> {
  const [ours, raw]: [number[], number[]] = [[], []];
  for (let round = 0; round < testbed.scale(20); round++) {
    raw.push(await rate(fillMap()));
    ours.push(await deliveryRate(memoryBus({ clock: clock() }), false));
  }
  return [
    atLeast('notes published and received in memory', median(ours), median(raw), 1_000_000),
    figure('… in the best tenth of the rounds', bestTenthRate(ours), '/s'),
  ];
}

/** The rate on an idle machine. On a busy one the median mostly measures other programs. */
function bestTenthRate(rates: readonly number[]): number {
  return [...rates].sort((a, b) => b - a)[Math.floor(rates.length / 10)]!;
}

/** The least work of a bus that delivers each id once. */
function fillMap(): Publish {
  const byId = new Map<string, Note>();
  return async (notes) => {
    for (const note of notes) if (!byId.has(note.id)) byId.set(note.id, note);
  };
}

async function deliveryRate(bus: Bus, isDurable: boolean): Promise<number> {
  let received = 0;
  bus.subscribe('state', () => void received++);
  const perSecond = await rate((notes) => bus.tell(notes, { durable: isDurable }));
  if (received !== BATCH * BATCHES) throw new Error(`${received} of ${BATCH * BATCHES} notes arrived`);
  return perSecond;
}

async function latency(testbed: Testbed): Promise<Row[]> {
  const inProcess: number[] = [];
  const bus = busIn(testbed.folder('bus'));
  bus.subscribe('state', ({ task }) => inProcess.push(performance.now() - Number(task)));
  for (let n = 0; n < testbed.scale(500); n++) await bus.tell([note(n, AT, String(performance.now()))]);
  const toOtherProcess = await crossProcessLatency(testbed, testbed.scale(200));
  return [
    atMost('latency of a note to a subscriber in the same process', median(inProcess), 'ms', 1),
    atMost('… in another process', median(toOtherProcess), 'ms', 10),
  ];
}

async function crossProcessLatency(testbed: Testbed, rounds: number): Promise<number[]> {
  const root = testbed.folder('bus');
  const bus = busIn(root);
  await bus.tell([note(-1, AT)]);
  const child = fork(fileURLToPath(new URL('note-bus-child.js', import.meta.url)), [root]);
  await once(child, 'message');
  const times: number[] = [];
  for (let n = 0; n < rounds; n++) {
    const arrival = once(child, 'message');
    await bus.tell([note(n, AT, String(performance.timeOrigin + performance.now()))]);
    times.push(((await arrival) as [number])[0]);
  }
  child.kill();
  return times;
}

function busIn(root: string): Bus {
  return filesBus({ root, disk: disk(), clock: clock() });
}

type Publish = (notes: Note[]) => Promise<unknown>;

/** One append and one sync per batch, with the same system calls as the bus. */
function appendAndSync(root: string): Publish {
  const fd = fs.openSync(path.join(root, 'raw.jsonl'), 'a');
  return (notes) => {
    fs.writeSync(fd, notes.map((note) => `${printNote(note)}\n`).join(''));
    return new Promise<void>((resolve, reject) => fs.fdatasync(fd, (error) => (error ? reject(error) : resolve())));
  };
}

/**
 * Notes per second. Each batch is created right before it is published, as in a real run, and
 * outside the measured time. Notes created in advance would be promoted to the old generation of
 * the garbage collector, which halves the rate in memory.
 */
async function rate(publish: Publish): Promise<number> {
  let took = 0;
  for (let b = 0; b < BATCHES; b++) {
    const batch = Array.from({ length: BATCH }, (_, n) => note(b * BATCH + n, AT));
    const from = performance.now();
    await publish(batch);
    took += performance.now() - from;
  }
  return (BATCH * BATCHES) / (took / 1000);
}

function note(n: number, at: string, task = `task-${n}`): Note {
  return {
    id: `state.agent-${n % 300}.${n}`,
    channel: 'state',
    from: 'engine',
    at,
    priority: 'normal',
    task,
    expires: '2099-01-01T00:00:00.000Z',
    body: {
      type: 'state_change',
      agent: `agent-${n % 300}`,
      fromState: 'idle',
      toState: 'working',
      reason: 'a task',
      trigger: `task.claimed task-${n}`,
    },
  };
}

function atLeast(name: string, ours: number, raw: number | undefined, least: number): Row {
  const target = `≥ ${least.toLocaleString('en')}/s`;
  return { ...figure(name, ours, '/s', raw), target, met: ours >= least };
}
