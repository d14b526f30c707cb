/** Finds folders that ship with the package: starters, examples, plugins. */
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { problemError } from '../../domain/problem.js';

export function packageFolder(...parts: string[]): string {
  let at = path.dirname(fileURLToPath(import.meta.url));
  while (!fs.existsSync(path.join(at, 'package.json'))) {
    if (path.dirname(at) === at) throw problemError('bug', 'the program cannot find its own files');
    at = path.dirname(at);
  }
  return path.join(at, ...parts);
}
