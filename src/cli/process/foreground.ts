/**
 * Whether this process is in the foreground of its terminal. The system stops a background process
 * that reads from the keyboard.
 */
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';

export function isForeground(): boolean {
  try {
    if (process.platform === 'linux') {
      // The name of the program may contain blanks and parentheses.
      const stat = fs.readFileSync('/proc/self/stat', 'utf8');
      const [, , , group, , , owner] = stat.slice(stat.lastIndexOf(')') + 1).split(' ');
      return group === owner;
    }
    return execFileSync('ps', ['-o', 'stat=', '-p', String(process.pid)], { encoding: 'utf8' }).includes('+');
  } catch {
    return true;
  }
}
