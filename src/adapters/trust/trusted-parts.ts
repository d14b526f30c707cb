/**
 * Parts of guild.yaml that count only if a person has trusted them, for code that opens no
 * workspace. The address of a store gets the user's password and everything that agents do. History
 * on the branch that is checked out is published by the next push.
 */
import fs from 'node:fs';
import type { Acting } from '../../domain/consent/trust.js';
import { problemError } from '../../domain/problem.js';
import type { Disk } from '../../ports/disk.js';
import { trustRecords } from './records.js';
import { stateFolder } from './state-folder.js';

type Env = Readonly<Record<string, string | undefined>>;

/** Throws a ProblemError unless this address is trusted in the workspace at `root`. */
export function requireTrustedStore(disk: Disk, root: string, env: Env, address: string): void {
  if (trustedIn(disk, root, env)?.store === address) return;
  throw problemError('not_allowed', `the store ${address} of this workspace is not trusted yet, so it is not opened`, {
    where: { file: 'guild.yaml' },
    hint: 'guild trust shows it and asks; an address in GUILD_STORE is your own',
  });
}

export function isBranchTrusted(disk: Disk, root: string, env: Env): boolean {
  return trustedIn(disk, root, env)?.loosened?.branch === true;
}

function trustedIn(disk: Disk, root: string, env: Env): Acting | undefined {
  return trustRecords(disk, stateFolder(env)).read(fs.realpathSync(root))?.trusted?.acting;
}
