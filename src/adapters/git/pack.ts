/** Packs loose objects, as `git gc` would: every commit adds a few files to the object folder. */
import fs from 'node:fs';
import path from 'node:path';
import type { RunGit } from './program.js';

/** Objects spread evenly over 256 folders, so one folder is a fair sample. */
const MAX_IN_SAMPLE = 12;

export async function packIfMany(onRefs: RunGit, commonDir: string): Promise<void> {
  const sample = path.join(commonDir, 'objects', '17');
  if (!fs.existsSync(sample) || fs.readdirSync(sample).length < MAX_IN_SAMPLE) return;
  await onRefs(['repack', '-d', '-q', '-l']);
}
