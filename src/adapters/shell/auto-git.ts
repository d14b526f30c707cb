/**
 * Git in a command that runs without approval. It reads the repository of the agent's folder, with
 * our settings, and starts no program: no external diff, no text conversion, no submodule.
 */
import path from 'node:path';
import { SAFE_GIT } from './environment.js';

const NO_PROGRAMS: Record<string, string[]> = {
  diff: ['--no-ext-diff', '--no-textconv'],
  log: ['--no-ext-diff', '--no-textconv'],
  status: ['--ignore-submodules=all'],
};

/** Leaves other commands as they are, and also Git commands that have global options. */
export function autoArgv(argv: readonly string[], { root, home }: { root: string; home: string }): string[] {
  const [name, ...words] = argv;
  const at = words.findIndex((word) => word !== '--no-pager' && word !== '-P');
  const verb = words[at];
  if (name !== 'git' || verb === undefined || verb.startsWith('-')) return [...argv];
  const where = ['-C', home, `--git-dir=${path.join(home, '.git')}`, `--work-tree=${home}`];
  const rest = words.slice(at + 1).map((word) => ownPath(word, root, home));
  return ['git', '--no-pager', ...SAFE_GIT, ...where, verb, ...(NO_PROGRAMS[verb] ?? []), ...rest];
}

/** Paths are relative to the workspace, and Git runs in the agent's folder. */
function ownPath(word: string, root: string, home: string): string {
  if (word.startsWith('-')) return word;
  const file = path.resolve(root, word);
  return file === home || file.startsWith(`${home}/`) ? file : word;
}
