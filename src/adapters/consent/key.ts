/**
 * The key with which a person's answers are signed: Ed25519, so that a party that can verify an
 * answer cannot give one. There is one for each user and machine.
 */
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  randomBytes,
  type KeyObject,
} from 'node:crypto';
import path from 'node:path';
import { problem, ProblemError, type Problem } from '../../domain/problem.js';
import type { Disk } from '../../ports/disk.js';

/** Reads the key, or makes one if there is none. Throws a ProblemError if it cannot be used. */
export function readKey(disk: Disk, file: string): KeyObject {
  const known = parse(disk, file);
  if (known !== undefined) return known;
  disk.makeFolder(path.dirname(file), 0o700);
  const { privateKey } = generateKeyPairSync('ed25519');
  const tmp = `${file}.${randomBytes(6).toString('hex')}`;
  disk.create(tmp, privateKey.export({ type: 'pkcs8', format: 'pem' }));
  try {
    disk.syncNow(tmp);
    // Another process may make one at the same moment; the first counts.
    disk.link(tmp, file);
    disk.syncNow(path.dirname(file));
  } finally {
    disk.remove(tmp);
  }
  return parse(disk, file) ?? privateKey;
}

/** The part of the key that others may know, as PEM. */
export function publicKey(disk: Disk, file: string): string {
  return createPublicKey(readKey(disk, file)).export({ type: 'spki', format: 'pem' }).toString();
}

function parse(disk: Disk, file: string): KeyObject | undefined {
  const read = disk.read(file, 4096);
  if (read.kind === 'missing') return undefined;
  try {
    if (read.kind === 'file') {
      const key = createPrivateKey(read.bytes);
      if (key.asymmetricKeyType === 'ed25519') return key;
    }
  } catch {
    // Reported below.
  }
  throw new ProblemError(unusable(file));
}

function unusable(file: string): Problem {
  return problem('bad_file', `${file} does not hold an Ed25519 key, so no answer can be signed or verified`, {
    where: { file },
    hint: 'restore it from a backup; or move it away: a new key is made, and you are asked again',
  });
}

/** For recordings, so that a replay signs with the same bytes. */
export function keyFromSeed(seed: string): KeyObject {
  const start = Buffer.from('302e020100300506032b657004220420', 'hex');
  const secret = createHash('sha256').update(`guild key ${seed}`).digest();
  return createPrivateKey({ key: Buffer.concat([start, secret]), format: 'der', type: 'pkcs8' });
}
