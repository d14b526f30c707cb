/**
 * Notes: told durably in batches, beside a loop that only appends the same bytes and syncs; told through files and heard in the same process;
 * told in the bus without files, beside a loop that only puts them into a map; and how long one is on its way to a subscriber, in the same
 * process and in another. Each note here is a change of state, about 250 bytes, and each round counts that all were heard.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { bus as filesBus, memoryBus } from '../src/adapters/bus/index.js';
import { clock } from '../src/adapters/clock/index.js';
import { disk } from '../src/adapters/disk/index.js';
import type { Note } from '../src/domain/coordination/note.js';
import { printNote } from '../src/text/records/note.js';
import type { Bus } from '../src/ports/bus.js';
import { atMost, bestTenth, median, told, type Bed, type Bench, type Row } from './table.js';

const BATCH = 1000;
const BATCHES = 60;
const AT = new Date().toISOString();

export const bus: Bench = {
  name: 'bus',
  async run(bed) {
    // First, because nobody who works without files has the leavings of a million notes in files beside it.
    const memory = await inMemory(bed);
    return [...(await durable(bed)), ...memory, ...(await onTheWay(bed))];
  },
};

async function durable(bed: Bed): Promise<Row[]> {
  const [ours, raw, plain]: [number[], number[], number[]] = [[], [], []];
  for (let round = 0; round < bed.rounds(10); round++) {
    raw.push(await rate(rawTeller(bed.folder('bus-raw'))));
    ours.push(await heardRate(on(bed.folder('bus')), true));
    plain.push(await heardRate(on(bed.folder('bus')), false));
  }
  return [
    atLeast('notes told durably, in batches of 1,000', median(ours), median(raw), 100_000),
    told('… told, heard in the same process, and synced by nobody', median(plain), '/s'),
    told('… in the best tenth of the rounds', -bestTenth(plain.map((one) => -one)), '/s'),
  ];
}

async function inMemory(bed: Bed): Promise<Row[]> {
  const [ours, raw]: [number[], number[]] = [[], []];
  for (let round = 0; round < bed.rounds(20); round++) {
    raw.push(await rate(keeper()));
    ours.push(await heardRate(memoryBus({ clock: clock() }), false));
  }
  return [
    atLeast('notes told in memory and heard there', median(ours), median(raw), 1_000_000),
    told('… in the best tenth of the rounds', -bestTenth(ours.map((one) => -one)), '/s'),
  ];
}

/** Keeps each id once, and nothing else: who promises that must do this much. */
function keeper(): Tell {
  const kept = new Map<string, Note>();
  return async (notes) => {
    for (const one of notes) if (!kept.has(one.id)) kept.set(one.id, one);
  };
}

async function heardRate(bus: Bus, isDurable: boolean): Promise<number> {
  let heard = 0;
  bus.subscribe('state', () => void heard++);
  const found = await rate((notes) => bus.tell(notes, { durable: isDurable }));
  if (heard !== BATCH * BATCHES) throw new Error(`${heard} notes were heard`);
  return found;
}

async function onTheWay(bed: Bed): Promise<Row[]> {
  const inProcess: number[] = [];
  const here = on(bed.folder('bus'));
  here.subscribe('state', ({ task }) => inProcess.push(performance.now() - Number(task)));
  for (let n = 0; n < bed.rounds(500); n++) await here.tell([note(n, AT, String(performance.now()))]);
  const between = await toAnother(bed, bed.rounds(200));
  return [
    atMost('a note on its way to a subscriber in the same process', median(inProcess), 'ms', 1),
    atMost('… in another process', median(between), 'ms', 10),
  ];
}

async function toAnother(bed: Bed, rounds: number): Promise<number[]> {
  const root = bed.folder('bus');
  const here = on(root);
  await here.tell([note(-1, AT)]);
  const child = fork(fileURLToPath(new URL('bus-child.js', import.meta.url)), [root]);
  await once(child, 'message');
  const took: number[] = [];
  for (let n = 0; n < rounds; n++) {
    const heard = once(child, 'message');
    await here.tell([note(n, AT, String(performance.timeOrigin + performance.now()))]);
    took.push(((await heard) as [number])[0]);
  }
  child.kill();
  return took;
}

function on(root: string): Bus {
  return filesBus({ root, disk: disk(), clock: clock() });
}

type Tell = (notes: Note[]) => Promise<unknown>;

/** One append and one sync a batch, by the same calls. */
function rawTeller(root: string): Tell {
  const fd = fs.openSync(path.join(root, 'raw.jsonl'), 'a');
  return (notes) => {
    fs.writeSync(fd, notes.map((one) => `${printNote(one)}\n`).join(''));
    return new Promise<void>((resolve, reject) => fs.fdatasync(fd, (error) => (error ? reject(error) : resolve())));
  };
}

/**
 * Notes a second. Each batch is made right before it is told, as in a run, and making is not telling. (All made at the start were old to the
 * garbage collector by the time they were told: that alone halved the rate in memory, and a collection of 60,000 fell into one round or another.)
 */
async function rate(tell: Tell): Promise<number> {
  let took = 0;
  for (let b = 0; b < BATCHES; b++) {
    const batch = Array.from({ length: BATCH }, (_, n) => note(b * BATCH + n, AT));
    const from = performance.now();
    await tell(batch);
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
  return { ...told(name, ours, '/s', raw), target, met: ours >= least };
}
