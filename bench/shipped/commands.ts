/**
 * Commands as processes, from start to exit: `guild run` against a script that makes the same
 * calls, `guild --help` and `guild task list` against an empty script, and what an import of the
 * library adds.
 */
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { runProcess } from '../harness/run-process.js';
import { against, atMostOver, median, type Bench, type Row } from '../harness/rows.js';
import { shippedWorkspace } from '../harness/shipped-workspace.js';
import { builds, RAW_FETCH } from '../harness/subjects.js';
import { READER } from '../variants/workloads.js';
import { dropTasks } from '../harness/workspace.js';

const MAX_OVER_MS = 60;
const WARM_UPS = 2;

interface Timed {
  ms: number[];
  cpuMs: number[];
}

export const start: Bench = {
  name: 'start and import',
  async run(testbed) {
    const folder = testbed.folder('start');
    const script = (name: string, text: string): string => {
      fs.writeFileSync(path.join(folder, name), text);
      return path.join(folder, name);
    };
    const commands: [name: string, ...args: string[][]][] = [
      ["import 'guildhall'"],
      ['guild --help'],
      ['guild task list'],
    ];
    for (const { build, kind } of builds(testbed)) {
      const root = shippedWorkspace(build!, testbed.folder(kind), { url: testbed.model.url });
      dropTasks(root, 5);
      commands[0]!.push([script(`${kind}.mjs`, `import '${pathToFileURL(build!.entry).href}';\n`)]);
      commands[1]!.push([build!.guild, '--help']);
      commands[2]!.push([build!.guild, 'task', 'list', '--workspace', root]);
    }
    const bare = [script('empty.mjs', '')];
    const times = await interleaved([bare, ...commands.flatMap(([, ...args]) => args)], testbed.scale(15, 3));
    const raw = median(times[0]!.ms);
    const width = builds(testbed).length;
    return commands.map(([name], at) => {
      const [ours, older] = times.slice(1 + at * width, 1 + (at + 1) * width).map(({ ms }) => median(ms));
      return against(atMostOver(name, ours!, raw, 'ms', MAX_OVER_MS), older);
    });
  },
};

export const guildRun: Bench = {
  name: 'guild run',
  async run(testbed) {
    const folder = testbed.folder('guild-run');
    const loop = path.join(folder, 'loop.mjs');
    const options = JSON.stringify({ url: testbed.model.url, folder });
    fs.writeFileSync(
      loop,
      `import { open } from '${pathToFileURL(RAW_FETCH.module).href}';\nawait (await open(${options})).run('w1');\n`,
    );
    const ours = builds(testbed).map(({ build, kind }) => {
      const root = shippedWorkspace(build!, testbed.folder(kind), { url: testbed.model.url });
      return [build!.guild, 'run', 'reader', READER.request, '--quiet', '--workspace', root];
    });
    const [raw, now, older] = await interleaved([[loop], ...ours], testbed.scale(15, 3));
    const row = (name: string, value: (timed: Timed) => number[]): Row =>
      against(
        {
          name,
          ours: median(value(now!)),
          raw: median(value(raw!)),
          unit: 'ms',
          compared: `+${Math.round(median(value(now!)) - median(value(raw!)))}`,
        },
        older && median(value(older)),
      );
    return [
      row('guild run as a process, start to exit', ({ ms }) => ms),
      row('guild run as a process: processor time', ({ cpuMs }) => cpuMs),
    ];
  },
};

async function interleaved(commands: readonly string[][], rounds: number): Promise<Timed[]> {
  const times = commands.map((): Timed => ({ ms: [], cpuMs: [] }));
  for (let round = 0; round < WARM_UPS + rounds; round++) {
    for (const [at, args] of commands.entries()) {
      const { ms, cpuMs } = await runProcess(args);
      if (round < WARM_UPS) continue;
      times[at]!.ms.push(ms);
      times[at]!.cpuMs.push(cpuMs);
    }
  }
  return times;
}
