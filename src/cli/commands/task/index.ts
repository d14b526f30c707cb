/** `guild task`: what people do with single tasks. Each word is a small command of its own. */
import { ProblemError, problem } from '../../../domain/problem.js';
import type { Command, Values } from '../../args/command.js';

export const command: Command = {
  help: `guild task add <description>      [--to AGENT] [--id ID] [--type T] [--requires CAP,…] [--after ID,…] [--priority A|B|C|D]
guild task list                   [--all] [--state S] [--limit N]   open tasks; --all (-a): ended ones too
guild task show <id>              one task, with its result
guild task tree <id>              a task and everything under it, with what it cost
guild task cancel <id> [reason]   ends it and everything open under it
guild task stop <id>              lets it and all under it give a last answer, and end with that
guild task retry <id>             opens a failed task again; what succeeded under it stays
guild task tell <id> <text>       says something to an open task; heard before its next turn

Of an id its end is enough where no other task ends so: guild task show call-9e3afirdk9. guild task tree shows these ends.
A task is a file: dropping JSON with a "description" into tasks/pending/ does the same as add.`,
  options: {
    to: { type: 'string' },
    id: { type: 'string' },
    type: { type: 'string' },
    requires: { type: 'string', multiple: true },
    after: { type: 'string', multiple: true },
    priority: { type: 'string' },
    all: { type: 'boolean', short: 'a' },
    state: { type: 'string' },
    limit: { type: 'string' },
  },
  async run(call) {
    const [word = 'list', ...words] = call.words;
    refuseOthers(word, call.values);
    switch (word) {
      case 'list':
        return (await import('./list.js')).list({ ...call, words });
      case 'show':
      case 'tree':
        return (await import('./show.js'))[word]({ ...call, words });
      case 'add':
        return (await import('./add.js')).add({ ...call, words });
      case 'cancel':
      case 'stop':
      case 'retry':
      case 'tell':
        return (await import('./intents.js')).submit(word, { ...call, words });
      default:
        throw new ProblemError(
          problem('bad_usage', `guild task has no ${JSON.stringify(word)}`, {
            hint: 'guild task --help lists what it has',
          }),
        );
    }
  },
};

/** Which words take which options; the others take none of these. */
const TAKES: Record<string, readonly string[]> = {
  add: ['to', 'id', 'type', 'requires', 'after', 'priority'],
  list: ['all', 'state', 'limit'],
};

function refuseOthers(word: string, values: Values): void {
  const own = new Set(Object.values(TAKES).flat());
  const odd = Object.keys(values).find((name) => own.has(name) && !TAKES[word]?.includes(name));
  if (odd === undefined) return;
  throw new ProblemError(
    problem('bad_usage', `guild task ${word} takes no --${odd}`, { hint: 'guild task --help shows what it takes' }),
  );
}
