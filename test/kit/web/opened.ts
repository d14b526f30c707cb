/** A workspace in a real browser, and the pages that every workspace has. */
import type { TestContext } from 'node:test';
import type { Page } from 'playwright-core';
import type { Place } from '../guild.js';
import { openBrowser, showPage } from './browser.js';
import { openWindow, type Window } from './window.js';

export interface Opened {
  page: Page;
  window: Window;
  workspace: Place;
  go(name: string): Promise<void>;
}

/** Undefined, with the test skipped, where there is no Chromium. */
export async function opened(t: TestContext, workspace: Place, width = 1440): Promise<Opened | undefined> {
  const browser = await openBrowser(t);
  if (browser === undefined) return undefined;
  const window = await openWindow(t, workspace);
  const { page } = await showPage(browser, window.server.link(), width);
  const go = async (name: string): Promise<void> => {
    await page.goto(`http://${window.host}/#/${name}`);
    await page.waitForSelector('.still', { state: 'detached' });
  };
  return { page, window, workspace, go };
}

export const PAGES = [
  'hall',
  'inbox',
  'tasks',
  'waits',
  'conversations',
  'agents',
  'boards',
  'notes/state',
  'costs',
  'history',
  'replay',
  'machines',
  'tasks?view=board',
  'tasks?view=tree',
];
