/**
 * Undo: lists the files that differ from an old commit and restores them. Event records and
 * incoming messages are left alone.
 */
import fs from 'node:fs';
import path from 'node:path';
import { ProblemError, problem } from '../../domain/problem.js';
import type { Commit, FileChange } from '../../ports/history.js';
import { staysAfterUndo } from './kept-out.js';
import { readCommit } from './log.js';
import type { RunGit } from './program.js';
import { must } from './stage.js';

const CHANGES: Record<string, FileChange['change']> = { A: 'brought back', D: 'taken away' };

export async function changedFiles(
  { onFiles, head }: { onFiles: RunGit; head: { commit: string } },
  to: string,
  now = head.commit,
): Promise<{ commit: Commit; files: FileChange[] }> {
  const id = await resolve(onFiles, to, head.commit);
  const diff = must(await onFiles(['diff-tree', '-r', '-z', '--no-renames', '--name-status', now, id]));
  const fields = diff.out.split('\0');
  const files: FileChange[] = [];
  for (let i = 0; i + 1 < fields.length; i += 2) {
    const name = fields[i + 1]!;
    if (!staysAfterUndo(name)) files.push({ path: name, change: CHANGES[fields[i]!] ?? 'changed' });
  }
  return { commit: await readCommit(onFiles, id), files };
}

async function resolve(onFiles: RunGit, to: string, head: string): Promise<string> {
  const unknown = (): ProblemError =>
    new ProblemError(
      problem('not_found', `unknown commit ${JSON.stringify(to)}`, {
        hint: 'guild log lists the commits',
      }),
    );
  // Accept an id or HEAD~n, and nothing that could be an option or another branch.
  if (!/^(?:[0-9a-f]{4,64}|HEAD(?:[~^]\d{0,6}){1,20})$/.test(to)) throw unknown();
  const result = await onFiles(['rev-parse', '--verify', '-q', `${to.replace(/^HEAD/, head)}^{commit}`]);
  if (result.code !== 0) throw unknown();
  const id = result.out.trim();
  if ((await onFiles(['merge-base', '--is-ancestor', id, head])).code !== 0) throw unknown();
  return id;
}

export async function restoreFiles(
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
  must(await onFiles(args, { env, input: names.map((name) => `${name}\0`).join('') }));
  for (const name of names) {
    const after = nameAfter(name);
    const from = path.join(root, name);
    if (after !== name && fs.existsSync(from)) fs.renameSync(from, path.join(root, after));
  }
}
