/** The Git commit that a folder is a checkout of. Runs nothing that the repository names. */
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { runGit } from '../../adapters/git/repository/program.js';
import { definitionFiles } from '../../adapters/definitions/state-files.js';
import type { Env } from '../../domain/config/env.js';

/**
 * The commit, with a mark if a definition differs from it or is not in it. Undefined if the folder
 * is not a checkout. Filters are not applied, because they are programs: a file that a filter
 * changes counts as different.
 */
export async function checkedOut(root: string, env: Env): Promise<string | undefined> {
  const git = runGit({ cwd: root, env, background: false }, {});
  // A machine without git has no checkout either.
  const said = async (...args: string[]): Promise<string | undefined> => {
    const ran = await git(args).catch(() => undefined);
    return ran?.code === 0 ? ran.out : undefined;
  };
  const [commit, tree] = [await said('rev-parse', '--short=12', 'HEAD'), await said('ls-tree', '-rz', 'HEAD', '.')];
  if (commit === undefined || tree === undefined) return undefined;
  const blobs = new Map(
    tree.split('\0').flatMap((entry): [string, string][] => {
      const [, oid, file] = /^\d+ blob ([0-9a-f]+)\t([^]+)$/.exec(entry) ?? [];
      return oid === undefined || file === undefined ? [] : [[file, oid]];
    }),
  );
  const isSame = (file: string): boolean => {
    const oid = blobs.get(file);
    return oid !== undefined && blobId(fs.readFileSync(path.join(root, file)), oid.length) === oid;
  };
  const name = commit.trim();
  return definitionFiles(root).every(isSame) ? name : `${name} with changes`;
}

/** `length`: the length of an id in the repository, which shows how it hashes. */
function blobId(bytes: Buffer, length: number): string {
  const hash = createHash(length === 64 ? 'sha256' : 'sha1');
  return hash.update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
}
