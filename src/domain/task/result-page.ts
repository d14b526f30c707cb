/**
 * Which file gets the page of an ended task. A page that a person wrote or edited under that name
 * stays, and ours goes beside it.
 */
import { hash53 } from './id.js';
import type { Task } from './task.js';

export interface PagePlace {
  /** Relative to the workspace. */
  file: string;
  /** For the record: identifies the page as ours at the next end of this task. */
  page: string;
}

/** `text`: the page to be written. `existing`: what `results/<id>.md` has now; absent: no file. */
export function pagePlace(task: Pick<Task, 'id' | 'extra'>, text: string, existing: string | undefined): PagePlace {
  const isFree = existing === undefined || existing === text || isOurs(task, text, existing);
  return { file: isFree ? `results/${task.id}.md` : `results/${task.id}.result.md`, page: hash53(text) };
}

/** Records without the field are of earlier versions: then only our heading tells. */
function isOurs({ extra }: Pick<Task, 'extra'>, text: string, existing: string): boolean {
  const known = extra?.['page'];
  if (typeof known === 'string') return hash53(existing) === known;
  const heading = text.slice(0, text.indexOf('\n\n') + 2);
  return heading.length > 2 && existing.startsWith(heading);
}
