/** Checks the outcome of a story from the files alone. Returns the problems, one line each. */
import path from 'node:path';
import { parentsFirst } from '../../src/domain/task/lineage.js';
import { sessionUsage } from '../../src/domain/session/session.js';
import type { Placed } from '../../src/domain/task/task.js';
import { addUsage, NO_USAGE, sumUsage, type Usage } from '../../src/domain/budget/usage.js';
import { totals } from '../../src/rules/budget/totals.js';
import { parseSession } from '../../src/text/session/parse.js';
import { parseTask } from '../../src/text/records/task.js';
import type { SimDisk } from './sim-disk.js';
import { ROOT } from './cluster.js';
import type { Story } from './stories.js';

export function outcome(disk: SimDisk, story: Story): string[] {
  const wrong: string[] = [];
  const tree = disk.tree();
  const at = (folder: string): string[] => disk.list(path.join(ROOT, folder));
  for (const folder of ['tasks/pending', 'tasks/active', 'tasks/waiting', '.guild/tmp']) {
    // A process that is alive keeps one file for its journal.
    for (const name of at(folder)) if (!name.endsWith('-journal')) wrong.push(`${folder}/${name} is left over`);
  }
  const ended = [...at('tasks/completed'), ...at('tasks/failed')];
  for (const name of ended) {
    if (at('tasks/completed').includes(name) && at('tasks/failed').includes(name)) wrong.push(`${name} ended twice`);
  }
  for (const [id, expected] of Object.entries(story.results)) {
    const text = tree.get(`${ROOT}/tasks/completed/${id}.json`) ?? tree.get(`${ROOT}/tasks/failed/${id}.json`);
    if (text === undefined) {
      wrong.push(`${id} has no end`);
      continue;
    }
    const { result, error } = JSON.parse(text) as { result?: string; error?: { message: string } };
    const said = result ?? error?.message ?? '';
    const fits = typeof expected === 'string' ? said === expected : expected.test(said);
    if (!fits) wrong.push(`${id} says ${JSON.stringify(said)}`);
    if (tree.get(`${ROOT}/results/${id}.md`) === undefined) wrong.push(`results/${id}.md is missing`);
  }
  for (const [file, expected] of Object.entries(story.written ?? {})) {
    const text = tree.get(`${ROOT}/${file}`);
    if (text !== undefined && text !== expected) wrong.push(`${file} holds ${JSON.stringify(text)}`);
  }
  wrong.push(...books(tree, story.put));
  wrong.push(...(story.check?.(disk) ?? []));
  for (const name of at('quarantine')) wrong.push(`quarantine/${name}`);
  return wrong;
}

/**
 * The recorded cost of every task is its own plus that of its children, and no model answer is lost
 * or counted twice.
 */
function books(tree: ReadonlyMap<string, string>, put: readonly string[] = []): string[] {
  const wrong: string[] = [];
  const all: Placed[] = [];
  let spoken: Usage = NO_USAGE;
  for (const [file, text] of tree) {
    const ended = /\/tasks\/(completed|failed)\/(.+)\.json$/.exec(file);
    if (ended) {
      const parsed = parseTask(Buffer.from(text), { file, name: ended[2]!, now: '' });
      if (parsed.kind === 'task') all.push({ task: parsed.task, state: ended[1] as 'completed' | 'failed' });
    }
    if (!file.endsWith('.session.yaml')) continue;
    const session = parseSession(text, file);
    if (session.ok) spoken = addUsage(spoken, sessionUsage(session.session.messages));
  }
  const sums = totals(parentsFirst(all, (one) => one.task));
  const without = totals(
    parentsFirst(
      all.filter(({ task }) => !put.includes(task.id)),
      (one) => one.task,
    ),
  );
  for (const { task } of all) {
    const said = JSON.stringify(task.usage ?? NO_USAGE);
    const sum = JSON.stringify(sums.get(task.id)!.total);
    const less = JSON.stringify(without.get(task.id)?.total);
    if (said !== sum && said !== less) wrong.push(`${task.id} says it cost ${said}, and the sum is ${sum}`);
  }
  const own = sumUsage([...sums.values()].map((one) => ({ ...one.own, children: 0 })));
  if (JSON.stringify(own) !== JSON.stringify(spoken))
    wrong.push(`all tasks cost ${JSON.stringify(own)}, and the conversations ${JSON.stringify(spoken)}`);
  return wrong;
}
