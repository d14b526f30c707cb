/**
 * What the children of a task say. A rule names the complete set it wants; this sorts that set into what is missing,
 * what is still open and what has ended, and turns what ended into words. Texts of others are fenced by a tag that they
 * cannot know, so no text can end its own fence.
 */
import { childId, hash53 } from '../../domain/task/id.js';
import type { Problem } from '../../domain/problem.js';
import { isEnded, type Placed, type Task, type WantedChild } from '../../domain/task/task.js';

/** What is known of a child; undefined: it does not exist yet. */
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

/** `<label__tag agent="name">text</label__tag>`, the tag derived from everything inside and the task, so it cannot be guessed by one part. */
export function fence(label: string, from: string, text: string, salt: string): string {
  const tag = `${label}__${hash53(`${salt}\n${from}\n${text}`)}`;
  return `<${tag} agent="${from.replace(/[^\w.-]/g, '-')}">\n${text}\n</${tag}>`;
}

/** Removes the tags that `fence` adds, for one-line summaries. */
export function unfenced(description: string): string {
  return description.replace(/<\/?\w+__[0-9a-z]{11}(?: agent="[\w.-]*")?>/g, '').trim();
}

/**
 * Part of a pattern under a task that goes on in a conversation of its own, as a team member's do from round to round: that part
 * does so too, and remembers.
 */
export function goingOn(task: Task, part: string): Pick<WantedChild, 'session'> {
  return task.session === undefined ? {} : { session: childId(task.session, part) };
}

export function errorText(error: Problem | undefined): string {
  if (error === undefined) return 'it failed without saying why';
  return error.hint ? `${error.message} (${error.hint})` : error.message;
}
