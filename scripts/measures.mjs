/**
 * `npm run measures`: measures of the source tree, at a git revision and now, side by side.
 *   --base REV      the revision to compare with (default 3cfc890), or none
 *   --places WORD   also lists the places counted now for measures whose name contains WORD
 *   --json          everything as JSON
 */
import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { parseArgs } from 'node:util';
import { fail, ROOT, setup } from './setup.mjs';

const { values } = parseArgs({
  options: {
    base: { type: 'string', default: '3cfc890' },
    places: { type: 'string' },
    json: { type: 'boolean', default: false },
  },
});

setup({ build: true });
const { measureTree } = await import('../dist/test/kit/source/measures.js');
const now = measureTree(ROOT);
const then = values.base === 'none' ? undefined : measuredAt(values.base);

if (values.json) process.stdout.write(`${JSON.stringify({ base: values.base, then, now }, null, 2)}\n`);
else print();

function measuredAt(revision) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'guild-measures-'));
  try {
    const tree = path.join(folder, 'tree.tar');
    execFileSync('git', ['archive', '-o', tree, revision], { cwd: ROOT, stdio: ['ignore', 'ignore', 'pipe'] });
    execFileSync('tar', ['-xf', tree, '-C', folder]);
    return measureTree(folder);
  } catch (error) {
    return fail(`the tree at ${revision} cannot be read: ${error.message.split('\n')[0]}`);
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

function print() {
  const rows = now.map(({ name, value }) => [name, then?.find((measure) => measure.name === name)?.value ?? '', value]);
  const table = [['', then ? values.base : '', 'now'], ...rows];
  const [first, second] = [0, 1].map((column) => Math.max(...table.map((row) => row[column].length)));
  for (const [name, old, value] of table)
    process.stdout.write(`${name.padEnd(first)}  ${old.padStart(second)}  ${value}\n`);
  for (const { name, places = [] } of now) {
    if (values.places === undefined || !name.includes(values.places) || places.length === 0) continue;
    process.stdout.write(`\n${name}:\n${places.map((place) => `  ${place}\n`).join('')}`);
  }
}
