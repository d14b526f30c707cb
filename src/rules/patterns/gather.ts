/**
 * Sorts the children that a rule wants into missing, open and ended, and quotes their results. Each
 * quote is fenced by a tag that its text does not contain, so no text can close its own fence.
 */
import { childId, hash53 } from '../../domain/task/id.js';
import type { Problem } from '../../domain/problem.js';
import { isEnded, type Placed, type Task, type WantedChild } from '../../domain/task/task.js';

/** Children by id; undefined: the child does not exist yet. */
export type Children = ReadonlyMap<string, Placed | undefined>;

interface Gathered {
  missing: WantedChild[];
  open: string[];
  ended: Placed[];
  /** Nothing is missing or open. */
  complete: boolean;
}

export function gather(wanted: readonly WantedChild[], children: Children): Gathered {
  const missing: WantedChild[] = [];
  const open: string[] = [];
  const ended: Placed[] = [];
  for (const child of wanted) {
    const placed = children.get(child.id);
    if (placed === undefined) missing.push(child);
    else if (isEnded(placed.state)) ended.push(placed);
    else open.push(child.id);
  }
  return { missing, open, ended, complete: missing.length === 0 && open.length === 0 };
}

/** `<label__tag agent="name">text</label__tag>`. The tag is derived from a hash of the whole. */
export function fence(label: string, from: string, text: string, salt: string): string {
  const name = from.replace(/[^\w.-]/g, '-');
  const tag = `${label}__${unusedKey(`${salt}\n${name}\n${text}`, text)}`;
  return `<${tag} agent="${name}">\n${text}\n</${tag}>`;
}

/** The end of a hash: four characters, or more if the text contains them as a tag. */
function unusedKey(source: string, text: string): string {
  const hash = hash53(source);
  for (let length = 4; length <= hash.length; length++)
    if (!text.includes(`__${hash.slice(-length)}`)) return hash.slice(-length);
  return unusedKey(`${source}\n`, text);
}

/** Removes the tags that `fence` adds, for one-line summaries. */
export function unfenced(description: string): string {
  return description.replace(/<\/?\w+__[0-9a-z]{4,11}(?: agent="[\w.-]*")?>/g, '').trim();
}

/**
 * If a task continues its own conversation, as a team member does from round to round, its pattern
 * stages continue theirs.
 */
export function continued(task: Task, stage: string): Pick<WantedChild, 'session'> {
  return task.session === undefined ? {} : { session: childId(task.session, stage) };
}

export function errorText(error: Problem | undefined): string {
  if (error === undefined) return 'it failed without giving a reason';
  return error.hint ? `${error.message} (${error.hint})` : error.message;
}
