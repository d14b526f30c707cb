/**
 * `guild undo`: restores files and tasks from a commit, as a new commit. Without --yes it only
 * shows the changes.
 */
import { undoTo, type Undone } from '../../app/undo.js';
import { problemError } from '../../domain/problem.js';
import { EXIT, type Command } from '../args/command.js';
import { printable } from '../render/paint.js';
import type { Terminal } from '../render/terminal.js';

const SHOWN = 40;
const LEFT_SHOWN = 5;

export const command: Command = {
  usage: 'undo <commit>',
  about: `
Shows what going back to a commit would change; --yes does it. The commit is an id from guild log, or HEAD~1 and so on. The
current state is committed first, so an undo can be undone. Tasks that ended after the commit are open again. Actions that
already ran are not run again. Incoming messages, events and run records are kept.

Where the work is in PostgreSQL, use guild undo in the folder of guild sync --history, while that command runs. Tasks, results, boards,
conversations and notes go back on all machines; definitions do not, because they travel by Git.`,
  options: {
    yes: { type: 'boolean', short: 'y', about: 'go back' },
    force: { type: 'boolean', about: 'go back even while other processes work here or, in PostgreSQL, on these tasks' },
  },
  maxWords: 1,
  async run({ words, root, values, terminal, json, io }) {
    const [to] = words;
    if (to === undefined)
      throw problemError('bad_usage', 'guild undo needs a commit', { hint: 'guild log shows them' });
    const really = values['yes'] === true;
    const undone = await undoTo(root, to, io.env, { really, force: values['force'] === true });
    if (json) terminal.json(undone);
    else showUndone(terminal, undone);
    if (undone.commit !== undefined) terminal.say(`done, as commit ${undone.commit.slice(0, 10)}`);
    else if (undone.files.length === 0) terminal.say('nothing would change');
    else {
      terminal.say('nothing has changed yet; --yes goes back');
      return EXIT.waiting;
    }
    return EXIT.done;
  },
};

export function showUndone(terminal: Terminal, { to, files, left }: Undone): void {
  terminal.out(`back to ${to.id.slice(0, 10)} ${to.subject}`);
  for (const { change, path } of files.slice(0, SHOWN)) terminal.out(`  ${change.padEnd(12)} ${printable(path)}`);
  if (files.length > SHOWN) terminal.out(`  and ${files.length - SHOWN} more`);
  if (left.length === 0) return;
  const more = left.length > LEFT_SHOWN ? ` and ${left.length - LEFT_SHOWN} more` : '';
  const names = left.slice(0, LEFT_SHOWN).map(({ path }) => printable(path));
  terminal.say(
    `not undone, because only the work is in the store: ${names.join(', ')}${more}. Definitions go back with Git and ` +
      'guild publish',
  );
}
