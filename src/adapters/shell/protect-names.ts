/**
 * Names at the top of the workspace that no command may create. Missing standard folders are made
 * first, so that the sandbox can mount them read-only. The other names cannot be mounted while they
 * are missing: a file that appears under one of them is moved to quarantine when the command has
 * ended.
 */
import fs from 'node:fs';
import path from 'node:path';
import { MADE_FOLDERS, READ_ONLY } from './visible-files.js';

interface ProtectedNames {
  /** Returns a note if the command created one of the names. */
  check(): string | undefined;
}

export function protectNames(root: string): ProtectedNames {
  for (const name of MADE_FOLDERS)
    if (!exists(path.join(root, name))) fs.mkdirSync(path.join(root, name), { mode: 0o700 });
  const missing = [...READ_ONLY, '.git', '.guild'].filter((name) => !exists(path.join(root, name)));
  return {
    check() {
      const created = missing.filter((name) => exists(path.join(root, name)));
      const moved = created.map((name) => {
        const to = `quarantine/${name}.${Date.now().toString(36)}`;
        fs.mkdirSync(path.join(root, 'quarantine'), { recursive: true, mode: 0o700 });
        fs.renameSync(path.join(root, name), path.join(root, to));
        return `${name} (now ${to})`;
      });
      return moved.length === 0
        ? undefined
        : `commands may not create these, so they were moved away: ${moved.join(', ')}`;
    },
  };
}

function exists(file: string): boolean {
  return fs.lstatSync(file, { throwIfNoEntry: false }) !== undefined;
}
