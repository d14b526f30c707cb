/**
 * Which file gets the page of an ended task. A page that a person wrote or edited under that name
 * is kept, and the program's page is written beside it.
 */
import { hash53, mayBeCut } from './id.js';
import type { Task } from './task.js';

type Ended = Pick<Task, 'id' | 'extra' | 'retries'>;

/**
 * Whether a task gets a page: roots do, and tasks that a person added below another; children that
 * agents created do not.
 */
export function hasPage({ id, parent }: Pick<Task, 'id' | 'parent'>): boolean {
  return parent === undefined || !(id.startsWith(`${parent}.`) || mayBeCut(id));
}

/**
 * The path of the page, relative to the workspace. `text`: the page to be written. `existing`: the
 * current text of `results/<id>.md`, absent if there is no such file.
 */
export function pagePlace(task: Ended, text: string, existing: string | undefined): string {
  const isFree = existing === undefined || existing === text || isOurs(task, text, existing);
  return isFree ? `results/${task.id}.md` : `results/${task.id}.result.md`;
}

/** The field by which the next end of a reopened task recognizes its own earlier page. */
export function pageMark(page: string): { page: string } {
  return { page: hash53(page) };
}

/** Tasks that an earlier version reopened have no mark. Only our heading identifies their page. */
function isOurs({ extra, retries = 0 }: Ended, text: string, existing: string): boolean {
  const known = extra?.['page'];
  if (typeof known === 'string') return hash53(existing) === known;
  const heading = text.slice(0, text.indexOf('\n\n') + 2);
  return retries > 0 && heading.length > 2 && existing.startsWith(heading);
}
