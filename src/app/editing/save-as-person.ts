/**
 * Saves a file of the workspace as an editor would, for a person who saw its text. If the file has
 * another text by now, nothing is written.
 */
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { disk as realDisk } from '../../adapters/disk/index.js';

/** False if the file no longer has the text `seen`, or exists although `seen` is undefined. */
export async function saveAsPerson(
  root: string,
  file: string,
  seen: string | undefined,
  text: string,
): Promise<boolean> {
  const disk = realDisk();
  const full = path.join(path.resolve(root), file);
  const folder = path.dirname(full);
  const temp = path.join(folder, `.${path.basename(full)}.${randomBytes(6).toString('hex')}`);
  disk.makeFolder(folder);
  disk.create(temp, text);
  try {
    await disk.sync(temp);
    if (seen === undefined) {
      if (!disk.link(temp, full)) return false;
    } else {
      const now = disk.read(full);
      if (now.kind !== 'file' || now.bytes.toString('utf8') !== seen) return false;
      disk.rename(temp, full);
    }
  } finally {
    disk.remove(temp);
  }
  await disk.syncFolder(folder);
  return true;
}
