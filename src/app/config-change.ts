/**
 * Notices edits of guild.yaml. A running process keeps the configuration that it started with. Each
 * change and each mistake in it is reported once, before the next process starts with it.
 */
import path from 'node:path';
import { disk as realDisk } from '../adapters/disk/index.js';
import { problem, type Problem } from '../domain/problem.js';
import { CONFIG_FILE, readConfig } from './readers/read-config.js';

/**
 * Returns a function that reports the change since its last call, if there is one. Cheap to call.
 */
export function configChange(root: string, env: Record<string, string | undefined>): () => Problem | undefined {
  const disk = realDisk();
  const file = path.join(root, CONFIG_FILE);
  let stamp = disk.stamp(file);
  let text = textOf();

  return () => {
    const now = disk.stamp(file);
    if (now === stamp) return undefined;
    stamp = now;
    const before = text;
    text = textOf();
    if (text === before) return undefined;
    const { unreadable } = readConfig(disk, root, env);
    const what = `${CONFIG_FILE} ${text === undefined ? 'is gone' : 'changed'}`;
    if (unreadable === undefined)
      return problem('bad_file', `${what}: this takes effect when guild is started again`, {
        where: { file: CONFIG_FILE },
      });
    const { message, where, hint } = unreadable;
    return problem('bad_file', `${what}, and guild could not start with it: ${message}`, {
      ...(where === undefined ? {} : { where }),
      ...(hint === undefined ? {} : { hint }),
    });
  };

  function textOf(): string | undefined {
    const read = disk.read(file, MAX_BYTES);
    return read.kind === 'file' ? read.bytes.toString('utf8') : undefined;
  }
}

/** The same limit as `readConfig`. */
const MAX_BYTES = 1024 * 1024;
