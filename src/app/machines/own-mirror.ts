/**
 * Ties a mirrored folder to the record of what it shows. The record is in the user's state folder,
 * and the folder has only its random name. So a folder that was cloned or copied, or made again
 * after it was removed, has no record: nothing in it counts as a change of this person.
 */
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { disk } from '../../adapters/disk/index.js';
import type { Env } from '../../domain/config/env.js';
import { problemError } from '../../domain/problem.js';
import { keptFolder, lookAtTrust } from '../trust/trust.js';
import { replace, writeShown } from './mirror/shown-record.js';

const NAME = '.guild/sync/mirror';
/** Earlier versions kept the whole record here. */
const OLD_RECORD = '.guild/sync/shown.json';

/**
 * The file of the record; created empty for a folder without one. Throws a ProblemError if the
 * folder mirrors a store for somebody else and `mustBeOwn`.
 */
export function ownMirror(
  root: string,
  env: Env,
  { workspace, mustBeOwn }: { workspace: string; mustBeOwn: boolean },
): string {
  const kept = path.join(keptFolder(lookAtTrust(root, env).record, env), 'mirrors');
  const fileOf = (name: string): string => path.join(kept, `${name}.json`);
  const read = disk().read(path.join(root, NAME), 100);
  const name = read.kind === 'file' ? read.bytes.toString('utf8').trim() : '';
  if (/^[0-9a-f]{32}$/.test(name) && fs.existsSync(fileOf(name))) return fileOf(name);
  const foreign =
    read.kind === 'missing' ? (fs.existsSync(path.join(root, OLD_RECORD)) ? OLD_RECORD : undefined) : NAME;
  if (foreign !== undefined && mustBeOwn)
    throw problemError('store_refused', 'this folder shows a store, but not as this user synced it on this machine', {
      where: { file: foreign },
      hint: 'sync into a new folder, guild sync <dir>: the store has everything',
    });
  const fresh = randomBytes(16).toString('hex');
  // The record is written first: a name without a record looks like a copy.
  writeShown(fileOf(fresh), { workspace, marks: {}, bases: {} });
  replace(path.join(root, NAME), `${fresh}\n`, { mode: 0o600 });
  return fileOf(fresh);
}
