/** Reads commits from `git log`, newest first. */
import type { Commit } from '../../ports/history.js';
import type { RunGit } from './program.js';
import { must } from './stage.js';

const FORMAT = '--format=%H%x00%cI%x00%s%x00%b%x00';

export async function readLog(
  onFiles: RunGit,
  head: string,
  { limit = 50, task }: { limit?: number; task?: string },
): Promise<Commit[]> {
  const max = Math.max(1, Math.floor(limit));
  if (task === undefined) return parse(must(await onFiles(['log', FORMAT, `-${max}`, head])).out);
  // Git finds the text; the pattern below keeps this task and its descendants only.
  const result = await onFiles(['log', FORMAT, '--fixed-strings', `--grep=${task}`, `-${max * 10 + 100}`, head]);
  const mentions = new RegExp(
    `(?:^|[\\s,])${task.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}(?=$|[\\s,:]|\\.[A-Za-z0-9_])`,
    'm',
  );
  return parse(must(result).out)
    .filter((commit) => mentions.test(commit.subject) || mentions.test(commit.body))
    .slice(0, max);
}

export async function readCommit(onFiles: RunGit, id: string): Promise<Commit> {
  return parse(must(await onFiles(['log', FORMAT, '-1', id])).out)[0]!;
}

function parse(out: string): Commit[] {
  const fields = out.split('\0');
  const commits: Commit[] = [];
  for (let i = 0; i + 3 < fields.length; i += 4) {
    const [id, at, subject, body] = fields.slice(i, i + 4) as [string, string, string, string];
    commits.push({ id: id.trim(), at: new Date(at).toISOString(), subject, body: body.trimEnd() });
  }
  return commits;
}
