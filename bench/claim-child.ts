/**
 * One process that claims as fast as it can: `ours|raw <folder> <start ms> <part>`. All processes know the same tasks, begin at the
 * same moment and at different places of the list, and go once around. Prints when it began, when it ended, and how many it won.
 */
import fs from 'node:fs';
import path from 'node:path';
import { openReader } from '../src/app/open-reader.js';
import { AGENT } from './workspace.js';

const [kind, root, start, part] = process.argv.slice(2) as [string, string, string, string];
const pending = path.join(root, 'tasks/pending');
const active = path.join(root, 'tasks/active');
fs.mkdirSync(active, { recursive: true });
const names = fs.readdirSync(pending).sort();
const first = Math.floor(names.length * Number(part));
const order = [...names.slice(first), ...names.slice(0, first)];
const claim = kind === 'raw' ? rawClaim() : await ourClaim();

while (Date.now() < Number(start));
if (Date.now() > Number(start) + 50) throw new Error('the start was missed; the machine is too busy');
const from = performance.timeOrigin + performance.now();
let won = 0;
for (const name of order) if (claim(name)) won++;
process.stdout.write(`${JSON.stringify({ from, to: performance.timeOrigin + performance.now(), won })}\n`);
process.exit();

function rawClaim(): (name: string) => boolean {
  return (name) => {
    try {
      fs.renameSync(path.join(pending, name), path.join(active, `${name.slice(0, -5)}_${AGENT}-${process.pid}.json`));
      return true;
    } catch {
      return false;
    }
  };
}

async function ourClaim(): Promise<(name: string) => boolean> {
  const store = openReader(root);
  await store.scan(true);
  return (name) => store.claim(name.slice(0, -5), AGENT) !== undefined;
}
