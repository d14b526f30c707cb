/** Reads the script of a scripted model, which nobody has to trust. */
import fs from 'node:fs';
import path from 'node:path';
import { attempt } from '../../domain/attempt.js';
import type { Disk } from '../../ports/disk.js';
import { judgePath } from '../../rules/policy/paths.js';

/**
 * Only files that every agent may read, because problems quote them; undefined for any other. A
 * file is read again when it changes.
 */
export function scriptReader(disk: Disk, root: string): (name: string) => string | undefined {
  const texts = new Map<string, { stamp: string; text: string }>();
  return (name) => {
    const file = path.resolve(root, name);
    const before = texts.get(file);
    if (before !== undefined && before.stamp === disk.glance(file)) return before.text;
    const real = (each: string): string => attempt(() => fs.realpathSync.native(each), each);
    const inside = path.relative(real(root), real(file));
    if (judgePath({ agent: '', use: 'read', path: inside, kind: 'file' }).verdict !== 'ok') return undefined;
    const read = disk.read(file);
    if (read.kind !== 'file') return undefined;
    const text = read.bytes.toString('utf8');
    texts.set(file, { stamp: read.stamp, text });
    return text;
  };
}
