/**
 * How soon a change of state is seen, in the process that tells it and in another; what ten thousand agents cost that rest; and that none
 * of it grows with finished tasks.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { openWorkspace, type Model } from '../src/app/index.js';
import { atMost, atMostTimes, median, told, type Bench, type Row } from './table.js';
import { AGENT, layWorkspace, put } from './workspace.js';

const ANSWER = { text: 'podman', toolCalls: [], finish: 'stop' as const };
const COST = { inputTokens: 1, outputTokens: 1, cachedTokens: 0, microUsd: 0 };
const MODEL: Model = { call: async () => ({ ok: true, answer: { ...ANSWER, ...COST } }) };

export const states: Bench = {
  name: 'states',
  async run(bed) {
    return [...(await seen(bed)), ...(await resting(bed)), ...(await beside(bed))];
  },
};

type Bed = Parameters<Bench['run']>[0];

/** From a task being claimed or ended to the note of it being heard. Clocks of one machine, so two processes can compare them. */
async function seen(bed: Bed): Promise<Row[]> {
  const root = layWorkspace(bed.folder('states'));
  const happened = new Map<string, bigint>();
  const here: number[] = [];
  const there: number[] = [];
  const workspace = await openWorkspace(root, {
    model: MODEL,
    watchers: {
      event({ name, task }) {
        if (name === 'task.claimed') happened.set(`task.claimed ${task}`, process.hrtime.bigint());
        if (name === 'task.completed') happened.set(`task.ended ${task}`, process.hrtime.bigint());
      },
    },
  });
  const heard = (trigger: string, at: bigint, into: number[]): void => {
    const from = happened.get(trigger);
    if (from !== undefined) into.push(Number(at - from) / 1e6);
  };
  const child = fork(fileURLToPath(new URL('states-child.js', import.meta.url)), [root]);
  await once(child, 'message');
  child.on('message', ([trigger, at]: [string, string]) => heard(trigger, BigInt(at), there));
  workspace.bus.subscribe('state', ({ body }) => {
    if (body.type === 'state_change') heard(body.trigger, process.hrtime.bigint(), here);
  });
  const rounds = bed.rounds(100);
  for (let round = 0; round < rounds; round++) {
    await workspace.add({ description: 'Which runtime do we use?', to: AGENT });
    // Pump by pump: whoever makes passes by itself tells changes that follow each other quickly together.
    while ((await workspace.pump()).moved);
    // The other process hears one before the next happens.
    for (let looks = 0; there.length < here.length && looks < 500; looks++)
      await new Promise((next) => setTimeout(next, 2));
  }
  child.kill();
  await workspace.close();
  return [
    atMost('a change of state: seen in the same process', median(here), 'ms', 1),
    atMost('… seen in another process', median(there), 'ms', 10),
    told('… changes told and heard elsewhere', there.length, '', here.length),
  ];
}

const AGENTS = 10_000;

/** A workspace of so many agents, of which one has work. Their files are read anew by each process; that is most of what they cost. */
async function resting(bed: Bed): Promise<Row[]> {
  const few = layWorkspace(bed.folder('one-agent'));
  const lots = layWorkspace(bed.folder('many-agents'));
  for (let n = 0; n < AGENTS; n++)
    put(lots, `agents/a${n}.md`, `---\ndescription: Number ${n}\ntools: [read_file]\n---\nYou are number ${n}.\n`);
  const ms: number[][] = [];
  let memory = 0;
  for (const root of [few, lots]) {
    globalThis.gc?.();
    const before = process.memoryUsage().rss;
    const workspace = await openWorkspace(root, { model: MODEL });
    await workspace.pump();
    globalThis.gc?.();
    memory = (process.memoryUsage().rss - before) / 1024 / AGENTS;
    const own: number[] = [];
    for (let round = 0; round < bed.rounds(10); round++) {
      const from = performance.now();
      await workspace.pump();
      own.push(performance.now() - from);
    }
    ms.push(own);
    await workspace.close();
  }
  return [
    atMost('10,000 agents in one process: memory each', memory, 'kB', 50),
    told('10,000 agents in one process: a pass with nothing to do', median(ms[1]!), 'ms', median(ms[0]!)),
  ];
}

const FINISHED = 20_000;

async function beside(bed: Bed): Promise<Row[]> {
  const few = layWorkspace(bed.folder('states-few'));
  const lots = layWorkspace(bed.folder('states-lots'));
  const record = { description: 'Which runtime do we use?', to: AGENT, result: 'podman', version: 1 };
  for (let n = 0; n < FINISHED; n++) put(lots, `tasks/completed/old-${n}.json`, JSON.stringify(record));
  const places = await Promise.all(
    [few, lots].map(async (root) => ({ workspace: await openWorkspace(root, { model: MODEL }), ms: [] as number[] })),
  );
  for (let round = 0; round < bed.rounds(60); round++) {
    for (const { workspace, ms } of places) {
      await workspace.add({ description: 'Which runtime do we use?', to: AGENT });
      const from = performance.now();
      await workspace.pumpUntilQuiet();
      if (round >= 10) ms.push(performance.now() - from);
    }
  }
  for (const { workspace } of places) await workspace.close();
  const [none, many] = places.map(({ ms }) => median(ms));
  return [atMostTimes('a task and its three changes of state beside 20,000 finished tasks', many!, none!, 'ms', 1.25)];
}
