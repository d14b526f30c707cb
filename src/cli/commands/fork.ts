/** `guild fork`: a new task that continues a conversation from one of its messages. */
import { forkSession } from '../../app/fork-session.js';
import { problemError } from '../../domain/problem.js';
import { attached } from '../args/attached.js';
import { EXIT, text, integerOption, type Command } from '../args/command.js';

export const command: Command = {
  usage: 'fork <session or task> [text]',
  about: `
Creates a task whose conversation starts with the first messages of another one. The answers in them are kept, not generated again.
The next guild pump or guild watch continues the conversation.`,
  options: {
    at: {
      type: 'string',
      value: 'N',
      about: 'number of messages to keep (default: all); a tool call and its result stay together',
    },
    to: { type: 'string', value: 'AGENT', about: 'the agent that continues (default: the same)' },
    attach: { type: 'string', multiple: true, value: 'FILE,…', about: 'files of the workspace that the agent gets' },
    id: { type: 'string', value: 'ID', about: 'id of the new task (default: generated)' },
  },
  async run(call) {
    const { words, root, values, terminal, json } = call;
    const [named, ...rest] = words;
    if (named === undefined)
      throw problemError('bad_usage', 'guild fork needs a session or a task', {
        hint: 'guild query "SELECT * FROM sessions" lists them',
      });
    const session = named.replace(/^(?:.*\/)?sessions\//, '').replace(/\.session\.yaml$/, '');
    const at = integerOption(values, 'at', [1, Infinity]);
    const forked = await forkSession(root, {
      session,
      at,
      to: text(values, 'to'),
      id: text(values, 'id'),
      text: rest.join(' ') || undefined,
      attachments: attached(call),
    });
    const { task, kept, moved } = forked;
    if (json) terminal.json({ task: task.id, session: forked.session, kept, moved });
    else terminal.out(task.id);
    if (moved) terminal.say(`cut after message ${kept}: a tool call and its result stay together`);
    terminal.say(`sessions/${forked.session}.session.yaml starts with ${kept} messages of ${forked.from}`);
    return EXIT.done;
  },
};
