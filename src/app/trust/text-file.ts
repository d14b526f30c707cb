/** Reads a text that is often missing. In a stranger's folder it may be a pipe or a device. */
import fs from 'node:fs';
import { readRuleFile } from '../../adapters/policy-files/index.js';

/** Undefined if the file does not exist. Throws if it cannot be read. */
export function textIn(file: string, maxBytes?: number): string | undefined {
  // A thrown ENOENT costs more than this check.
  if (fs.lstatSync(file, { throwIfNoEntry: false }) === undefined) return undefined;
  try {
    return readRuleFile(file, maxBytes).toString('utf8');
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw thrown;
  }
}
