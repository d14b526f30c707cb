/** Going back: which files differ from an old commit, and those files as they were. Records and what came from outside stay. */
import fs from 'node:fs';
import path from 'node:path';
import { ProblemError, problem } from '../../domain/problem.js';
import type { Commit, FileChange } from '../../ports/history.js';
import { staysAfterUndo } from './kept-out.js';
import { readOne } from './log.js';
import type { RunGit } from './program.js';
import { must } from './stage.js';

const WORDS: Record<string, FileChange['change']> = { A: 'brought back', D: 'taken away' };

export async function changedFiles(
  { onFiles, head }: { onFiles: RunGit; head: { commit: string } },
  to: string,
  now = head.commit,
): Promise<{ commit: Commit; files: FileChange[] }> {
  const id = await resolve(onFiles, to, head.commit);
  const differ = must(await onFiles(['diff-tree', '-r', '-z', '--no-renames', '--name-status', now, id]));
  const parts = differ.out.split('\0');
  const files: FileChange[] = [];
  for (let i = 0; i + 1 < parts.length; i += 2) {
    const name = parts[i + 1]!;
    if (!staysAfterUndo(name)) files.push({ path: name, change: WORDS[parts[i]!] ?? 'changed' });
  }
  return { commit: await readOne(onFiles, id), files };
}

async function resolve(onFiles: RunGit, to: string, head: string): Promise<string> {
  const unknown = (): ProblemError =>
    new ProblemError(
      problem('not_found', `${JSON.stringify(to)} is no commit of this history`, {
        hint: 'guild log shows the commits',
      }),
    );
  // An id, or a way back from the last commit; nothing that could be an option or another branch.
  if (!/^(?:[0-9a-f]{4,64}|HEAD(?:[~^]\d{0,6}){1,20})$/.test(to)) throw unknown();
  const found = await onFiles(['rev-parse', '--verify', '-q', `${to.replace(/^HEAD/, head)}^{commit}`]);
  if (found.code !== 0) throw unknown();
  const id = found.out.trim();
  if ((await onFiles(['merge-base', '--is-ancestor', id, head])).code !== 0) throw unknown();
  return id;
}

export async function bringBack(
  onFiles: RunGit,
  root: string,
  index: string,
  commit: string,
  names: readonly string[],
  nameAfter: (path: string) => string,
): Promise<void> {
  const args = [
    'restore',
    `--source=${commit}`,
    '--staged',
    '--worktree',
    '--pathspec-from-file=-',
    '--pathspec-file-nul',
  ];
  const env = { GIT_INDEX_FILE: index, GIT_LITERAL_PATHSPECS: '1' };
  must(await onFiles(args, { env, input: names.map((one) => `${one}\0`).join('') }));
  for (const name of names) {
    const after = nameAfter(name);
    const from = path.join(root, name);
    if (after !== name && fs.existsSync(from)) fs.renameSync(from, path.join(root, after));
  }
}
