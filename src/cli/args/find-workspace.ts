/** Which workspace is meant: the one named, else the nearest folder upwards that is one, else this folder. */
import fs from 'node:fs';
import path from 'node:path';

export function findRoot(named: string | undefined): string {
  const given = named ?? process.env['GUILD_WORKSPACE'];
  if (given !== undefined) return path.resolve(given);
  const here = process.cwd();
  for (let at = here; ; at = path.dirname(at)) {
    if (fs.existsSync(path.join(at, 'guild.yaml'))) return at;
    if (path.dirname(at) === at) return here;
  }
}
