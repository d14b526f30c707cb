/**
 * The window as shipped, in a real browser: first paint beside 10,000 tasks, a change on disk until
 * it is on the screen, the size of the script, and the cost of an idle server and of 50 readers.
 * Times are compared with an empty answer of the same server, because machines differ more than
 * programs do.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { chromium, type Browser, type Page } from 'playwright-core';
import { writeFinishedTasks } from '../harness/finished-workspace.js';
import { atMost, atMostTimes, median, without, type Bench, type Row, type Testbed } from '../harness/rows.js';
import { shippedWorkspace } from '../harness/shipped-workspace.js';
import { threadsCpuMs } from '../harness/usage.js';
import { changesOnDisk } from './window-changes.js';
import { largePages, writeLongRun } from './window-frames.js';

const CHROMIUM = '/usr/bin/chromium';
const IDLE_S = 30;
const READERS = 50;

export const windowBench: Bench = {
  name: 'window',
  minutes: 2,
  async run(testbed) {
    if (!fs.existsSync(CHROMIUM)) return [without('window', `${CHROMIUM} is missing`)];
    const root = shippedWorkspace(testbed.build, testbed.folder('window'));
    const tasks = testbed.scale(10_000, 1000);
    writeFinishedTasks(root, tasks);
    writeLongRun(root);
    const served = await serve(testbed, root);
    const args = ['--no-sandbox', '--disable-gpu', '--disable-background-networking'];
    const browser = await chromium.launch({ executablePath: CHROMIUM, args });
    try {
      const page = await entered(browser, served.url);
      return [
        scriptSize(testbed),
        await firstPaint(browser, page, testbed, tasks),
        ...(await changesOnDisk(page, root, testbed.rounds)),
        await manyReaders(page, served.child, root, testbed),
        ...(await largePages(page, testbed.rounds)),
        ...(await idle(served.child)),
      ];
    } finally {
      await browser.close();
      served.child.kill('SIGINT');
    }
  },
};

interface Serving {
  child: ChildProcess;
  url: string;
}

async function serve({ build }: Testbed, root: string): Promise<Serving> {
  const child = spawn(process.execPath, [build.guild, 'ui', '--no-work', '--json', '--workspace', root], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  for await (const part of child.stdout) {
    text += String(part);
    const url = /"url": ?"([^"]+)"/.exec(text)?.[1];
    if (url !== undefined) return { child, url };
  }
  throw new Error(`guild ui ended: ${text}`);
}

async function entered(browser: Browser, url: string): Promise<Page> {
  const page = await (await browser.newContext()).newPage();
  await page.goto(url);
  await page.waitForSelector('.app');
  return page;
}

/** Everything that any page can load, compressed. */
function scriptSize({ build }: Testbed): Row {
  const folder = path.resolve(path.dirname(build.guild), '../dist/web');
  const files = fs.readdirSync(folder).filter((name) => name.endsWith('.js.br'));
  const bytes = files.reduce((sum, name) => sum + fs.statSync(path.join(folder, name)).size, 0);
  return atMost('window: all scripts, compressed', bytes / 1000, 'kB', 250);
}

async function firstPaint(browser: Browser, page: Page, { rounds }: Testbed, tasks: number): Promise<Row> {
  const origin = new URL(page.url()).origin;
  const state = await page.context().storageState();
  const times: number[] = [];
  const empty: number[] = [];
  for (let round = 0; round < Math.max(3, rounds); round++) {
    const context = await browser.newContext({ storageState: state });
    const fresh = await context.newPage();
    const before = performance.now();
    await fresh.goto(`${origin}/assets/nothing`);
    empty.push(performance.now() - before);
    const start = performance.now();
    await fresh.goto(`${origin}/#/tasks`);
    await fresh.waitForSelector('.tr:not(.thead)');
    times.push(performance.now() - start);
    await context.close();
  }
  const ms = median(times) - median(empty);
  return atMost(`window: first rows beside ${tasks} tasks, over an empty answer`, ms, 'ms', 1000);
}

/**
 * The processor time of the server for one change that many windows read, divided by its time for
 * one window.
 */
async function manyReaders(page: Page, child: ChildProcess, root: string, { rounds }: Testbed): Promise<Row> {
  const cost = async (readers: number): Promise<number> => {
    const before = threadsCpuMs(child.pid!);
    for (let round = 0; round < Math.max(3, rounds); round++) {
      fs.writeFileSync(path.join(root, 'tasks', 'pending', `r${readers}-${round}.json`), '{"description": "read"}');
      await sleep(400);
      await page.evaluate(`(async () => {
        const { csrf } = JSON.parse(document.getElementById('hello').textContent);
        const read = () => fetch('/api/waits?reader', { headers: { 'x-guild-csrf': csrf } }).then((reply) => reply.text());
        await Promise.all(Array.from({ length: ${readers} }, read));
      })()`);
    }
    return threadsCpuMs(child.pid!) - before;
  };
  const one = await cost(1);
  return atMostTimes(`window: a change read by ${READERS} windows, over one`, await cost(READERS), one, 'ms', 3);
}

/**
 * About eight seconds after the last change V8 collects its garbage, once, in 150 ms of processor
 * time. That belongs to the earlier work: the minute that follows has no such burst.
 */
const SETTLED_S = 15;

async function idle(child: ChildProcess): Promise<Row[]> {
  await sleep(SETTLED_S * 1000);
  const before = threadsCpuMs(child.pid!);
  await sleep(IDLE_S * 1000);
  const share = (threadsCpuMs(child.pid!) - before) / 10 / IDLE_S;
  const status = fs.readFileSync(`/proc/${child.pid}/status`, 'utf8');
  const memory = Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0) / 1000;
  return [
    atMost('window: idle with one open page, share of a core', share, '%', 0.5),
    atMost('window: idle, memory', memory, 'MB', 120),
  ];
}
