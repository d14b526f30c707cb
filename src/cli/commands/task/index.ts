/** `guild task`: commands on single tasks. */
import { problemError } from '../../../domain/problem.js';
import { TASK_STATES } from '../../../domain/task/task.js';
import { unknownWord, type Command, type Values } from '../../args/command.js';

export const command: Command = {
  usage: [
    ['task add <description>', 'create a task and print its id'],
    ['task list', 'list open tasks'],
    ['task show <id>', 'show one task and its result'],
    ['task tree <id>', 'show a task and every task under it, with their cost'],
    ['task cancel <id> [reason]', 'cancel a task and every open task under it'],
    ['task stop <id>', 'let a task and the tasks under it give one last answer, then end'],
    ['task retry <id>…', 'reopen failed tasks; completed tasks under them are kept'],
    ['task assign <id> <agent>', 'give a task that has not started to another agent'],
    ['task tell <id> <text>', 'send a message to an open task; its agent reads it before its next turn'],
  ],
  about: `
The end of an id is enough if it is unique: guild task show call-9e3afirdk9. guild task tree shows these short ids.

A task is a file: dropping a JSON file with a "description" into tasks/pending/ is the same as guild task add.`,
  options: {
    to: { type: 'string', value: 'AGENT', about: 'add: the agent that does the task' },
    id: { type: 'string', value: 'ID', about: 'add: id of the task (default: generated)' },
    type: { type: 'string', value: 'TYPE', about: 'add: type of the task, for rules and reports' },
    requires: { type: 'string', multiple: true, value: 'CAP,…', about: 'add: capabilities that the agent must have' },
    attach: {
      type: 'string',
      multiple: true,
      value: 'FILE,…',
      about: 'add: files of the workspace that the agent gets',
    },
    after: { type: 'string', multiple: true, value: 'ID,…', about: 'add: tasks that must be completed first' },
    priority: { type: 'string', value: 'A|B|C|D', about: 'add: A is the most urgent (default C)' },
    schedule: { type: 'string', value: 'CRON', about: 'add: do it again and again, for example "0 9 * * 1"' },
    timezone: { type: 'string', value: 'ZONE', about: 'add: the time zone of --schedule (default: this machine’s)' },
    all: { type: 'boolean', short: 'a', about: 'list: include ended tasks' },
    state: { type: 'string', value: 'STATE', about: `list: only ${TASK_STATES.join(', ')}` },
    limit: { type: 'string', value: 'N', about: 'list: at most N tasks (default 50)' },
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
      case 'assign':
      case 'tell':
        return (await import('./intents.js')).submit(word, { ...call, words });
      case 'retry':
        return (await import('./intents.js')).retryAll({ ...call, words });
      default:
        throw unknownWord('task', word, 'add list show tree cancel stop retry assign tell'.split(' '));
    }
  },
};

/** The options of each subcommand; other subcommands take none of these. */
const TAKES: Record<string, readonly string[]> = {
  add: ['to', 'id', 'type', 'requires', 'after', 'attach', 'priority', 'schedule', 'timezone'],
  list: ['all', 'state', 'limit'],
};

function refuseOthers(word: string, values: Values): void {
  const own = new Set(Object.values(TAKES).flat());
  const odd = Object.keys(values).find((name) => own.has(name) && !TAKES[word]?.includes(name));
  if (odd === undefined) return;
  throw problemError('bad_usage', `guild task ${word} takes no --${odd}`, {
    hint: 'guild task --help shows its options',
  });
}
