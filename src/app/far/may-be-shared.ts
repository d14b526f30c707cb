/** A quick look at whether the work of a workspace is in a shared store. */
import type { Env } from '../../domain/config/env.js';
import path from 'node:path';
import type { Disk } from '../../ports/disk.js';

/**
 * Parsing `guild.yaml` takes most of the time of a short command, so its text is searched first.
 */
export function mayBeShared(disk: Disk, root: string, env: Env = process.env): boolean {
  if (env['GUILD_STORE']) return true;
  const read = disk.read(path.join(root, 'guild.yaml'));
  return read.kind === 'file' && /^\s*["']?store["']?\s*:/m.test(read.bytes.toString('utf8'));
}
