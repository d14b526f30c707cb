/** `guild log`: the commits of the workspace, newest first. */
import { openHistory } from '../../app/readers/history.js';
import { localDateTime } from '../../views/local-time.js';
import { EXIT, text, integerOption, type Command } from '../args/command.js';
import { oneLine } from '../render/layout.js';

export const command: Command = {
  usage: 'log',
  about: `
Lists the commits of the workspace, newest first; a name in brackets is the person who made the change. The history is
plain Git, in a separate repository: git --git-dir=.guild/history.git log.`,
  options: {
    task: { type: 'string', value: 'ID', about: 'only commits that name this task or a task under it' },
    limit: { type: 'string', value: 'N', about: 'at most N commits (default 20)' },
    full: { type: 'boolean', about: 'show task, agent and cause of each commit' },
  },
  maxWords: 0,
  async run({ root, values, terminal, json, io }) {
    const limit = integerOption(values, 'limit', [1, 1_000_000]) ?? 20;
    const history = await openHistory(root, io.env);
    const state = history.state();
    if (!state.on) terminal.say(`no history is kept here: ${state.why}`);
    const task = text(values, 'task');
    const commits = await history.log({
      limit,
      task,
    });
    await history.close();
    if (json) terminal.json(commits);
    else if (commits.length === 0 && state.on) terminal.say('no commits yet');
    const isNarrow = terminal.width < 70;
    for (const { id, at, subject, body, by } of json ? [] : commits) {
      const when = isNarrow ? localDateTime(at).slice('2026-'.length, '2026-01-31 12:00'.length) : localDateTime(at);
      const name = id.slice(0, isNarrow ? 7 : 10);
      const room = terminal.width - when.length - name.length - 2;
      terminal.out(
        `${terminal.dim(when)} ${terminal.colour('yellow', name)} ${oneLine(by === undefined ? subject : `(${by}) ${subject}`, room)}`,
      );
      if (values['full'])
        for (const line of body.split('\n').filter(Boolean))
          terminal.out(terminal.dim(`    ${oneLine(line, terminal.width - 4)}`));
    }
    return EXIT.done;
  },
};
