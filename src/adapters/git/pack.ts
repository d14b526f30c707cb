/** Every commit leaves a few files in the object folder. When they are many they become one, as git itself would do it. */
import fs from 'node:fs';
import path from 'node:path';
import type { RunGit } from './program.js';

/** Objects are spread evenly over 256 folders, so one of them tells how many there are. */
const MANY_IN_ONE = 12;

export async function packIfMany(onRefs: RunGit, commonDir: string): Promise<void> {
  const sample = path.join(commonDir, 'objects', '17');
  if (!fs.existsSync(sample) || fs.readdirSync(sample).length < MANY_IN_ONE) return;
  await onRefs(['repack', '-d', '-q', '-l']);
}
