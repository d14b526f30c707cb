/** `guild task add`. When the id is printed, the task is on disk and synced. */
import { openReader } from '../../../app/readers/open-reader.js';
import { newTask } from '../../../app/new-task.js';
import { taskRecord } from '../../../app/readers/task-record.js';
import { defined } from '../../../domain/defined.js';
import { problemError } from '../../../domain/problem.js';
import { HUMAN } from '../../../domain/task/task.js';
import { attached } from '../../args/attached.js';
import { EXIT, text, listOption, type Call } from '../../args/command.js';

export async function add(call: Call): Promise<number> {
  const { values, terminal, json } = call;
  const description = call.words.join(' ');
  const priority = text(values, 'priority')?.toUpperCase();
  if (priority !== undefined && !/^[A-D]$/.test(priority))
    throw problemError('bad_usage', 'a priority is A, B, C or D');
  const [cron, timezone] = [text(values, 'schedule'), text(values, 'timezone')];
  if (timezone !== undefined && cron === undefined) throw problemError('bad_usage', '--timezone needs --schedule');
  const store = openReader(call.root);
  const to = text(values, 'to');
  if (to !== undefined && to !== HUMAN) (await import('../../args/known-agent.js')).knownAgent(call.root, to);
  const task = await newTask(store, {
    description,
    id: text(values, 'id'),
    to,
    type: text(values, 'type'),
    requirements: listOption(values, 'requires'),
    dependencies: listOption(values, 'after'),
    attachments: attached(call),
    priority: priority as 'A' | undefined,
    schedule: cron === undefined ? undefined : defined({ cron, timezone }),
  });
  const missing: string[] = [];
  for (const id of task.dependencies) if ((await store.tasks.read(id)) === undefined) missing.push(id);
  await store.close();
  if (json) terminal.json(taskRecord({ task }));
  else terminal.out(task.id);
  for (const id of missing) terminal.say(`it waits for ${id}, which does not exist yet`);
  const next = cron === undefined ? 'works on it' : 'creates a task at each due time (guild schedule lists them)';
  terminal.say(terminal.dim(`guild pump or guild watch ${next}`));
  return EXIT.done;
}
