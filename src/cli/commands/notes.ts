/**
 * `guild notes`: lists the channels, or prints the notes of one; `--follow` continues with new
 * ones.
 */
import { openNotes, type NotesView } from '../../app/readers/open-notes.js';
import type { Note } from '../../domain/coordination/note.js';
import { problemText } from '../../domain/problem.js';
import { localDateTime } from '../../views/local-time.js';
import { noteText } from '../../views/note-text.js';
import { whoText } from '../../views/who.js';
import { EXIT, integerOption, type Call, type Command } from '../args/command.js';
import { onInterrupt } from '../process/interrupt.js';
import { oneLine, table, wrapped } from '../render/layout.js';
import type { Terminal } from '../render/terminal.js';

export const command: Command = {
  usage: [
    ['notes', 'list the channels, who writes and reads them, and the time of the last note'],
    ['notes <channel>', 'print the notes of a channel, oldest first'],
  ],
  about: `
Only the program itself writes to the channels state, dependency, task and help. team/<task> is the discussion of a team. Other channels are
defined in guild.yaml under "channels:". guild tell posts a note.`,
  options: {
    last: { type: 'string', value: 'N', about: 'only the newest N notes (default 50)' },
    follow: { type: 'boolean', about: 'continue to print new notes until Ctrl-C' },
  },
  maxWords: 1,
  async run(call) {
    const view = await openNotes(call.root, call.io.env);
    const [channel] = call.words;
    const last = integerOption(call.values, 'last', [0, 1_000_000]) ?? 50;
    try {
      if (channel === undefined) listChannels(view, call);
      else {
        for (const note of view.read(channel, last)) print(note, call);
        // It starts right after the read, so no note is missed in between.
        const following = call.values['follow'] ? follow(view, channel, call) : undefined;
        for (const problem of await view.problems()) call.terminal.say(problemText(problem));
        await following;
      }
    } finally {
      await view.close();
    }
    return EXIT.done;
  },
};

function listChannels(view: NotesView, { terminal, json }: Call): void {
  const channels = view.channels();
  if (json) terminal.json(channels);
  else {
    const rows = channels.map(({ channel, notes, at, writers, readers }) => [
      terminal.bold(channel),
      notes === 0 ? terminal.dim('empty') : `${notes} ${notes === 1 ? 'note' : 'notes'}`,
      at === undefined ? '' : terminal.dim(localDateTime(at)),
      `written by ${writers}${readers.length === 0 ? '' : `, read by ${readers.join(', ')}`}`,
    ]);
    for (const row of table(rows, terminal.width)) terminal.out(row);
  }
}

/** Enough for people; a pipe gets all of them. */
const MOST_SHOWN = 4000;

function print(note: Note, { terminal, json }: Call): void {
  if (json) return terminal.json(note);
  const to = note.to === undefined ? '' : ` to ${note.to}`;
  const urgent = note.priority === 'normal' ? '' : `${inColour(terminal, note)} `;
  const from = terminal.colour('cyan', oneLine(whoText(note.from), terminal.width));
  const text = oneLine(noteText(note.body), terminal.width === Infinity ? Infinity : MOST_SHOWN);
  const line = `${terminal.dim(localDateTime(note.at))} ${from}${to}: ${urgent}${text}`;
  for (const part of wrapped(line, terminal.width)) terminal.out(part);
}

function inColour(terminal: Terminal, { priority }: Note): string {
  if (priority === 'low') return terminal.dim(priority);
  return terminal.colour(priority === 'critical' ? 'red' : 'yellow', priority);
}

function follow(view: NotesView, channel: string, call: Call): Promise<void> {
  const stop = view.follow(channel, (note) => print(note, call));
  return new Promise((resolve) => {
    // Following does not keep the process alive.
    const alive = setInterval(() => undefined, 60_000);
    const off = onInterrupt(call.io, () => {
      clearInterval(alive);
      off();
      stop();
      resolve();
    });
  });
}
