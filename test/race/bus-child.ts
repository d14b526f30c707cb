/**
 * One process of the race: tells its notes on the channel while others do, or reads along and keeps what it read in a file of its own.
 * `tell <root> <name> <notes>` · `read <root> <name> <readers> <until>`: until every reader has read so many.
 */
import fs from 'node:fs';
import { bus } from '../../src/adapters/bus/index.js';
import { clock } from '../../src/adapters/clock/index.js';
import { disk } from '../../src/adapters/disk/index.js';
import { note } from '../contract/bus.js';

const [verb, root = '', name = '', count = '0', until = '0'] = process.argv.slice(2);
const on = bus({ root, disk: disk(), clock: clock(), partBytes: 20_000 });

if (verb === 'tell') await tell();
else await read();

/** In batches of one to five, some told twice, so that a kill may come anywhere. Who comes after a kill begins anew: nothing is told twice. */
async function tell(): Promise<void> {
  const at = new Date().toISOString();
  for (let n = 0; n < Number(count);) {
    const size = 1 + (n % 5);
    const batch = Array.from({ length: Math.min(size, Number(count) - n) }, (_, i) => note(`${name}-${n + i}`, { at }));
    await on.tell(batch, { durable: n % 7 === 0 });
    if (n % 11 === 0) await on.tell(batch);
    n += batch.length;
    process.stdout.write(`told ${n}\n`);
  }
}

/** What was read is written down first and then done, as the engine does it: a kill in between reads it again. */
async function read(): Promise<void> {
  const readers = Array.from({ length: Number(count) }, (_, i) => `${name}-${i}`);
  const open = new Set(readers);
  while (open.size > 0) {
    for (const reader of [...open]) {
      const found = on.unread('news', reader, 200);
      if (found.length === 0) {
        if (heard(reader).size >= Number(until)) open.delete(reader);
        continue;
      }
      fs.appendFileSync(fileOf(reader), found.map(({ id }) => `\n${id};\n`).join(''));
      await on.done(
        'news',
        reader,
        found.map(({ id }) => id),
      );
      process.stdout.write(`read ${found.length}\n`);
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
