/** Boards, notes and history: files and commits as they are. */
import fs from 'node:fs';
import path from 'node:path';
import { openHistory } from '../../app/readers/history.js';
import { openNotes } from '../../app/readers/open-notes.js';
import { lintFile } from '../../app/readers/queries.js';
import { defined } from '../../domain/defined.js';
import { problem, ProblemError } from '../../domain/problem.js';
import { noteText } from '../../views/note-text.js';
import type { Boards, Channels, HistoryPage } from '../base/contract.js';
import { seenOf, textOf } from './session.js';

const NOTES_SHOWN = 200;
const COMMITS_SHOWN = 200;
const BALLOT = 'approvals.task.md';

/** Without links and pipes: no process takes tasks from them, and a link may lead to any file. */
export function boardsOf(root: string): Boards {
  const folder = path.join(root, 'tasks');
  const entries = fs.readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile());
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
        problems: lintFile(file, root),
        seen: seenOf(text),
      };
    }),
  };
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

/** `until`: an ISO time, for a moment of the past. */
export async function channelsOf(
  root: string,
  channel: string | undefined,
  env: Record<string, string | undefined>,
  until = '~',
): Promise<Channels> {
  const notes = await openNotes(root, env);
  try {
    const channels = notes
      .channels()
      .map(({ channel: name, notes: count, at, writers }) => defined({ channel: name, notes: count, at, writers }));
    const read = channel === undefined ? [] : notes.read(channel, NOTES_SHOWN).filter(({ at }) => at <= until);
    return defined({
      channels,
      channel,
      notes: read.map((note) => ({ at: note.at, from: note.from, text: noteText(note.body) })).reverse(),
    });
  } finally {
    await notes.close();
  }
}

export async function historyOf(
  root: string,
  env: Record<string, string | undefined>,
  until = '~',
): Promise<HistoryPage> {
  const history = await openHistory(root, env);
  const state = history.state();
  if (!state.on) return { on: false, why: state.why, commits: [] };
  try {
    const commits = (await history.log({ limit: COMMITS_SHOWN })).filter(
      ({ at }) => new Date(at).toISOString() <= until,
    );
    return { on: true, commits: commits.map(({ id, at, subject, body }) => ({ id, at, subject, body })) };
  } finally {
    await history.close();
  }
}
