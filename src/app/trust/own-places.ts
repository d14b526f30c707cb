/**
 * The user's own places: the state folder, the key and the settings. They decide what is trusted,
 * whose answers count and where keys go, so only this user may write them, and they must be outside
 * the workspace.
 */
import fs from 'node:fs';
import path from 'node:path';
import { attempt } from '../../domain/attempt.js';
import { problemError } from '../../domain/problem.js';

/** Throws a ProblemError. `variable` names another place; `root` is a real path. */
export function refuseForeign(root: string, file: string, what: string, variable: string): void {
  // A link may lead into the workspace.
  const real = realOf(path.resolve(file));
  if (real === root || real.startsWith(root + path.sep))
    throw problemError('not_allowed', `your ${what} ${file} is inside the workspace, where agents could read it`, {
      hint: `set ${variable} to a place outside of it, or use another folder as workspace`,
    });
  const stat = process.getuid && attempt(() => fs.lstatSync(real, { throwIfNoEntry: false }));
  if (stat && ((stat.mode & 0o002) !== 0 || (stat.uid !== process.getuid!() && stat.uid !== 0)))
    throw problemError('not_allowed', `your ${what} ${file} belongs to another user, or everybody can write it`, {
      hint: `set ${variable} to a place that is yours alone; or take it over with chown and chmod, and look at what is in it`,
    });
}

/** Resolves the links in the part of the path that exists. */
function realOf(file: string): string {
  const above = path.dirname(file);
  if (above === file) return file;
  return attempt(() => fs.realpathSync.native(file)) ?? path.join(realOf(above), path.basename(file));
}
