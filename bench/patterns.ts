/** Eight advisors and a synthesis, and a handoff chain of five, durable, over raw loops of the same calls to the same server. */
import { openWorkspace } from '../src/app/index.js';
import { modelChild } from './model.js';
import { atMostOver, bestTenth, median, told, type Bench } from './table.js';
import { layWorkspace, put } from './workspace.js';

const ADVISORS = 8;
const CHAIN = 5;
const MOST_MS = 12;

export const patterns: Bench = {
  name: 'patterns',
  async run(bed) {
    const model = await modelChild();
    const root = layWorkspace(bed.folder('patterns'), { url: model.url });
    const names = Array.from({ length: ADVISORS }, (_, n) => `advisor-${n}`);
    for (const name of names) put(root, `agents/${name}.md`, `---\ndescription: Advises\n---\nYou advise.\n`);
    put(root, 'agents/boss.md', `---\ndescription: Decides\nadvisors: [${names.join(', ')}]\n---\nYou decide.\n`);
    for (let n = 1; n <= CHAIN; n++) {
      const next = n < CHAIN ? `handoff: stage-${n + 1}\n` : '';
      put(root, `agents/stage-${n}.md`, `---\ndescription: Stage ${n}\n${next}---\nYou go on.\n`);
    }
    const workspace = await openWorkspace(root, { history: false });
    const ask = (): Promise<string> => rawCall(model.url);
    const advised = await compare(
      bed.rounds(60),
      () => runTo(workspace, 'boss'),
      async () => {
        await Promise.all(names.map(ask));
        await ask();
      },
    );
    const handed = await compare(
      bed.rounds(60),
      () => runTo(workspace, 'stage-1'),
      async () => {
        for (let n = 0; n < CHAIN; n++) await ask();
      },
    );
    await workspace.close();
    model.close();
    return [
      atMostOver('eight advisors and a synthesis', median(advised.ours), median(advised.raw), 'ms', MOST_MS),
      told('… the best tenth of the rounds', bestTenth(advised.ours), 'ms', bestTenth(advised.raw)),
      atMostOver('a handoff chain of five', median(handed.ours), median(handed.raw), 'ms', MOST_MS),
      told('… the best tenth of the rounds', bestTenth(handed.ours), 'ms', bestTenth(handed.raw)),
    ];
  },
};

async function runTo(workspace: Awaited<ReturnType<typeof openWorkspace>>, agent: string): Promise<number> {
  const task = await workspace.add({ description: 'Shall we?', to: agent });
  const from = performance.now();
  const { state } = await workspace.finish(task.id);
  if (state !== 'completed') throw new Error(`it ended as ${state}`);
  return performance.now() - from;
}

async function compare(
  rounds: number,
  ours: () => Promise<number>,
  raw: () => Promise<void>,
): Promise<{ ours: number[]; raw: number[] }> {
  const times = { ours: [] as number[], raw: [] as number[] };
  for (let round = 0; round < rounds + 10; round++) {
    const from = performance.now();
    await raw();
    const rawMs = performance.now() - from;
    const oursMs = await ours();
    if (round < 10) continue;
    times.raw.push(rawMs);
    times.ours.push(oursMs);
  }
  return times;
}

async function rawCall(url: string): Promise<string> {
  const messages = [
    { role: 'system', content: 'You advise.' },
    { role: 'user', content: 'Shall we?' },
  ];
  const response = await fetch(`${url}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'bench', messages }),
  });
  const said = (await response.json()) as { choices: { message: { content: string } }[] };
  return said.choices[0]!.message.content;
}
