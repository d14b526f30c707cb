/** The start-up time of the command, compared with an empty Node script. */
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { guildScript } from '../harness/guild-script.js';
import { atMostOver, median, type Bench } from '../harness/rows.js';
import { dropTasks, writeWorkspace } from '../harness/workspace.js';

const MAX_OVERHEAD_MS = 60;

export const startup: Bench = {
  name: 'start',
  async run(testbed) {
    const bin = testbed.folder('bin');
    const guild = guildScript(bin);
    const empty = path.join(bin, 'empty.mjs');
    fs.writeFileSync(empty, '');
    const root = writeWorkspace(testbed.folder('start'));
    dropTasks(root, 5);
    const commands = [[empty], [guild, '--help'], [guild, 'task', 'list', '--workspace', root]];
    const times: number[][] = commands.map(() => []);
    for (let round = 0; round < 2 + testbed.rounds(15); round++) {
      for (const [at, args] of commands.entries()) {
        const from = performance.now();
        const child = spawnSync(process.execPath, args, { encoding: 'utf8' });
        if (round >= 2) times[at]!.push(performance.now() - from);
        if (child.status !== 0) throw new Error(`${args.join(' ')}: ${child.stderr}`);
      }
    }
    const [raw, help, list] = times.map(median) as [number, number, number];
    return [
      atMostOver('start: guild --help', help, raw, 'ms', MAX_OVERHEAD_MS),
      atMostOver('start: guild task list', list, raw, 'ms', MAX_OVERHEAD_MS),
    ];
  },
};
