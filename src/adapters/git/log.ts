/** Reads commits from `git log`, newest first. */
import { literalPattern } from '../../domain/literal-pattern.js';
import type { Commit } from '../../ports/history.js';
import { must, type RunGit } from './repository/program.js';

const FORMAT = '--format=%H%x00%cI%x00%an%x00%ae%x00%s%x00%b%x00';
const FIELDS = 6;

interface LogOptions {
  limit?: number;
  task?: string;
  /** The program's own address: its commits have no `by`. */
  mail: string;
  /** Only commits of the program. */
  onlyOwn?: boolean;
}

export async function readLog(run: RunGit, head: string, options: LogOptions): Promise<Commit[]> {
  const { limit = 50, task, mail, onlyOwn = false } = options;
  const max = Math.max(1, Math.floor(limit));
  const own = onlyOwn ? [`--committer=<${mail}>`] : [];
  const log = ['log', FORMAT, '--fixed-strings', ...own];
  if (task === undefined) return parse(must(await run([...log, `-${max}`, head])).out, mail);
  // Git finds the text; the pattern below keeps this task and its descendants only.
  const result = await run([...log, ...(onlyOwn ? ['--all-match'] : []), `--grep=${task}`, `-${max * 10 + 100}`, head]);
  const mentions = new RegExp(`(?:^|[\\s,])${literalPattern(task)}(?=$|[\\s,:]|\\.[A-Za-z0-9_])`, 'm');
  return parse(must(result).out, mail)
    .filter((commit) => mentions.test(commit.subject) || mentions.test(commit.body))
    .slice(0, max);
}

export async function readCommit(run: RunGit, id: string, mail: string): Promise<Commit> {
  return parse(must(await run(['log', FORMAT, '-1', id])).out, mail)[0]!;
}

function parse(out: string, ownMail: string): Commit[] {
  const fields = out.split('\0');
  const commits: Commit[] = [];
  for (let i = 0; i + FIELDS - 1 < fields.length; i += FIELDS) {
    const [id, at, name, mail, subject, body] = fields.slice(i, i + FIELDS) as [
      string,
      string,
      string,
      string,
      string,
      string,
    ];
    const commit = { id: id.trim(), at: new Date(at).toISOString(), subject, body: body.trimEnd() };
    commits.push(mail === ownMail ? commit : { ...commit, by: name });
  }
  return commits;
}
