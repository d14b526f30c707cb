/** Every field that an agent can write, with markup and links that would run, on every page. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { place, succeeds, type Place } from '../kit/guild.js';
import { sampleTests } from '../kit/sample.js';
import { PAGES } from '../kit/web/opened.js';
import { openBrowser, showPage } from '../kit/web/browser.js';
import { openWindow, SCRIPTED } from '../kit/web/window.js';

const test = sampleTests('web/hostile', 2);

const HOSTILE = [
  '<img src=x onerror="window.hacked=1">',
  '<script>window.hacked=1</script>',
  '[click](javascript:window.hacked=1)',
  '![x](http://127.0.0.1:9/leak.png)',
  '<a href="javascript:window.hacked=1">go</a>',
  '</script><script>window.hacked=1</script>',
].join('\n\n');
const LINE = HOSTILE.replaceAll('\n', ' ');

interface Hidden {
  hacked: unknown;
  images: number;
  links: string[];
}

/** Opens each page and each button that shows more of it, and looks for anything that runs. */
async function nothingRuns(t: TestContext, workspace: Place, pages: readonly string[]): Promise<void> {
  const browser = await openBrowser(t);
  if (browser === undefined) return;
  const { server, host } = await openWindow(t, workspace);
  const { page, faults } = await showPage(browser, server.link());
  const asked: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  const look = async (name: string): Promise<void> => {
    await page.waitForSelector('.still', { state: 'detached' });
    const found: Hidden = await page.evaluate(`({
      hacked: window.hacked ?? null,
      images: document.querySelectorAll('img, iframe, object, embed').length,
      links: [...document.querySelectorAll('a, area, use')].map((each) => String(each.href?.baseVal ?? each.href))
        .filter((href) => /^(javascript|data|vbscript):/i.test(href)),
    })`);
    assert.deepEqual(found, { hacked: null, images: 0, links: [] }, name);
  };
  for (const name of pages) {
    await page.goto(`http://${host}/#/${name}`);
    await page.waitForSelector(':is(h1, h2):visible');
    await look(name);
    await page.evaluate(`document.querySelectorAll('main details').forEach((each) => (each.open = true))`);
    for (const view of await page.locator('[aria-label=View] button').all()) {
      await view.click();
      await look(`${name}, ${await view.textContent()}`);
    }
  }
  assert.deepEqual(
    asked.filter((url) => !url.startsWith(`http://${host}/`)),
    [],
  );
  assert.deepEqual(faults, []);
}

const named = (workspace: Place, folder: string, end: string): string[] =>
  workspace
    .list(folder)
    .flatMap((name) => (name.endsWith(end) ? [encodeURIComponent(name.slice(0, -end.length))] : []));

test('text of agents never becomes markup, a link that runs, or a request', async (t) => {
  const workspace = place(t, {
    'guild.yaml': `${SCRIPTED}channels: { news: {} }\n`,
    'agents/boss.md': `---\ndescription: ${JSON.stringify(HOSTILE)}\ntools: [execute_command]\n---\n${HOSTILE}\n`,
    'script.yaml': `- turn: 1\n  say: ${JSON.stringify(HOSTILE)}\n  call:\n    - execute_command: {command: ${JSON.stringify(`touch '${HOSTILE}'`)}}\n`,
    'tasks/plan.task.md': `# ${HOSTILE}\n\n- [ ] ${LINE} @boss\n`,
  });
  await workspace.guild('run', 'boss', HOSTILE);
  succeeds(await workspace.guild('tell', 'news', HOSTILE));
  const [task] = named(workspace, 'tasks/waiting', '.json');
  const [session] = named(workspace, 'sessions', '.session.yaml');
  const own = [`task/${task}`, `conversation/${session}`, `replay/${task}`, `prompt/${session}`, 'agents/boss'];
  await nothingRuns(t, workspace, [...PAGES, 'notes/news', ...own]);
});

const AGENTS: Record<string, string> = {
  asker: 'tools: [ask_human]',
  writer: 'tools: [write_file]',
  planner: 'tools: [execute_command]\nplan_approval: true',
  failing: 'tools: [read_file]',
  maker: 'tools: [create_agent]',
  left: 'capabilities: [juggling]',
  right: 'capabilities: [juggling]',
};

const MADE = `---\ndescription: ${JSON.stringify(LINE)}\n---\n${HOSTILE}\n`;

const SCRIPT = [
  { task: '*.bid-*', call: [{ place_bid: { proceed: true, able: true, fitness: 9, reason: LINE } }] },
  {
    agent: 'asker',
    turn: 1,
    say: HOSTILE,
    call: [{ ask_human: { question: HOSTILE, choices: [LINE, '<b>no</b>'] } }],
  },
  { agent: 'writer', turn: 1, call: [{ write_file: { path: `memory/<b onclick=alert(1)>.md`, content: HOSTILE } }] },
  { agent: 'failing', fail: 'refused', message: LINE },
  { agent: 'planner', say: HOSTILE },
  { agent: 'maker', turn: 1, call: [{ create_agent: { name: 'helper', content: MADE } }] },
  { agent: '*', say: HOSTILE },
];

test('questions, file changes, new agents, plans, bids, failures, answers and attachments are text', async (t) => {
  const workspace = place(t, {
    'guild.yaml': `${SCRIPTED.replace('default_agent: boss\n', '')}channels: { news: {} }\n`,
    'script.yaml': JSON.stringify(SCRIPT),
    'memory/<i>notes<\u2215i>.md': HOSTILE,
    'tasks/pending/free.json': JSON.stringify({ description: HOSTILE, requirements: ['juggling'] }),
    ...Object.fromEntries(
      Object.entries(AGENTS).map(([name, head]) => [
        `agents/${name}.md`,
        `---\ndescription: ${JSON.stringify(LINE)}\n${head}\n---\n${HOSTILE}\n`,
      ]),
    ),
  });
  for (const name of ['asker', 'writer', 'planner', 'failing', 'maker'])
    await workspace.guild('run', name, HOSTILE, '--attach', 'memory/<i>notes<\u2215i>.md');
  await workspace.guild('pump', '--all');
  succeeds(await workspace.guild('check'));
  const sessions = named(workspace, 'sessions', '.session.yaml');
  const tasks = ['waiting', 'completed', 'failed'].flatMap((state) => named(workspace, `tasks/${state}`, '.json'));
  assert.ok(sessions.length >= 6 && tasks.length >= 6, `${sessions.length} conversations, ${tasks.length} tasks`);
  const own = [
    ...named(workspace, 'tasks/pending', '.json').map((id) => `inbox/${id}`),
    ...tasks.map((id) => `task/${id}`),
    ...sessions.flatMap((id) => [`conversation/${id}`, `prompt/${id}`]),
    `compare/${sessions[0]}%7C${sessions[1]}`,
    'replay/free',
  ];
  await nothingRuns(t, workspace, [...PAGES, 'notes/news', ...own]);
});
