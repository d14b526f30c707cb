/** Writes a copy of bin/guild.mjs that starts this build, wherever it was compiled to. */
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export function guildScript(folder: string): string {
  const here = path.dirname(fileURLToPath(import.meta.url));
  const text = fs.readFileSync(path.resolve(here, '../../../bin/guild.mjs'), 'utf8');
  const file = path.join(folder, 'guild.mjs');
  fs.writeFileSync(file, text.replace("new URL('../dist/", `new URL('file://${path.resolve(here, '../..')}/`));
  return file;
}
