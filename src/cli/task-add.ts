/** `guild task add`. The task is on disk, synced, when the id is printed. */
import { openReader } from '../app/open-reader.js';
import { newTask } from '../app/new-task.js';
import { ProblemError, problem } from '../domain/problem.js';
import { EXIT, text, texts, type Call } from './command.js';

export async function add(call: Call): Promise<number> {
  const { values, terminal, json } = call;
  const description = call.words.join(' ');
  const priority = text(values, 'priority')?.toUpperCase();
  if (priority !== undefined && !/^[A-D]$/.test(priority))
    throw new ProblemError(problem('bad_usage', 'a priority is A, B, C or D'));
  const store = openReader(call.root);
  const task = await newTask(store, {
    description,
    id: text(values, 'id'),
    to: text(values, 'to'),
    type: text(values, 'type'),
    requirements: texts(values, 'requires'),
    dependencies: texts(values, 'after'),
    priority: priority as 'A' | undefined,
  });
  await store.close();
  if (json) terminal.json(task);
  else terminal.out(task.id);
  terminal.say(terminal.dim('guild pump or guild watch works on it'));
  return EXIT.done;
}
