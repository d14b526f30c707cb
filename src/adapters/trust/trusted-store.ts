/**
 * The address of a store in guild.yaml counts only if a person has trusted it, because the user's
 * password and everything that agents do are sent there.
 */
import fs from 'node:fs';
import { problemError } from '../../domain/problem.js';
import type { Disk } from '../../ports/disk.js';
import { trustRecords } from './records.js';
import { stateFolder } from './state-folder.js';

type Env = Readonly<Record<string, string | undefined>>;

/** Throws a ProblemError unless this address is trusted in the workspace at `root`. */
export function requireTrustedStore(disk: Disk, root: string, env: Env, address: string): void {
  const record = trustRecords(disk, stateFolder(env)).read(fs.realpathSync(root));
  if (record?.trusted?.acting.store === address) return;
  throw problemError('not_allowed', `the store ${address} of this workspace is not trusted yet, so it is not opened`, {
    where: { file: 'guild.yaml' },
    hint: 'guild trust shows it and asks; an address in GUILD_STORE is your own',
  });
}
