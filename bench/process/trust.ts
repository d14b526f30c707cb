/**
 * The cost that workspace trust adds to a cold `guild run`: the processor time that a new process
 * takes to open its trust, after the calls that every run makes anyway.
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
    const file = path.join(folder, 'trust.mjs');
    fs.writeFileSync(file, child(root));
    const times: number[] = [];
    for (let round = 0; round < WARM_UPS + testbed.scale(25, 5); round++) {
      const { out } = await runProcess([file]);
      if (round >= WARM_UPS) times.push(Number(out));
    }
    return [atMostOver('trust in a cold process: processor time', median(times), 0, 'ms', MAX_OVER_MS)];
  },
};

/**
 * Prints the processor time of trust alone, because the time of the whole process varies by more
 * than trust costs. The pause lets other threads finish compiling the imported code.
 */
function child(root: string): string {
  const from = (file: string): string => pathToFileURL(path.join(THIS_CHECKOUT, 'dist/src', file)).href;
  return `import { consentFor, openTrust } from '${from('app/trust/trust.js')}';
import { readConfig } from '${from('app/readers/read-config.js')}';
import { disk } from '${from('adapters/disk/index.js')}';
import { hash } from 'node:crypto';
import fs from 'node:fs';
const root = ${JSON.stringify(root)};
const { config } = readConfig(disk(), root, process.env);
fs.lstatSync(root);
disk().list(root);
hash('sha256', root);
await new Promise((resolve) => setTimeout(resolve, 100));
const before = process.cpuUsage();
const trust = openTrust(root, process.env, config);
consentFor(trust.record, process.env, config);
const { user, system } = process.cpuUsage(before);
process.stdout.write(String((user + system) / 1000));
`;
}
