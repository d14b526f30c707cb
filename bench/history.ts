/** A commit for each pass: what it costs the pass (nothing waits for it), and what it takes in the background beside `git add` and `git commit`. */
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { openHistory } from '../src/app/readers/history.js';
import { openWorkspace, type Model } from '../src/app/index.js';
import { median, told, type Bed, type Bench } from './table.js';
import { AGENT, layWorkspace, put } from './workspace.js';

const FILES = 1000;

export const history: Bench = {
  name: 'history',
  async run(bed) {
    return [...(await passes(bed)), ...(await commits(bed))];
  },
};

const model: Model = {
  call: async () => ({
    ok: true,
    answer: {
      text: 'podman',
      toolCalls: [],
      finish: 'stop',
      inputTokens: 9,
      outputTokens: 1,
      cachedTokens: 0,
      microUsd: 0,
    },
  }),
};

/** Each pass of the side with history runs while the commit of the one before is being written. */
async function passes(bed: Bed): ReturnType<Bench['run']> {
  const sides = await Promise.all(
    ['without', 'with'].map(async (name) => {
      const root = lay(bed, name);
      if (name === 'with')
        fs.writeFileSync(config(root), fs.readFileSync(config(root), 'utf8').replace('git: false\n', ''));
      return {
        workspace: await openWorkspace(root, { model, env: { PATH: process.env['PATH'] } }),
        ms: [] as number[],
      };
    }),
  );
  for (let n = 0; n < bed.rounds(40); n++) {
    for (const { workspace, ms } of sides) {
      await workspace.add({ description: 'Which runtime do we use?', to: AGENT });
      const from = performance.now();
      await workspace.pump();
      ms.push(performance.now() - from);
    }
  }
  for (const { workspace } of sides) await workspace.close();
  const [without, within] = sides.map(({ ms }) => median(ms.slice(3)));
  return [told('a pass while a commit is written', within!, 'ms', without)];
}

async function commits(bed: Bed): ReturnType<Bench['run']> {
  const [mine, raw] = [lay(bed, 'ours'), lay(bed, 'raw')];
  fs.writeFileSync(config(mine), '');
  const kept = openHistory(mine, process.env);
  const git = (...args: string[]): unknown =>
    execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@y', ...args], { cwd: raw });
  git('init', '-q');
  const ms = { ours: [] as number[], raw: [] as number[] };
  for (let n = 0; n < bed.rounds(20); n++) {
    for (const root of [mine, raw]) put(root, 'memory/facts.md', `fact ${n}\n`);
    let from = performance.now();
    await kept.commit(`fact ${n}`, '');
    ms.ours.push(performance.now() - from);
    from = performance.now();
    git('add', '-A');
    git('commit', '-q', '-m', `fact ${n}`);
    ms.raw.push(performance.now() - from);
  }
  await kept.close();
  const name = `a commit in ${FILES} files, in the background`;
  return [told(name, median(ms.ours.slice(2)), 'ms', median(ms.raw.slice(2)))];
}

function lay(bed: Bed, name: string): string {
  const root = layWorkspace(bed.folder(name));
  for (let n = 0; n < FILES; n++) put(root, `results/r-${n}.md`, `result ${n}\n`);
  return root;
}

function config(root: string): string {
  return path.join(root, 'guild.yaml');
}
