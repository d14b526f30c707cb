/**
 * The folder that `guild sync DIR` makes beside a checkout. It contains the checkout's definitions
 * and gets newer ones when the command is run again. A file that a person changed there is kept.
 */
import type { Env } from '../../domain/config/env.js';
import { parseMapping } from '../../domain/mapping.js';
import fs from 'node:fs';
import path from 'node:path';
import { disk } from '../../adapters/disk/index.js';
import { folders, layout } from '../../adapters/files/base/layout.js';
import { problem, ProblemError, type Problem } from '../../domain/problem.js';
import { definitionFiles, isOwnPlace } from '../../adapters/definitions/state-files.js';
import { acceptTrust, lookAtTrust } from '../trust/trust.js';
import { sumOf } from './mirror/rendered.js';
import { storeAddress } from './store-address.js';

/** The checksum that each definition had when it was copied. */
const COPIED = '.guild/sync/definitions.json';

/** Returns the definitions that differ from the checkout's because a person changed them. */
export function prepareFolder(root: string, target: string, env: Env): string[] {
  const kept = target === root ? [] : copyDefinitions(root, target, env);
  for (const folder of folders(layout(target))) fs.mkdirSync(folder, { recursive: true });
  return kept;
}

function copyDefinitions(root: string, target: string, env: Env): string[] {
  const copied = readCopied(target);
  // The target is itself a checkout.
  if (copied === undefined && fs.existsSync(path.join(target, 'guild.yaml'))) return [];
  storeAddress(root, env); // throws unless the address is trusted, before any folder is created
  if (!isOwnPlace(target, COPIED)) throw new ProblemError(linked());
  const isOurs = copied !== undefined || !fs.existsSync(target) || fs.readdirSync(target).length === 0;
  const sums: Record<string, string> = {};
  const kept: string[] = [];
  const bytesAt = (file: string): Buffer | undefined => {
    const read = disk().read(path.join(target, file));
    return read.kind === 'file' ? read.bytes : undefined;
  };
  const isChanged = (file: string): boolean => {
    const there = bytesAt(file);
    return there !== undefined && sumOf(there) !== copied?.[file];
  };
  for (const file of definitionFiles(root)) {
    const bytes = fs.readFileSync(path.join(root, file));
    sums[file] = sumOf(bytes);
    if (bytesAt(file)?.equals(bytes)) continue;
    if (!isOwnPlace(target, file) || isChanged(file)) kept.push(file);
    else copy(path.join(root, file), path.join(target, file));
  }
  for (const file of Object.keys(copied ?? {})) {
    if (file in sums || bytesAt(file) === undefined) continue;
    if (isChanged(file)) kept.push(file);
    else fs.rmSync(path.join(target, file));
  }
  fs.mkdirSync(path.join(target, path.dirname(COPIED)), { recursive: true, mode: 0o700 });
  for (const file of kept) sums[file] = copied?.[file] ?? '';
  fs.writeFileSync(path.join(target, COPIED), JSON.stringify(sums));
  if (isOurs && kept.length === 0) trustCopy(root, target, env);
  return kept;
}

function linked(): Problem {
  return problem('not_allowed', `${COPIED} is not a plain file of this folder, so nothing is written there`, {
    where: { file: COPIED },
    hint: 'sync into a new folder: guild sync <dir>',
  });
}

function copy(from: string, to: string): void {
  fs.mkdirSync(path.dirname(to), { recursive: true });
  fs.copyFileSync(from, to);
}

/** The folder acts exactly as the checkout does, so trust in the checkout covers the folder. */
function trustCopy(root: string, target: string, env: Env): void {
  const { state, digest } = lookAtTrust(root, env);
  if (state === 'trusted' && lookAtTrust(target, env).digest === digest) acceptTrust(target, env, { digest });
}

/** Undefined if the folder was not made here. The record may have come with the folder. */
function readCopied(target: string): Record<string, string> | undefined {
  const read = disk().read(path.join(target, COPIED));
  if (read.kind !== 'file') return undefined;
  const sums = parseMapping(read.bytes.toString('utf8'));
  if (sums === undefined) return undefined;
  const isSum = (entry: [string, unknown]): entry is [string, string] =>
    typeof entry[1] === 'string' && isOwnPlace(target, entry[0]);
  return Object.fromEntries(Object.entries(sums).filter(isSum));
}
