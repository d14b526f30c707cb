/** A real Chromium, headless, which connects to nothing by itself. */
import fs from 'node:fs';
import { createRequire } from 'node:module';
import { after, type TestContext } from 'node:test';
import { chromium, type Browser, type Page } from 'playwright-core';

const EXECUTABLE = '/usr/bin/chromium';
const ARGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** For each wait. Only a page that never gets there takes this long, even on a busy machine. */
const LIMIT_MS = 180_000;

/** One browser for all tests of this process; each test starts without pages and cookies. */
let started: Promise<Browser> | undefined;

/** Undefined, with the test skipped, where there is no Chromium. */
export async function openBrowser(t: TestContext): Promise<Browser | undefined> {
  if (!fs.existsSync(EXECUTABLE)) {
    t.skip(`${EXECUTABLE} is missing`);
    return undefined;
  }
  started ??= chromium.launch({ executablePath: EXECUTABLE, args: ARGS });
  const browser = await started;
  t.after(async () => {
    for (const context of browser.contexts()) await context.close();
  });
  return browser;
}

after(async () => (await started)?.close());

const AXE = fs.readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Trusted Types forbid injected scripts, so axe comes through the debugger. */
export async function seriousFaults(page: Page): Promise<string[]> {
  const debug = await page.context().newCDPSession(page);
  const run = `${AXE}; axe.run().then((found) => JSON.stringify(found.violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html.slice(0, 120)).join(' | '))))`;
  const { result } = await debug.send('Runtime.evaluate', { expression: run, awaitPromise: true });
  await debug.detach();
  return JSON.parse(String(result.value)) as string[];
}

/**
 * Texts in a column of single letters, texts that end at an edge without a sign of it, and numbers
 * that are wider than their column.
 */
export function squeezedTexts(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(`(() => {
    const faults = [];
    for (const element of document.querySelectorAll('body *:not(script, style, svg *)')) {
      const own = [...element.childNodes].filter((node) => node.nodeType === 3).map((node) => node.data.trim()).join(' ');
      const box = element.getBoundingClientRect();
      if (own.length < 8 || box.width < 4 || !element.checkVisibility()) continue;
      const { display, fontSize, overflowX, textOverflow, whiteSpace } = getComputedStyle(element);
      const name = element.tagName.toLowerCase() + '.' + element.className + ': ' + own.slice(0, 60);
      if (display !== 'inline' && box.width < 3 * parseFloat(fontSize) && box.height > 6 * box.width) faults.push('narrow ' + name);
      const isCut = overflowX === 'hidden' && whiteSpace !== 'normal' && element.scrollWidth > element.clientWidth + 1;
      if (element.matches('.num') && element.scrollWidth > element.clientWidth + 1) faults.push('wide ' + name);
      if (isCut && (textOverflow !== 'ellipsis' || display.endsWith('flex'))) faults.push('cut ' + name);
    }
    return faults;
  })()`);
}

interface Shown {
  page: Page;
  /** Errors of the page and refused resources, which a healthy page does not have. */
  faults: string[];
}

export async function showPage(browser: Browser, link: string, width = 1440, dark = false): Promise<Shown> {
  const size = { width, height: width < 500 ? 844 : 1000 };
  const context = await browser.newContext({ viewport: size, colorScheme: dark ? 'dark' : 'light' });
  context.setDefaultTimeout(LIMIT_MS);
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(error.message));
  page.on(
    'console',
    (message) => message.type() === 'error' && faults.push(`${message.text()} ${message.location().url}`),
  );
  await page.goto(link);
  await page.waitForSelector('.app');
  return { page, faults };
}
