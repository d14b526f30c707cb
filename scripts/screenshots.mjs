/**
 * Draws docs/pictures/window-*.png: pages as test/web/pictures.test looks at them. Run after
 * `npm run build`: node scripts/screenshots.mjs. With a folder as argument, every page at every
 * width is kept there, light and dark.
 */
import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const SHOWN = {
  'hall-1440': 'window-hall',
  'inbox-1440': 'window-inbox',
  'task-1440-dark': 'window-task',
};

const temporary = fs.mkdtempSync(path.join(os.tmpdir(), 'guild-shots-'));
const folder = process.argv[2] === undefined ? temporary : path.resolve(process.argv[2]);
const test = path.join(ROOT, 'dist', 'test', 'web', 'pictures.test.js');
execFileSync(process.execPath, ['--test', test], { stdio: 'inherit', env: { ...process.env, GUILD_PICTURES: folder } });
for (const [taken, name] of Object.entries(SHOWN))
  fs.copyFileSync(path.join(folder, `${taken}.png`), path.join(ROOT, 'docs', 'pictures', `${name}.png`));
fs.rmSync(temporary, { recursive: true, force: true });
