/** How long the command takes to start, over a Node script that does nothing. */
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { guildScript } from './cli.js';
import { atMostOver, median, type Bench } from './table.js';
import { dropTasks, layWorkspace } from './workspace.js';

const MOST_MS = 60;

export const start: Bench = {
  name: 'start',
  async run(bed) {
    const bin = bed.folder('bin');
    const guild = guildScript(bin);
    const empty = path.join(bin, 'empty.mjs');
    fs.writeFileSync(empty, '');
    const root = layWorkspace(bed.folder('start'));
    dropTasks(root, 5);
    const commands = [[empty], [guild, '--help'], [guild, 'task', 'list', '--workspace', root]];
    const times: number[][] = commands.map(() => []);
    for (let round = 0; round < 2 + bed.rounds(15); round++) {
      for (const [at, args] of commands.entries()) {
        const from = performance.now();
        const done = spawnSync(process.execPath, args, { encoding: 'utf8' });
        if (round >= 2) times[at]!.push(performance.now() - from);
        if (done.status !== 0) throw new Error(`${args.join(' ')}: ${done.stderr}`);
      }
    }
    const [raw, help, list] = times.map(median) as [number, number, number];
    return [
      atMostOver('start: guild --help', help, raw, 'ms', MOST_MS),
      atMostOver('start: guild task list', list, raw, 'ms', MOST_MS),
    ];
  },
};
