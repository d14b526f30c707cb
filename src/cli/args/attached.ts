/** The files of `--attach`, as paths in the workspace. Every one must be there. */
import fs from 'node:fs';
import path from 'node:path';
import { problemError } from '../../domain/problem.js';
import { listOption, type Call } from './command.js';

export function attached({ values, root, io }: Call): string[] | undefined {
  const files = listOption(values, 'attach').map((word) => {
    const file = path.resolve(io.cwd, word);
    const inside = path.relative(root, file).replaceAll(path.sep, '/');
    if (inside.startsWith('../') || path.isAbsolute(inside))
      throw problemError('not_found', `${word} is not in the workspace`, {
        hint: `copy it there, for example to context/`,
      });
    if (!fs.statSync(file, { throwIfNoEntry: false })?.isFile())
      throw problemError('not_found', `there is no file ${word}`);
    return inside;
  });
  return files.length === 0 ? undefined : files;
}
