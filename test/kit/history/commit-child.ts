/**
 * A process that works and commits; several run at once, and some are killed. Prints a line for
 * each file that it has written and reported to history, and one for each commit. Arguments: root,
 * name, number of files.
 */
import fs from 'node:fs';
import path from 'node:path';
import { clock } from '../../../src/adapters/clock/index.js';
import { git } from '../../../src/adapters/git/index.js';
import { processes } from '../../../src/adapters/processes/index.js';

const [root, name, times] = process.argv.slice(2) as [string, string, string];
const history = git({ root, env: process.env, clock: clock(), processes: processes() });
for (let i = 0; i < Number(times); i++) {
  const file = path.join(root, 'results', `${name}-${i}.md`);
  fs.writeFileSync(file, `${name} ${i}\n`);
  history.changed(file);
  say(`wrote ${name}-${i}`);
  await history.commit(`${name} ${i}`, `${name}-${i} @tester task.completed`, { evenIfSame: true });
  say(`committed ${name} ${i}`);
}
await history.close();

/** Synchronous, so that a killed process has said what it did. */
function say(text: string): void {
  fs.writeSync(1, `${text}\n`);
}
