/** Boards, notes and history: files and commits as they are. */
import fs from 'node:fs';
import path from 'node:path';
import { openHistory } from '../../app/readers/history.js';
import { openRoster } from '../../app/readers/open-roster.js';
import { openNotes } from '../../app/readers/open-notes.js';
import { lintFile } from '../../app/readers/queries.js';
import { defined } from '../../domain/defined.js';
import { problem, ProblemError, type Problem } from '../../domain/problem.js';
import type { Note } from '../../domain/coordination/note.js';
import { noteText } from '../../views/note-text.js';
import type { Boards, Channels, HistoryPage } from '../base/contract.js';
import type { Moment } from './moment.js';
import { titled } from './rows.js';
import { seenOf, textOf } from './session.js';

type Env = Record<string, string | undefined>;
type BoardProblems = Boards['boards'][number]['problems'];
type Commit = HistoryPage['commits'][number];

const NOTES_SHOWN = 200;
const COMMITS_SHOWN = 200;
const BALLOT = 'approvals.task.md';

/** Without links and pipes: no process takes tasks from them, and a link may lead to any file. */
export function boardsOf(root: string, env: Env): Boards {
  const folder = path.join(root, 'tasks');
  const entries = fs.readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile());
  const { problems } = openRoster(root, env);
  const names = entries.map(({ name }) => name).filter((name) => name.endsWith('.task.md') && name !== BALLOT);
  return {
    boards: names.sort().map((name) => {
      const file = `tasks/${name}`;
      const text = textOf(path.join(root, file));
      return {
        file,
        lines: text.split('\n').map((line, i) => {
          const box = BOX.exec(line)?.[2];
          return defined({ text: line, line: i + 1, box });
        }),
        problems: problemsOf(file, lintFile(file, root), problems),
        seen: seenOf(text),
      };
    }),
  };
}

/** Those of the board alone, and those of its tasks, such as an agent that does not exist. */
function problemsOf(file: string, own: BoardProblems, all: readonly Problem[]): BoardProblems {
  const others = all.filter(
    ({ where, message }) => where?.file === file && own.every((each) => each.message !== message),
  );
  return [...own, ...others.map((each) => ({ ...each, severity: 'error' as const }))];
}

/** The text of a board. Throws unless the name is a board in the folder of tasks. */
export function boardText(root: string, file: string): { text: string } {
  const isBoard = /^tasks\/[^/\\]+\.task\.md$/.test(file) && !file.endsWith(`/${BALLOT}`);
  if (isBoard && fs.existsSync(path.join(root, file))) return { text: textOf(path.join(root, file)) };
  throw new ProblemError(problem('not_found', 'there is no such board'));
}

/** The board with another mark in the box of this line, counted from 1. */
export function withBox(text: string, line: number, box: string): string | undefined {
  const lines = text.split('\n');
  const before = lines[line - 1];
  if (before === undefined || !/^[ x/_-]$/.test(box) || !BOX.test(before)) return undefined;
  lines[line - 1] = before.replace(BOX, `$1${box}$3`);
  return lines.join('\n');
}

const BOX = /^(\s*[-*+] \[)(.)(\])/;

export async function channelsOf(moment: Moment, channel: string | undefined, env: Env): Promise<Channels> {
  const until = moment.at ?? '~';
  const notes = await openNotes(moment.feed.root, env);
  try {
    const channels = notes
      .channels()
      .map(({ channel: name, notes: count, at, writers }) => defined({ channel: name, notes: count, at, writers }));
    const read = channel === undefined ? [] : notes.read(channel, NOTES_SHOWN).filter(({ at }) => at <= until);
    const titles = new Map((read.length === 0 ? [] : await moment.tasks('')).map(({ id, title }) => [id, title]));
    // Words of agents and people stay as they are; an id such as `notes` is also an ordinary word.
    const named = ({ body }: Note): string =>
      body.type === 'said'
        ? body.text
        : titled(noteText(body), (id) => (/[\d._-]/.test(id) ? titles.get(id) : undefined));
    return defined({
      channels,
      channel,
      notes: read.map((note) => ({ at: note.at, from: note.from, text: named(note) })).reverse(),
    });
  } finally {
    await notes.close();
  }
}

export async function historyOf(root: string, env: Env, moment: Moment): Promise<HistoryPage> {
  const history = await openHistory(root, env);
  const state = history.state();
  if (!state.on) return { on: false, why: state.why, commits: [] };
  try {
    const until = moment.at ?? '~';
    const all = await history.log({ limit: COMMITS_SHOWN });
    const titles = new Map((await moment.tasks('')).map(({ id, title }) => [id, title]));
    return {
      on: true,
      commits: all
        .filter(({ at }) => new Date(at).toISOString() <= until)
        .map(({ id, at, subject }) => ({ id, at, ...ofTask(subject, titles) })),
    };
  } finally {
    await history.close();
  }
}

/** Commits of work begin with the id of a task; people read its title. */
function ofTask(subject: string, titles: ReadonlyMap<string, string>): Pick<Commit, 'subject' | 'task'> {
  const [, id = '', rest = subject] = /^(\S+): (.*)$/s.exec(subject) ?? [];
  const title = titles.get(id);
  if (title !== undefined) return { subject: rest, task: { id, title } };
  return { subject: subject.replace(/[\w.-]+/g, (word) => (titles.has(word) ? `“${titles.get(word)}”` : word)) };
}
