/**
 * Draws docs/pictures/window-*.png: real pages of a real run of examples/swarm, in Chromium. Run
 * after `npm run build`: node scripts/screenshots.mjs.
 */
import { execFileSync, spawn } from 'node:child_process';
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { startServer } from '../dist/src/web/server.js';

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const PICTURES = path.join(ROOT, 'docs', 'pictures');
const SHOTS = [
  { name: 'window-hall', page: 'hall', width: 1280, height: 800, dark: false },
  { name: 'window-task', page: 'task/build_user_api', width: 1280, height: 800, dark: true },
  { name: 'window-inbox', page: 'inbox', width: 1280, height: 800, dark: false },
];

const folder = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'guild-shots-')), 'workshop');
fs.cpSync(path.join(ROOT, 'examples', 'swarm'), folder, { recursive: true });
const env = { ...process.env, XDG_STATE_HOME: path.join(path.dirname(folder), 'state') };
const guild = (...args) =>
  execFileSync(process.execPath, [path.join(ROOT, 'bin', 'guild.mjs'), ...args], { cwd: folder, env, stdio: 'ignore' });
run('pump', '--all');
const task = { description: 'Draw the data model of the API', requirements: ['diagram_drawing'] };
fs.writeFileSync(path.join(folder, 'tasks', 'pending', 'diagram.json'), JSON.stringify(task));
run('pump', '--all');

const watch = spawn(process.execPath, [path.join(ROOT, 'bin', 'guild.mjs'), 'watch'], {
  cwd: folder,
  env,
  stdio: 'ignore',
});
const server = await startServer({ root: folder, env, port: 0, readOnly: false });
const args = ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update'];
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args });
for (const { name, page: place, width, height, dark } of SHOTS) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: dark ? 'dark' : 'light' });
  const page = await context.newPage();
  const link = server.link();
  await page.goto(link);
  await page.waitForSelector('.app');
  await page.goto(`${new URL(link).origin}/#/${place}`);
  await page.waitForSelector('.still', { state: 'detached' });
  await page.waitForSelector('text=1 process working');
  await page.waitForTimeout(300);
  await page.screenshot({ path: path.join(PICTURES, `${name}.png`) });
  await context.close();
}
await browser.close();
await server.close();
watch.kill('SIGINT');
await new Promise((resolve) => watch.once('exit', resolve));
fs.rmSync(path.dirname(folder), { recursive: true, force: true });

/** A pump that ends because it waits for a person has exit code 4. */
function run(...words) {
  try {
    guild(...words);
  } catch (error) {
    if (error.status !== 4) throw error;
  }
}
