/** Each commit leaves a small pack. Many of them are merged in the background. */
import fs from 'node:fs';
import path from 'node:path';
import { attempt } from '../../../domain/attempt.js';
import { HISTORY_REF } from './own.js';
import type { OpenTarget } from './target.js';

const MAX_PACKS = 50;

/**
 * Removes the leftovers of a killed git: locks, half a pack, and marks that would keep its packs
 * from ever being merged. Only the process that may write calls this, and only while no git of its
 * own runs.
 */
export function removeLeftovers(gitDir: string): void {
  const packs = path.join(gitDir, 'objects', 'pack');
  for (const name of [
    ...packFiles(gitDir, '.keep'),
    ...packFiles(gitDir, '').filter((name) => name.startsWith('tmp_')),
  ])
    fs.rmSync(path.join(packs, name), { force: true });
  for (const lock of [HISTORY_REF, 'HEAD', 'packed-refs'])
    fs.rmSync(path.join(gitDir, `${lock}.lock`), { force: true });
}

/** Starts git and does not wait for it: merging is safe beside other commits. */
export function mergePacks({ gitDir, start }: OpenTarget): void {
  if (packFiles(gitDir, '.pack').length < MAX_PACKS) return;
  const child = start(['repack', '-d', '-q', '--geometric=2']);
  child.on('error', () => undefined);
  for (const part of [child, child.stdin, child.stdout, child.stderr] as { unref?(): void }[]) part.unref?.();
  child.stdin.end();
  child.stdout.destroy();
  child.stderr.destroy();
}

function packFiles(gitDir: string, end: string): string[] {
  return attempt(() => fs.readdirSync(path.join(gitDir, 'objects', 'pack')).filter((name) => name.endsWith(end)), []);
}
