/**
 * Eight advisors with a synthesis, and a handoff chain of five, both durable, against raw loops
 * that make the same calls to the same server.
 */
import { openWorkspace } from '../../src/app/index.js';
import { startModelServer } from '../harness/model-server.js';
import { atMostOver, bestTenth, median, figure, type Bench, type Row } from '../harness/rows.js';
import { writeWorkspace, writeFile } from '../harness/workspace.js';

const ADVISORS = 8;
const CHAIN = 5;
const MAX_OVERHEAD_MS = 12;
/** Unmeasured rounds for both sides, so that the code is compiled as in a long-running process. */
const WARM_UP = 40;

export const advisorsAndHandoff: Bench = {
  name: 'patterns',
  async run(testbed) {
    const model = await startModelServer();
    const root = writeWorkspace(testbed.folder('patterns'), { url: model.url });
    const names = Array.from({ length: ADVISORS }, (_, n) => `advisor-${n}`);
    for (const name of names) writeFile(root, `agents/${name}.md`, `---\ndescription: Advises\n---\nYou advise.\n`);
    writeFile(root, 'agents/slow.md', `---\ndescription: Advises, and takes its time\n---\nYou answer slowly.\n`);
    const withSlow = [...names.slice(1), 'slow'].join(', ');
    writeFile(root, 'agents/patient.md', `---\ndescription: Decides\nadvisors: [${withSlow}]\n---\nYou decide.\n`);
    writeFile(root, 'agents/boss.md', `---\ndescription: Decides\nadvisors: [${names.join(', ')}]\n---\nYou decide.\n`);
    for (let n = 1; n <= CHAIN; n++) {
      const next = n < CHAIN ? `handoff: stage-${n + 1}\n` : '';
      writeFile(root, `agents/stage-${n}.md`, `---\ndescription: Stage ${n}\n${next}---\nYou go on.\n`);
    }
    const workspace = await openWorkspace(root, { history: false });
    const ask = (): Promise<string> => rawCall(model.url);
    const advised = await compare(
      testbed.rounds(60),
      () => runTo(workspace, 'boss'),
      async () => {
        await Promise.all(names.map(ask));
        await ask();
      },
    );
    const waited = await compare(
      testbed.rounds(30),
      () => runTo(workspace, 'patient'),
      async () => {
        await Promise.all([...names.slice(1).map(ask), rawCall(model.url, 'You answer slowly.')]);
        await ask();
      },
    );
    const handed = await compare(
      testbed.rounds(60),
      () => runTo(workspace, 'stage-1'),
      async () => {
        for (let n = 0; n < CHAIN; n++) await ask();
      },
    );
    await workspace.close();
    model.close();
    return [
      ...rows('eight advisors and a synthesis', advised),
      ...rows('… one of the eight takes 60 ms', waited),
      ...rows('a handoff chain of five', handed),
    ];
  },
};

interface Times {
  /** Until the answer is durable. */
  ours: number[];
  /** Until the files of the child tasks are written as well. */
  shown: number[];
  raw: number[];
}

function rows(name: string, { ours, shown, raw }: Times): Row[] {
  return [
    atMostOver(name, median(ours), median(raw), 'ms', MAX_OVERHEAD_MS),
    figure('… as a ratio', median(ours), 'ms', median(raw)),
    figure('… until the child task files are written', median(shown), 'ms', median(raw)),
    figure('… the best tenth of the rounds', bestTenth(ours), 'ms', bestTenth(raw)),
  ];
}

async function runTo(
  workspace: Awaited<ReturnType<typeof openWorkspace>>,
  agent: string,
): Promise<{ ours: number; shown: number }> {
  const task = await workspace.add({ description: 'Do we upgrade?', to: agent });
  const from = performance.now();
  const { state } = await workspace.finish(task.id);
  const ours = performance.now() - from;
  if (state !== 'completed') throw new Error(`the task ended as ${state}`);
  await workspace.store.flush(); // so that the next measurement does not pay for these writes
  return { ours, shown: performance.now() - from };
}

async function compare(
  rounds: number,
  run: () => Promise<{ ours: number; shown: number }>,
  raw: () => Promise<void>,
): Promise<Times> {
  const times: Times = { ours: [], shown: [], raw: [] };
  for (let round = 0; round < rounds + WARM_UP; round++) {
    const from = performance.now();
    await raw();
    const rawMs = performance.now() - from;
    const { ours, shown } = await run();
    if (round < WARM_UP) continue;
    times.raw.push(rawMs);
    times.ours.push(ours);
    times.shown.push(shown);
  }
  return times;
}

async function rawCall(url: string, system = 'You advise.'): Promise<string> {
  const messages = [
    { role: 'system', content: system },
    { role: 'user', content: 'Do we upgrade?' },
  ];
  const response = await fetch(`${url}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'bench', messages }),
  });
  const reply = (await response.json()) as { choices: { message: { content: string } }[] };
  return reply.choices[0]!.message.content;
}
