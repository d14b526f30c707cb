/**
 * The commands that sum up, as processes, beside 100,000 finished tasks: with the index in place,
 * and right after it was deleted.
 */
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeFinishedTasks } from '../harness/finished-workspace.js';
import { atMost, median, type Bench, type Row } from '../harness/rows.js';

const FINISHED = 100_000;
const GUILD = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../../../bin/guild.mjs');

interface Cost {
  seconds: number;
  megabytes: number;
}

export const aggregates: Bench = {
  name: 'aggregates',
  async run(testbed) {
    const { root, ids } = writeFinishedTasks(testbed.folder('aggregates'), FINISHED);
    const commands = [
      ['cost', '--by', 'task'],
      ['query', 'SELECT COUNT(*) FROM tasks'],
      ['query', "SELECT id FROM tasks WHERE description = 'nothing of this'"],
      ['check'],
      ['top', '--once'],
      ['why', ids[FINISHED / 2]!],
      ['task', 'list', '--all'],
    ];
    return commands.flatMap((words) => {
      const name = words[0] === 'why' ? 'why' : words.join(' ');
      fs.rmSync(path.join(root, '.guild', 'index'), { recursive: true, force: true });
      const anew = measure(root, words);
      const warm = Array.from({ length: testbed.rounds(5) }, () => measure(root, words));
      return rowsOf(name, anew, warm);
    });
  },
};

function rowsOf(name: string, anew: Cost, warm: readonly Cost[]): Row[] {
  const beside = `guild ${name}, 100,000 finished tasks`;
  return [
    atMost(beside, median(warm.map(({ seconds }) => seconds)), 's', 1),
    atMost(`${beside}, memory`, Math.max(...warm.map(({ megabytes }) => megabytes)), 'MB', 150),
    atMost(`${beside}, index deleted`, anew.seconds, 's', 15),
  ];
}

/** The process tells its own peak of memory when it ends. */
const REPORT = 'process.on("exit", () => process.stderr.write(`\\npeak ${process.resourceUsage().maxRSS}`))';

function measure(root: string, words: readonly string[]): Cost {
  const from = performance.now();
  const node = ['--import', `data:text/javascript,${encodeURIComponent(REPORT)}`];
  const ran = spawnSync(process.execPath, [...node, GUILD, ...words, '--workspace', root], {
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  });
  const seconds = (performance.now() - from) / 1000;
  const peak = /\npeak (\d+)$/.exec(ran.stderr)?.[1];
  if (ran.status !== 0 || peak === undefined) throw new Error(`guild ${words.join(' ')}: ${ran.stderr}`);
  return { seconds, megabytes: Number(peak) / 1024 };
}
