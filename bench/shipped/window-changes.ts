/**
 * The time from a change on disk until it is on the screen, on the pages that read the most: lists
 * of all tasks, and pages that sum up the whole event log.
 */
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { atMost, median, type Row } from '../harness/rows.js';

const LIMIT_MS = 150;

interface Changed {
  /** The end of a sentence. */
  where: string;
  page: string;
  /** A text that appears when the page has its data. */
  shown: string;
  /** Writes a file after which `name` is on the page. */
  write(root: string, name: string): void;
}

const ADDED = (root: string, name: string): void =>
  fs.writeFileSync(path.join(root, 'tasks', 'pending', `${name}.json`), JSON.stringify({ description: name }));
const LIST = '.tr:not(.thead)';

const CHANGES: Changed[] = [
  { where: '', page: 'tasks', shown: LIST, write: ADDED },
  { where: ', in a list of roots', page: 'tasks?where=parent+IS+NULL', shown: LIST, write: ADDED },
  {
    where: ', in a list of failed tasks',
    page: "tasks?where=state+%3D+'failed'",
    shown: LIST,
    write(root, name) {
      const at = new Date().toISOString();
      const task = { id: name, root: name, role: 'root', description: name, created_at: at, ended_at: at, version: 1 };
      const error = { code: 'tool_failed', message: 'the service did not answer' };
      const rest = { requirements: [], dependencies: [], context: {}, priority: 'C', depth: 0, attempts: 1, error };
      fs.writeFileSync(path.join(root, 'tasks', 'failed', `${name}.json`), JSON.stringify({ ...task, ...rest }));
    },
  },
  { where: ', in a list with an order', page: 'tasks?where=ORDER+BY+created_at+DESC', shown: LIST, write: ADDED },
  { where: ', as a tree', page: 'tasks?view=tree', shown: LIST, write: ADDED },
  { where: ', on the board', page: 'tasks?view=board', shown: '.kanban', write: ADDED },
  { where: ', among the agents', page: 'agents', shown: 'h1', write: newAgent },
];

function newAgent(root: string, name: string): void {
  fs.writeFileSync(path.join(root, 'agents', `${name}.md`), `---\ndescription: Waits\n---\nWait.\n`);
}

/** `page`: a page that is logged in. */
export async function changesOnDisk(page: Page, root: string, rounds: number): Promise<Row[]> {
  const rows: Row[] = [];
  for (const { where, page: shownPage, shown, write } of CHANGES) {
    await page.goto(`${new URL(page.url()).origin}/#/${shownPage}`);
    await page.waitForSelector(shown);
    await sleep(1000);
    const times: number[] = [];
    for (let round = 0; round < Math.max(5, rounds); round++)
      times.push(await untilShown(page, `seen-${rows.length}-${round}-${process.pid}`, (name) => write(root, name)));
    rows.push(atMost(`window: a change on disk until it is on the screen${where}`, median(times), 'ms', LIMIT_MS));
  }
  return rows;
}

/** From the write until the text is in the page, both read from the same clock. */
async function untilShown(page: Page, name: string, write: (name: string) => void): Promise<number> {
  const appeared = page.evaluate<number>(`new Promise((resolve) => {
    const look = () => document.body.textContent.includes('${name}') ? resolve(Date.now()) : requestAnimationFrame(look);
    look();
  })`);
  await sleep(300);
  const start = Date.now();
  write(name);
  return (await appeared) - start;
}
