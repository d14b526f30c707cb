/**
 * What large pages cost: the time until 30,000 spans are on the screen, and the work of the page
 * for each frame while a person scrolls and zooms. The work is processor time of the page's thread,
 * because on a busy machine frames are late for other reasons.
 */
import fs from 'node:fs';
import path from 'node:path';
import type { CDPSession, Page } from 'playwright-core';
import { atMost, median, type Row } from '../harness/rows.js';

const PARTS = 300;
const CALLS = 100;
const FRAMES = 120;
/** 60 frames in a second. */
const FRAME_MS = 16.7;
const START = Date.parse('2026-03-02T08:00:00.000Z');

/** A root with 300 tasks and 30,000 model calls, which ended long ago. */
export function writeLongRun(root: string): void {
  const iso = (ms: number): string => new Date(START + ms).toISOString();
  const lines: string[] = [];
  const record = (id: string, more: object): void => {
    const task = { id, root: 'big', role: 'root', description: `The work of ${id}`, created_at: iso(0) };
    const ended = { ended_at: iso(PARTS * CALLS * 20), result: 'Done.', depth: 0, attempts: 1, version: 1 };
    const rest = { requirements: [], dependencies: [], context: {}, priority: 'C' };
    fs.writeFileSync(
      path.join(root, 'tasks', 'completed', `${id}.json`),
      JSON.stringify({ ...task, ...rest, ...ended, ...more }),
    );
  };
  record('big', {});
  for (let part = 0; part < PARTS; part++) {
    const id = `big.part-${String(part).padStart(4, '0')}`;
    record(id, { parent: 'big', role: 'request' });
    for (let call = 0; call < CALLS; call++) {
      const usage = { model: 'm/x', role: 'request', turn: call + 1, calls: 0, input_tokens: 9, output_tokens: 1 };
      const at = iso((part * CALLS + call) * 20);
      lines.push(
        JSON.stringify({ at, name: 'model.answered', task: id, agent: 'boss', ...usage, ms: 15, micro_usd: 1 }),
      );
    }
  }
  fs.mkdirSync(path.join(root, 'events'), { recursive: true });
  fs.writeFileSync(path.join(root, 'events', '2026-03-02.jsonl'), `${lines.join('\n')}\n`);
}

/** `page`: a page that is logged in. */
export async function largePages(page: Page, rounds: number): Promise<Row[]> {
  const origin = new URL(page.url()).origin;
  const times: number[] = [];
  for (let round = 0; round < Math.max(3, rounds); round++) {
    await page.goto(`${origin}/assets/nothing`);
    const before = performance.now();
    await page.goto(`${origin}/assets/nothing`);
    const start = performance.now();
    await page.goto(`${origin}/#/task/big`);
    await page.waitForSelector('.wfscroll .track i');
    times.push(performance.now() - start - (start - before));
  }
  const spans = atMost('window: 30,000 spans until they are on the screen', median(times), 'ms', 1000);
  const debug = await page.context().newCDPSession(page);
  await debug.send('Performance.enable', { timeDomain: 'threadTicks' });
  const zoom = await workPerFrame(page, debug, 'frame % 2 ? press(frame % 20 < 10 ? "+" : "-") : press("ArrowRight")');
  const scroll = await workPerFrame(page, debug, 'document.querySelector(".wfscroll").scrollTop += 240');
  await page.goto(`${origin}/#/tasks`);
  await page.waitForSelector('.tr:not(.thead)');
  const list = await workPerFrame(page, debug, 'document.querySelector(".tscroll").scrollTop += 340');
  await debug.detach();
  return [
    spans,
    atMost('window: zooming and panning 30,000 spans, work for a frame', zoom, 'ms', FRAME_MS),
    atMost('window: scrolling 300 rows of spans, work for a frame', scroll, 'ms', FRAME_MS),
    atMost('window: scrolling the list of tasks, work for a frame', list, 'ms', FRAME_MS),
  ];
}

/** `act`: runs before every frame. */
async function workPerFrame(page: Page, debug: CDPSession, act: string): Promise<number> {
  const before = await taskMs(debug);
  await page.evaluate(`new Promise((resolve) => {
    const press = (key) => document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
    let frame = 0;
    const step = () => { if (frame++ >= ${FRAMES}) return resolve(); ${act}; requestAnimationFrame(step); };
    requestAnimationFrame(step);
  })`);
  return ((await taskMs(debug)) - before) / FRAMES;
}

async function taskMs(debug: CDPSession): Promise<number> {
  const { metrics } = await debug.send('Performance.getMetrics');
  return (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0) * 1000;
}
