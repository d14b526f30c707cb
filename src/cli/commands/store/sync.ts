/** `guild sync`: a folder for people on a workspace whose store is elsewhere. */
import path from 'node:path';
import { prepareFolder } from '../../../app/machines/desk-folder.js';
import { sync } from '../../../app/machines/sync.js';
import { problemText } from '../../../domain/problem.js';
import { EXIT, type Command } from '../../args/command.js';
import { onInterrupt } from '../../process/interrupt.js';

export const command: Command = {
  usage: 'sync [dir]',
  about: `
Shows a workspace whose work is in PostgreSQL as the folder you know, and takes in what you change there: drop a task into
tasks/pending, edit a conversation, tick the ballot or a board, write into memory/. No agent works in it. Without dir it uses the
current folder. A new dir gets the definitions of the current folder; run the command again to bring it newer ones.

A conversation that you edit while its agent writes keeps both: your version, and after it what was said meanwhile. If two people change
the same note in memory/, yours stays, and the other version is saved next to it. Changes that you made while guild sync was stopped are taken in when it
starts again. If two people answer one request, the first answer counts, and the other ballot shows whose it was.

Do not edit the record of a task that is being worked on: use guild task cancel, stop and tell. Results, events and the registry are for
reading. Stop it with Ctrl-C; the folder stays as it is.

With --history the folder also keeps the history of the store in Git, so that guild log and guild undo work in it. One desk keeps
it at a time; elsewhere these commands name that desk.`,
  options: { history: { type: 'boolean', about: 'keep the history of the store in this folder' } },
  maxWords: 1,
  async run({ root, words, values, io, terminal, json, open }) {
    const target = words[0] === undefined ? root : path.resolve(io.cwd, words[0]);
    const stop = new AbortController();
    const off = onInterrupt(io, () => stop.abort());
    const say = (fact: object, text: string): void => (json ? terminal.json(fact) : terminal.say(text));
    try {
      for (const file of prepareFolder(root, target, io.env))
        say({ kept: file }, `${file} was changed in ${target}, so it stays; it differs from the one in ${root}`);
      await sync(target, {
        env: io.env,
        open,
        history: values['history'] === true,
        signal: stop.signal,
        note: (text) => say({ note: text }, text),
        problem: (found) => say({ problem: found }, problemText(found)),
        ready: () => say({ ready: target }, `${target} shows the store (Ctrl-C stops)`),
      });
      return EXIT.done;
    } finally {
      off();
    }
  },
};
