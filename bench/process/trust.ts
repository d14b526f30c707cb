/**
 * The cost that workspace trust adds to a cold `guild run`: the processor time of a process that
 * reads the configuration and opens its trust, and of one that only reads it, in turns.
 */
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { THIS_CHECKOUT } from '../harness/builds.js';
import { atMostOver, median, type Bench } from '../harness/rows.js';
import { runProcess } from '../harness/run-process.js';
import { shippedWorkspace } from '../harness/shipped-workspace.js';

const WARM_UPS = 2;
const MAX_OVER_MS = 1;

export const costOfTrust: Bench = {
  name: 'trust',
  async run(testbed) {
    const folder = testbed.folder('trust');
    const root = shippedWorkspace(testbed.build, folder, { url: testbed.model.url });
    const [off, on] = [
      '',
      'const trust = openTrust(root, process.env, config); consentFor(trust.record, process.env);',
    ].map((work, at) => {
      const file = path.join(folder, `trust-${at}.mjs`);
      fs.writeFileSync(file, child(root, work));
      return file;
    }) as [string, string];
    const times = { off: [] as number[], on: [] as number[] };
    for (let round = 0; round < WARM_UPS + testbed.scale(25, 5); round++)
      for (const [name, file] of [
        ['off', off],
        ['on', on],
      ] as const) {
        const { out } = await runProcess([file]);
        if (round >= WARM_UPS) times[name].push(Number(out));
      }
    const name = 'trust in a cold process: processor time';
    return [atMostOver(name, median(times.on), median(times.off), 'ms', MAX_OVER_MS)];
  },
};

/** Both load the same modules, so only the work differs. It prints its own processor time. */
function child(root: string, work: string): string {
  const from = (file: string): string => pathToFileURL(path.join(THIS_CHECKOUT, 'dist/src', file)).href;
  return `import { consentFor, openTrust } from '${from('app/trust/trust.js')}';
import { readConfig } from '${from('app/readers/read-config.js')}';
import { disk } from '${from('adapters/disk/index.js')}';
const root = ${JSON.stringify(root)};
const { config } = readConfig(disk(), root, process.env);
${work}
const { user, system } = process.cpuUsage();
process.stdout.write(String((user + system) / 1000));
`;
}
