/**
 * Notices that guild.yaml was edited under a process that goes on with it as it was: its limits and models are those its work began with.
 * Each change is told once, and so is a mistake in it, before somebody starts a process and meets it.
 */
import path from 'node:path';
import { disk } from '../adapters/disk/index.js';
import { problem, type Problem } from '../domain/problem.js';
import { CONFIG_FILE, readConfig } from './readers/read-config.js';

/** To be asked as often as one likes: what has changed since it was last asked, if anything has. */
export function configChange(root: string, env: Record<string, string | undefined>): () => Problem | undefined {
  const on = disk();
  const file = path.join(root, CONFIG_FILE);
  let stamp = on.stamp(file);
  let text = textOf();

  return () => {
    const now = on.stamp(file);
    if (now === stamp) return undefined;
    stamp = now;
    const before = text;
    text = textOf();
    if (text === before) return undefined;
    const { unreadable } = readConfig(on, root, env);
    const what = `${CONFIG_FILE} ${text === undefined ? 'is gone' : 'changed'}`;
    if (unreadable === undefined)
      return problem('bad_file', `${what}: this takes effect when guild is started again`, {
        where: { file: CONFIG_FILE },
      });
    const { message, where, hint } = unreadable;
    return problem('bad_file', `${what}, and no guild could be started with it: ${message}`, {
      ...(where === undefined ? {} : { where }),
      ...(hint === undefined ? {} : { hint }),
    });
  };

  function textOf(): string | undefined {
    const read = on.read(file, MOST_BYTES);
    return read.kind === 'file' ? read.bytes.toString('utf8') : undefined;
  }
}

/** As much as is read of it at all. */
const MOST_BYTES = 1024 * 1024;
