/** Commits as git tells them, newest first. */
import type { Commit } from '../../ports/history.js';
import type { RunGit } from './program.js';
import { must } from './stage.js';

const FORMAT = '--format=%H%x00%cI%x00%s%x00%b%x00';

export async function readLog(
  onFiles: RunGit,
  head: string,
  { limit = 50, task }: { limit?: number; task?: string },
): Promise<Commit[]> {
  const most = Math.max(1, Math.floor(limit));
  if (task === undefined) return parse(must(await onFiles(['log', FORMAT, `-${most}`, head])).out);
  // Git finds the text, we see whether it is that very task or one under it.
  const found = await onFiles(['log', FORMAT, '--fixed-strings', `--grep=${task}`, `-${most * 10 + 100}`, head]);
  const names = new RegExp(
    `(?:^|[\\s,])${task.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}(?=$|[\\s,:]|\\.[A-Za-z0-9_])`,
    'm',
  );
  return parse(must(found).out)
    .filter((one) => names.test(one.subject) || names.test(one.body))
    .slice(0, most);
}

export async function readOne(onFiles: RunGit, id: string): Promise<Commit> {
  return parse(must(await onFiles(['log', FORMAT, '-1', id])).out)[0]!;
}

function parse(out: string): Commit[] {
  const parts = out.split('\0');
  const commits: Commit[] = [];
  for (let i = 0; i + 3 < parts.length; i += 4) {
    const [id, at, subject, body] = parts.slice(i, i + 4) as [string, string, string, string];
    commits.push({ id: id.trim(), at: new Date(at).toISOString(), subject, body: body.trimEnd() });
  }
  return commits;
}
