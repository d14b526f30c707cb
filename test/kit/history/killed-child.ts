/**
 * A process that changes files through the watched disk and kills itself right after its nth
 * change, before history hears that it was made. Arguments: root, n.
 */
import path from 'node:path';
import { disk as realDisk } from '../../../src/adapters/disk/index.js';
import { lateHistory, watchedDisk } from '../../../src/app/late-history.js';
import { parseConfig } from '../../../src/text/config/config.js';

const [root, nth] = process.argv.slice(2) as [string, string];
const real = realDisk();
let count = 0;
const made = <T>(result: T): T => {
  if (++count === Number(nth)) process.kill(process.pid, 'SIGKILL');
  return result;
};
const dying: typeof real = {
  ...real,
  create: (...args) => made(real.create(...args)),
  append: (...args) => made(real.append(...args)),
  rename: (...args) => made(real.rename(...args)),
  remove: (...args) => made(real.remove(...args)),
};
const { config } = parseConfig('', 'guild.yaml', {});
const disk = watchedDisk(dying, lateHistory({ root, config, env: process.env }));
const at = (file: string): string => path.join(root, file);
disk.create(at('tasks/active/a.json'), Buffer.from('{}'));
disk.create(at('memory/a.md'), Buffer.from('a fact'));
disk.create(at('results/a.md'), Buffer.from('done'));
disk.append(at('tasks/plan.task.md'), Buffer.from('- [x] a\n'));
disk.rename(at('tasks/active/a.json'), at('tasks/completed/a.json'));
disk.remove(at('tasks/pending/old.json'));
