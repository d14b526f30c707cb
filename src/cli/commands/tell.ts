/** `guild tell`: posts a note on a channel, in the name of the human. */
import { openNotes } from '../../app/readers/open-notes.js';
import { NOTE_PRIORITIES, type NotePriority } from '../../domain/coordination/note.js';
import { ProblemError, problemError } from '../../domain/problem.js';
import { EXIT, text, type Command } from '../args/command.js';

export const command: Command = {
  usage: 'tell <channel> <text>',
  about: `
Posts a note on a channel of guild.yaml or on team/<task>. Agents that read the channel see it before their next turn, the most
urgent first. guild notes lists the channels. To send a message to one task, use guild task tell <id> <text>.`,
  options: { priority: { type: 'string', value: 'PRIORITY', about: 'critical, high, normal (default) or low' } },
  async run({ root, words, values, terminal, json, io }) {
    const [channel, ...rest] = words;
    const message = rest.join(' ').trim();
    if (channel === undefined || message === '')
      throw problemError('bad_usage', 'guild tell needs a channel and a text', {
        hint: 'guild notes lists the channels',
      });
    const priority = text(values, 'priority');
    if (priority !== undefined && !NOTE_PRIORITIES.some((known) => known === priority))
      throw problemError(
        'bad_usage',
        `--priority must be one of ${NOTE_PRIORITIES.join(', ')}, not ${JSON.stringify(priority)}`,
      );
    const view = await openNotes(root, io.env);
    const rejection = await view.tell(channel, message, priority as NotePriority | undefined);
    await view.close();
    if (rejection !== undefined) throw new ProblemError(rejection);
    if (json) terminal.json({ channel, told: message, priority: priority ?? 'normal' });
    else terminal.say(`posted on ${channel}`);
    return EXIT.done;
  },
};
