/**
 * Latency of a state change in the publishing process and in another one; the cost of ten thousand
 * idle agents; and the time of a task with its state changes next to many finished tasks.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { openWorkspace, type Model } from '../../src/app/index.js';
import { atMost, atMostTimes, median, figure, type Bench, type Row } from '../harness/rows.js';
import { AGENT, writeWorkspace, writeFile } from '../harness/workspace.js';

const ANSWER = { text: 'podman', toolCalls: [], finish: 'stop' as const };
const COST = { inputTokens: 1, outputTokens: 1, cachedTokens: 0, microUsd: 0 };
const MODEL: Model = { call: async () => ({ ok: true, answer: { ...ANSWER, ...COST } }) };

export const stateChanges: Bench = {
  name: 'states',
  async run(testbed) {
    return [...(await latency(testbed)), ...(await costOfIdleAgents(testbed)), ...(await withFinishedTasks(testbed))];
  },
};

type Testbed = Parameters<Bench['run']>[0];

/**
 * From the claim or end of a task to the arrival of its note. The processes run on one machine, so
 * their clocks are comparable.
 */
async function latency(testbed: Testbed): Promise<Row[]> {
  const root = writeWorkspace(testbed.folder('states'));
  const happened = new Map<string, bigint>();
  const inProcess: number[] = [];
  const inOther: number[] = [];
  const workspace = await openWorkspace(root, {
    model: MODEL,
    watchers: {
      event({ name, task }) {
        if (name === 'task.claimed') happened.set(`task.claimed ${task}`, process.hrtime.bigint());
        if (name === 'task.completed') happened.set(`task.ended ${task}`, process.hrtime.bigint());
      },
    },
  });
  const record = (trigger: string, at: bigint, into: number[]): void => {
    const from = happened.get(trigger);
    if (from !== undefined) into.push(Number(at - from) / 1e6);
  };
  const child = fork(fileURLToPath(new URL('state-changes-child.js', import.meta.url)), [root]);
  await once(child, 'message');
  child.on('message', ([trigger, at]: [string, string]) => record(trigger, BigInt(at), inOther));
  workspace.bus.subscribe('state', ({ body }) => {
    if (body.type === 'state_change') record(body.trigger, process.hrtime.bigint(), inProcess);
  });
  const rounds = testbed.scale(100);
  for (let round = 0; round < rounds; round++) {
    await workspace.add({ description: 'Which runtime do we use?', to: AGENT });
    // One pump at a time, because `watch` and `finish` merge state changes in quick succession.
    while ((await workspace.pump()).moved);
    // Wait until the other process has received this change.
    for (let tries = 0; inOther.length < inProcess.length && tries < 500; tries++)
      await new Promise((next) => setTimeout(next, 2));
  }
  child.kill();
  await workspace.close();
  return [
    atMost('latency of a state change in the same process', median(inProcess), 'ms', 1),
    atMost('… in another process', median(inOther), 'ms', 10),
    figure('… changes received in another process', inOther.length, '', inProcess.length),
  ];
}

const AGENTS = 10_000;

/** Most of the cost is reading the agent files, which every process does for itself. */
async function costOfIdleAgents(testbed: Testbed): Promise<Row[]> {
  const few = writeWorkspace(testbed.folder('one-agent'));
  const lots = writeWorkspace(testbed.folder('many-agents'));
  for (let n = 0; n < AGENTS; n++)
    writeFile(
      lots,
      `agents/a${n}.md`,
      `---\ndescription: Number ${n}\ntools: [read_file]\n---\nYou are number ${n}.\n`,
    );
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
    for (let round = 0; round < testbed.scale(10); round++) {
      const from = performance.now();
      await workspace.pump();
      own.push(performance.now() - from);
    }
    ms.push(own);
    await workspace.close();
  }
  return [
    atMost('10,000 agents in one process: memory each', memory, 'kB', 50),
    figure('10,000 agents in one process: a pass with nothing to do', median(ms[1]!), 'ms', median(ms[0]!)),
  ];
}

const FINISHED = 20_000;

async function withFinishedTasks(testbed: Testbed): Promise<Row[]> {
  const few = writeWorkspace(testbed.folder('states-few'));
  const lots = writeWorkspace(testbed.folder('states-lots'));
  const record = { description: 'Which runtime do we use?', to: AGENT, result: 'podman', version: 1 };
  for (let n = 0; n < FINISHED; n++) writeFile(lots, `tasks/completed/old-${n}.json`, JSON.stringify(record));
  const places = await Promise.all(
    [few, lots].map(async (root) => ({ workspace: await openWorkspace(root, { model: MODEL }), ms: [] as number[] })),
  );
  for (let round = 0; round < testbed.scale(60); round++) {
    for (const { workspace, ms } of places) {
      await workspace.add({ description: 'Which runtime do we use?', to: AGENT });
      const from = performance.now();
      await workspace.pumpUntilQuiet();
      if (round >= 10) ms.push(performance.now() - from);
    }
  }
  for (const { workspace } of places) await workspace.close();
  const [none, many] = places.map(({ ms }) => median(ms));
  return [atMostTimes('a task with its three state changes beside 20,000 finished tasks', many!, none!, 'ms', 1.25)];
}
