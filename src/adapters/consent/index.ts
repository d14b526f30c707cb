/**
 * Consent as files in the user's state folder: the key, one empty file for each request that was
 * shown, and one for each approved action that was started.
 */
import { createHash, createPublicKey, sign as signBytes, verify, type KeyObject } from 'node:crypto';
import path from 'node:path';
import { attempt } from '../../domain/attempt.js';
import { sealedText, signedText } from '../../domain/consent/signed.js';
import type { Consent } from '../../ports/consent/index.js';
import type { Disk } from '../../ports/disk.js';
import { readKey } from './key.js';

export { keyFromSeed, publicKey } from './key.js';

interface ConsentOptions {
  disk: Disk;
  folder: string;
  /** The id of its trust record. */
  workspace: string;
  keyFile: string;
}

export function consent({ disk, folder, workspace, keyFile }: ConsentOptions): Consent {
  const signatures = signing(workspace, () => readKey(disk, keyFile));
  const known = new Set<string>();
  const shown = (id: string, digest: string): string => path.join(folder, 'shown', nameOf(`${id} ${digest}`));
  return {
    ...signatures,
    hasShown(id, digest) {
      const file = shown(id, digest);
      if (!known.has(file) && disk.stamp(file) !== undefined) known.add(file);
      return known.has(file);
    },
    async noteShown(entries) {
      for (const { id, digest } of entries) {
        const file = shown(id, digest);
        if (known.has(file)) continue;
        await createOnce(file);
        known.add(file);
      }
    },
    begin: (id) => createOnce(path.join(folder, 'started', nameOf(id))),
  };

  /** False if it exists. Durable when resolved. */
  async function createOnce(file: string): Promise<boolean> {
    disk.makeFolder(path.dirname(file), 0o700);
    const isNew = disk.create(file, '');
    await disk.sync(file);
    await disk.syncFolder(path.dirname(file));
    return isNew;
  }
}

/**
 * For a recording or a replay: nothing outside the folder is touched. `isKnown`: whether an answer
 * that was signed elsewhere counts.
 */
export function memoryConsent(key: KeyObject, isKnown: Consent['isSigned'] = () => false): Consent {
  const { sign, isSigned, seal } = signing('recording', () => key);
  const shown = new Set<string>();
  const started = new Set<string>();
  return {
    sign,
    isSigned: (given, signature) => isSigned(given, signature) || isKnown(given, signature),
    seal,
    isSealed: () => true,
    hasShown: (id, digest) => shown.has(`${id} ${digest}`),
    async noteShown(entries) {
      for (const { id, digest } of entries) shown.add(`${id} ${digest}`);
    },
    async begin(id) {
      const isNew = !started.has(id);
      started.add(id);
      return isNew;
    },
  };
}

/** The key is read when it is first needed: most runs need none. */
function signing(workspace: string, read: () => KeyObject): Pick<Consent, 'sign' | 'isSigned' | 'seal' | 'isSealed'> {
  let key: KeyObject | undefined;
  let known: KeyObject | undefined;
  const signText = (text: string): string => signBytes(null, Buffer.from(text), (key ??= read())).toString('base64');
  /** Throws if the key cannot be used. */
  const isOf = (text: string, signature: string): boolean => {
    known ??= createPublicKey((key ??= read()));
    return verify(null, Buffer.from(text), known, Buffer.from(signature, 'base64'));
  };
  return {
    sign: (given) => signText(signedText(workspace, given)),
    isSigned(given, signature) {
      if (typeof signature !== 'string') return false;
      // Without a key no signature counts, and `sign` reports the reason.
      return attempt(() => isOf(signedText(workspace, given), signature), false);
    },
    seal: (task, request) => attempt(() => signText(sealedText(workspace, task, request)), ''),
    isSealed: (task, request) => attempt(() => isOf(sealedText(workspace, task, request), request.seal ?? ''), true),
  };
}

function nameOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 40);
}
