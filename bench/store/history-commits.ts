/**
 * One history commit per pass: how much it slows the pass, which does not wait for it, and how long
 * it takes in the background, against `git add` and `git commit`.
 */
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { openHistory } from '../../src/app/readers/history.js';
import { openWorkspace, type Model } from '../../src/app/index.js';
import { median, figure, type Testbed, type Bench } from '../harness/rows.js';
import { AGENT, writeWorkspace, writeFile } from '../harness/workspace.js';

const FILES = 1000;

export const historyCommits: Bench = {
  name: 'history',
  async run(testbed) {
    return [...(await passes(testbed)), ...(await commits(testbed))];
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

/** With history, each pass runs while the commit of the previous pass is being written. */
async function passes(testbed: Testbed): ReturnType<Bench['run']> {
  const sides = await Promise.all(
    ['without', 'with'].map(async (name) => {
      const root = workspaceWithResults(testbed, name);
      if (name === 'with')
        fs.writeFileSync(config(root), fs.readFileSync(config(root), 'utf8').replace('git: false\n', ''));
      return {
        workspace: await openWorkspace(root, { model, env: { PATH: process.env['PATH'] } }),
        ms: [] as number[],
      };
    }),
  );
  for (let n = 0; n < testbed.rounds(40); n++) {
    for (const { workspace, ms } of sides) {
      await workspace.add({ description: 'Which runtime do we use?', to: AGENT });
      const from = performance.now();
      await workspace.pump();
      ms.push(performance.now() - from);
    }
  }
  for (const { workspace } of sides) await workspace.close();
  const [without, withHistory] = sides.map(({ ms }) => median(ms.slice(3)));
  return [figure('a pass while a commit is written', withHistory!, 'ms', without)];
}

async function commits(testbed: Testbed): ReturnType<Bench['run']> {
  const [ours, raw] = [workspaceWithResults(testbed, 'ours'), workspaceWithResults(testbed, 'raw')];
  fs.writeFileSync(config(ours), '');
  const history = openHistory(ours, process.env);
  const git = (...args: string[]): unknown =>
    execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@y', ...args], { cwd: raw });
  git('init', '-q');
  const ms = { ours: [] as number[], raw: [] as number[] };
  for (let n = 0; n < testbed.rounds(20); n++) {
    for (const root of [ours, raw]) writeFile(root, 'memory/facts.md', `fact ${n}\n`);
    let from = performance.now();
    await history.commit(`fact ${n}`, '');
    ms.ours.push(performance.now() - from);
    from = performance.now();
    git('add', '-A');
    git('commit', '-q', '-m', `fact ${n}`);
    ms.raw.push(performance.now() - from);
  }
  await history.close();
  const name = `a commit in ${FILES} files, in the background`;
  return [figure(name, median(ms.ours.slice(2)), 'ms', median(ms.raw.slice(2)))];
}

function workspaceWithResults(testbed: Testbed, name: string): string {
  const root = writeWorkspace(testbed.folder(name));
  for (let n = 0; n < FILES; n++) writeFile(root, `results/r-${n}.md`, `result ${n}\n`);
  return root;
}

function config(root: string): string {
  return path.join(root, 'guild.yaml');
}
