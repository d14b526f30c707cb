/**
 * A process that claims as fast as it can: `ours|raw <folder> <offset from 0 to 1>`. All processes
 * start on the same message, at different offsets of the same list, and go through it once.
 * The process reports when it started and ended, and how many tasks it claimed.
 */
import fs from 'node:fs';
import path from 'node:path';
import { AGENT } from '../harness/workspace.js';

const [kind, root, offset] = process.argv.slice(2) as [string, string, string];
const pending = path.join(root, 'tasks/pending');
const active = path.join(root, 'tasks/active');
fs.mkdirSync(active, { recursive: true });
const names = fs.readdirSync(pending).sort();
const first = Math.floor(names.length * Number(offset));
const order = [...names.slice(first), ...names.slice(0, first)];
const claim = kind === 'raw' ? rawClaim() : await ourClaim();

process.once('message', () => void race());
process.send!('ready');

async function race(): Promise<void> {
  const from = Date.now();
  let won = 0;
  for (const name of order) if (await claim(name)) won++;
  process.send!({ from, to: Date.now(), won }, () => process.exit());
}

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

async function ourClaim(): Promise<(name: string) => Promise<boolean>> {
  // Imported here, because a process that only renames must not pay for it.
  const { openReader } = await import('../../src/app/readers/open-reader.js');
  const store = openReader(root);
  await store.tasks.scan(true);
  return async (name) => (await store.tasks.claim(name.slice(0, -5), AGENT)) !== undefined;
}
