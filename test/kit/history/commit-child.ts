/**
 * Commits to a workspace repeatedly; several run at once. Arguments: root, name, number of commits.
 */
import fs from 'node:fs';
import path from 'node:path';
import { clock } from '../../../src/adapters/clock/index.js';
import { git } from '../../../src/adapters/git/index.js';
import { processes } from '../../../src/adapters/processes/index.js';

const [root, name, times] = process.argv.slice(2) as [string, string, string];
const history = git({ root, env: process.env, clock: clock(), processes: processes() });
for (let i = 0; i < Number(times); i++) {
  fs.writeFileSync(path.join(root, 'memory', `${name}-${i}.md`), `${name} ${i}\n`);
  if (!(await history.commit(`${name} ${i}`, `${name}-${i} @tester file.written`, { evenIfSame: true })))
    process.exitCode = 1;
}
await history.close();
