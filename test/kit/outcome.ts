/** Whether a story ended as it should, judged by the files alone. Returns what is wrong, one line each. */
import path from 'node:path';
import type { SimDisk } from './sim-disk.js';
import { ROOT } from './hall.js';
import type { Story } from './stories.js';

export function outcome(disk: SimDisk, story: Story): string[] {
  const wrong: string[] = [];
  const tree = disk.tree();
  const at = (folder: string): string[] => disk.list(path.join(ROOT, folder));
  for (const folder of ['tasks/pending', 'tasks/active', 'tasks/waiting', '.guild/tmp']) {
    for (const name of at(folder)) wrong.push(`${folder}/${name} is left over`);
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
  wrong.push(...(story.check?.(disk) ?? []));
  for (const name of at('quarantine')) wrong.push(`quarantine/${name}`);
  return wrong;
}
