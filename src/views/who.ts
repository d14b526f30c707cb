/** Whom a task or a note names, as people read it. What the program does itself has a name in files, `engine`, and one word in front of people. */
import { ENGINE } from '../domain/task/task.js';

export function whoText(name: string): string {
  return name === ENGINE ? 'the program' : name;
}

/** To whom a task is addressed: `@ana`. */
export function toText(to: string | undefined, otherwise = '?'): string {
  return to === ENGINE ? whoText(to) : `@${to ?? otherwise}`;
}
