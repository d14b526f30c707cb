/**
 * Names of agents and people as shown to people. Files say `engine` where people read "the
 * program".
 */
import { ENGINE } from '../domain/task/task.js';

export function whoText(name: string): string {
  return name === ENGINE ? 'the program' : name;
}

/** The addressee of a task: `@ana`. */
export function toText(to: string | undefined, otherwise = '?'): string {
  return to === ENGINE ? whoText(to) : `@${to ?? otherwise}`;
}
