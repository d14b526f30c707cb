/**
 * A workspace with work of every kind, made from the examples: tasks that are finished, failed,
 * cancelled, pending, worked on and waiting, requests of several kinds, bids, checks, a team and a
 * deadlock that was broken. Tests look at it in the browser, and the pictures in docs/ show it.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { parse } from 'yaml';
import { ROOT, place, succeeds, type Place, type Running } from '../guild.js';
import { until } from '../until.js';

const EXAMPLES = ['swarm', 'composed', 'deadlock', 'office'];

const CONFIG = `model: demo/story
models:
  judge: demo/judge
providers:
  demo: { kind: scripted, script: script.yaml }
prices:
  demo/story: { input: 1, output: 4 }
  demo/judge: { input: 0.1, output: 0.4 }
plugins:
  web: {}
  slack: {}
inbox: { agent: planner }
channels:
  news: {}
coordination: { mode: hierarchical }
budget: { usd: 1.00 }
`;

const AGENTS: Record<string, string> = {
  scribe: 'description: Writes the notes of a release\ntools: [ask_human]',
  typist: 'description: Types what others dictate',
  mapmaker: 'description: Draws maps of rooms',
  keeper: 'description: Keeps the notes of the office true\ntools: [read_file, write_file, execute_command]',
};

const INVITATION =
  "The library opens on Sundays from May on. The first Sunday is the third of May; coffee is free until noon, and the children's corner has a reading at eleven. Bring a friend who has not been here yet. Bicycles can be left in the yard behind the house. The lift works again, so everybody can come up to the reading room on the second floor. We look forward to seeing you, and keep a warm seat for everybody who arrives before ten.";

const CORRECTED = `# How this office is set up

- Containers run under podman, not docker. Commands call it as \`bin/podman\`.
- Running since Monday: \`web\` and \`db\`. There is no \`redis\` container; sessions are kept in \`db\`.
- Start a container with \`bin/podman start <name>\`; ask the person first.
- Slack replies are sent with \`plugins/slack/actions/reply.mjs <recipient> <message>\`.
`;

/** Lines that no example has: a question, a failure, and an answer that is still being written. */
const LINES = [
  {
    agent: 'scribe',
    turn: 1,
    call: [{ ask_human: { question: 'Which version is it, 1.0 or 1.1?', choices: ['1.0', '1.1'] } }],
  },
  {
    agent: 'keeper',
    task: 'drafts*',
    turn: 1,
    say: 'Nobody has opened them since May.',
    call: [{ execute_command: { command: 'rm -r scratch/old' } }],
  },
  { agent: 'keeper', task: 'drafts*', turn: 2, say: 'I keep the old drafts until Friday.' },
  {
    agent: 'keeper',
    turn: 1,
    say: 'I would like to correct it.',
    call: [{ write_file: { path: 'memory/system-config.md', content: CORRECTED } }],
  },
  { agent: 'mapmaker', fail: 'refused', message: 'this model does not draw' },
  { agent: 'typist', pace: '2s', say: INVITATION },
];

const NO_BID = {
  agent: '*',
  task: '*.bid-*',
  call: [{ place_bid: { proceed: false, able: false, fitness: 1, reason: 'Not mine.' } }],
};

/** How long each answer of the scripts takes, so that a run has a length. */
const WAIT_MS = 150;

export async function scene(t: TestContext): Promise<{ workspace: Place; watch: Running }> {
  const workspace = place(t, {}, 'office');
  workspace.put('script.yaml', JSON.stringify([...LINES, ...EXAMPLES.flatMap(linesOf), NO_BID], null, 1));
  workspace.put('guild.yaml', CONFIG);
  // One after the other, because every running agent is asked to bid.
  for (const name of EXAMPLES) {
    copy(path.join(ROOT, 'examples', name), workspace.root, name);
    await pump(workspace);
  }
  for (const [name, head] of Object.entries(AGENTS))
    workspace.put(`agents/${name}.md`, `---\n${head}\n---\nYou are the ${name}.\n`);
  workspace.put('inbox/slack-messages.jsonl', `${JSON.stringify(MESSAGE)}\n`);
  add(workspace, 'diagram', { description: 'Draw the data model of the API', requirements: ['diagram_drawing'] });
  add(workspace, 'notes', { description: 'Write the notes of the release', to: 'scribe' });
  add(workspace, 'seats', { description: 'Draw the seat map', to: 'mapmaker' });
  add(workspace, 'drafts', { description: 'Clear away the old drafts', to: 'keeper' });
  await workspace.guild('agent', 'pause', 'clerk', 'on holiday until Monday');
  workspace.put('tasks/plan.task.md', PLAN);
  add(workspace, 'french', { description: 'Translate the page into French', to: 'clerk' });
  add(workspace, 'letters-1', { description: 'Sort the letters of this week', to: 'clerk' });
  add(workspace, 'letters-2', { description: 'Sort the letters of last week', to: 'clerk' });
  await pump(workspace);
  const [removal] = workspace.list('tasks/pending').filter((name) => name.startsWith('drafts.'));
  succeeds(await workspace.guild('reject', removal!.replace('.json', ''), 'keep it until Friday'));
  add(workspace, 'redis-note', { description: 'Correct what the note says about Redis', to: 'keeper' });
  await workspace.guild('task', 'cancel', 'french');
  await workspace.guild('tell', 'news', 'The reading room is open again.');
  await pump(workspace);
  add(workspace, 'sunday-text', { description: 'Type the invitation for the first Sunday', to: 'typist' });
  const watch = workspace.spawn('watch');
  await until(() => workspace.list('tasks/active').length > 0);
  return { workspace, watch };
}

const PLAN = `# Opening on Sundays

## TODO

- [ ] Order coffee for the first Sunday @clerk
- [ ] Ask the neighbours about bicycles @clerk
`;

const MESSAGE = {
  id: 'slack-1001',
  timestamp: '2026-01-05T09:00:00.000Z',
  channel: 'slack',
  from: 'sarah',
  text: 'Can you check if Redis is running?',
};

function copy(from: string, to: string, name: string): void {
  for (const folder of ['agents', 'memory', 'context', 'bin', 'tasks']) {
    if (!fs.existsSync(path.join(from, folder))) continue;
    for (const entry of fs.readdirSync(path.join(from, folder), { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const source = path.join(entry.parentPath, entry.name);
      const file = path.join(to, path.relative(from, entry.parentPath), renamed(name, entry.name));
      fs.mkdirSync(path.dirname(file), { recursive: true });
      fs.writeFileSync(file, renamed(name, fs.readFileSync(source, 'utf8')), { mode: fs.statSync(source).mode });
    }
  }
}

/** Two examples have an analyst. */
function renamed(example: string, text: string): string {
  return example === 'deadlock' ? text.replaceAll('analyst', 'statistician') : text;
}

/** Scripts of the examples answer at once; without waits, a run would be too short to look at. */
function linesOf(example: string): object[] {
  const text = renamed(example, fs.readFileSync(`${ROOT}/examples/${example}/script.yaml`, 'utf8'));
  return (parse(text) as object[]).map((line) => ({ wait: `${WAIT_MS}ms`, ...line }));
}

function add(workspace: Place, id: string, task: object): void {
  workspace.put(`tasks/pending/${id}.json`, JSON.stringify(task));
}

/** Exit code 4: it ends because it waits for a person. */
async function pump(workspace: Place): Promise<void> {
  const { code, err } = await workspace.guild('pump', '--all');
  assert.ok(code === 0 || code === 4 || code === 1, err);
}
