/** Eight advisors and a synthesis, and a handoff chain of five, durable, over raw loops of the same calls to the same server. */
import { openWorkspace } from '../src/app/index.js';
import { modelChild } from './model.js';
import { atMostOver, bestTenth, median, told, type Bench, type Row } from './table.js';
import { layWorkspace, put } from './workspace.js';

const ADVISORS = 8;
const CHAIN = 5;
const MOST_MS = 12;
/** Both sides run so often before anything counts: a process that stays has its code compiled. */
const WARM_UP = 40;

export const patterns: Bench = {
  name: 'patterns',
  async run(bed) {
    const model = await modelChild();
    const root = layWorkspace(bed.folder('patterns'), { url: model.url });
    const names = Array.from({ length: ADVISORS }, (_, n) => `advisor-${n}`);
    for (const name of names) put(root, `agents/${name}.md`, `---\ndescription: Advises\n---\nYou advise.\n`);
    put(root, 'agents/slow.md', `---\ndescription: Advises, and takes its time\n---\nYou answer slowly.\n`);
    const slowToo = [...names.slice(1), 'slow'].join(', ');
    put(root, 'agents/patient.md', `---\ndescription: Decides\nadvisors: [${slowToo}]\n---\nYou decide.\n`);
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
    const waited = await compare(
      bed.rounds(30),
      () => runTo(workspace, 'patient'),
      async () => {
        await Promise.all([...names.slice(1).map(ask), rawCall(model.url, 'You answer slowly.')]);
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
      ...rows('eight advisors and a synthesis', advised),
      ...rows('… one of the eight takes 60 ms', waited),
      ...rows('a handoff chain of five', handed),
    ];
  },
};

interface Times {
  /** Until the answer is there, durable. */
  ours: number[];
  /** Until all its files lie where people see them, too. */
  shown: number[];
  raw: number[];
}

function rows(name: string, { ours, shown, raw }: Times): Row[] {
  return [
    atMostOver(name, median(ours), median(raw), 'ms', MOST_MS),
    told('… as a ratio', median(ours), 'ms', median(raw)),
    told('… until the files of its parts lie there', median(shown), 'ms', median(raw)),
    told('… the best tenth of the rounds', bestTenth(ours), 'ms', bestTenth(raw)),
  ];
}

async function runTo(
  workspace: Awaited<ReturnType<typeof openWorkspace>>,
  agent: string,
): Promise<{ ours: number; shown: number }> {
  const task = await workspace.add({ description: 'Shall we?', to: agent });
  const from = performance.now();
  const { state } = await workspace.finish(task.id);
  const ours = performance.now() - from;
  if (state !== 'completed') throw new Error(`it ended as ${state}`);
  await workspace.store.flush(); // what follows must not be paid for by whoever is measured next
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
