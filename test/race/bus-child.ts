/**
 * One process of the bus race: it writes notes, or reads them and logs what it read to a file.
 * `tell <root> <name> <notes>` · `read <root> <name> <readers> <until>`, until each reader has read
 * `until` notes.
 */
import fs from 'node:fs';
import { bus } from '../../src/adapters/bus/index.js';
import { clock } from '../../src/adapters/clock/index.js';
import { disk } from '../../src/adapters/disk/index.js';
import { note } from '../contract/bus.js';

const [verb, root = '', name = '', count = '0', until = '0'] = process.argv.slice(2);
const local = bus({ root, disk: disk(), clock: clock(), segmentBytes: 20_000 });

if (verb === 'tell') await tell();
else await read();

/**
 * Writes batches of one to five notes, some twice. After a kill it starts over with the same ids.
 */
async function tell(): Promise<void> {
  const at = new Date().toISOString();
  for (let n = 0; n < Number(count);) {
    const size = 1 + (n % 5);
    const batch = Array.from({ length: Math.min(size, Number(count) - n) }, (_, i) => note(`${name}-${n + i}`, { at }));
    await local.tell(batch, { durable: n % 7 === 0 });
    if (n % 11 === 0) await local.tell(batch);
    n += batch.length;
    process.stdout.write(`wrote ${n}\n`);
  }
}

/** Logs notes before marking them as done, like the engine: a kill in between reads them again. */
async function read(): Promise<void> {
  const readers = Array.from({ length: Number(count) }, (_, i) => `${name}-${i}`);
  const open = new Set(readers);
  while (open.size > 0) {
    for (const reader of [...open]) {
      const notes = local.unread('news', reader, 200);
      if (notes.length === 0) {
        if (heard(reader).size >= Number(until)) open.delete(reader);
        continue;
      }
      fs.appendFileSync(fileOf(reader), notes.map(({ id }) => `\n${id};\n`).join(''));
      await local.done(
        'news',
        reader,
        notes.map(({ id }) => id),
      );
      process.stdout.write(`read ${notes.length}\n`);
    }
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

function fileOf(reader: string): string {
  return `${root}/heard-${reader}`;
}

function heard(reader: string): Set<string> {
  if (!fs.existsSync(fileOf(reader))) return new Set();
  return new Set(fs.readFileSync(fileOf(reader), 'utf8').match(/^\S+;$/gm));
}
