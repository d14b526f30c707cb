/**
 * Every command that reads, in a folder and on a shared store with the same work: people must not
 * notice where the work is kept.
 */
import assert from 'node:assert/strict';
import { place, scripted, succeeds, type Place, type Ran } from '../kit/guild.js';
import { until } from '../kit/until.js';
import { openWindow, type Reply } from '../kit/web/window.js';
import { NO_POSTGRES } from '../kit/postgres/server.js';
import { field } from './bench.js';
import { sampleTests } from '../kit/sample.js';

const test = sampleTests('postgres, long', 3, 2);

const options = { skip: NO_POSTGRES };
const SCRIPT = `- {agent: ana, turn: 1, say: "done: {{task}}"}
- {agent: boss, turn: 1, call: [{delegate_to_agent: {agent: hand, task: "Count the files"}}]}
- {agent: boss, turn: 2, say: "all counted"}
- {agent: hand, turn: 1, call: [{list_directory: {path: "papers"}}]}
- {agent: hand, turn: 2, say: "some files"}
- {agent: asks, turn: 1, call: [{execute_command: {command: "touch made"}}]}
- {agent: asks, turn: 2, say: "asked and answered"}
- {agent: fails, turn: 1, fail: auth, message: "no key"}
`;
const FILES = scripted(SCRIPT, {
  'papers/one.md': 'One.\n',
  'agents/ana.md': '---\ndescription: Answers\n---\nAnswer.\n',
  'agents/asks.md': '---\ndescription: Asks\ntools: [execute_command]\n---\nAsk.\n',
  'agents/fails.md': '---\ndescription: Fails\n---\nFail.\n',
  'agents/rests.md': '---\ndescription: Rests\n---\nRest.\n',
});
FILES['guild.yaml'] += 'channels: { news: {} }\n';

/** The work: ended, delegated, failed, waiting for a person, paused, with a missing dependency. */
async function work(here: Place): Promise<void> {
  // One after the other, so that both places have them in the same order.
  const add = async (id: string, to: string, ...more: string[]): Promise<void> => {
    succeeds(await here.guild('task', 'add', `Please do ${id}`, '--to', to, '--id', id, ...more));
    await here.guild('pump', '--all');
  };
  await add('one', 'ana');
  await add('two', 'boss');
  await add('bad', 'fails');
  await add('may', 'asks');
  succeeds(await here.guild('agent', 'pause', 'rests', 'on leave'));
  await add('later', 'rests');
  await add('after', 'ana', '--after', 'later');
  succeeds(await here.guild('tell', 'news', 'a note for all'));
}

const COMMANDS = [
  ['task', 'list'],
  ['task', 'list', '--all'],
  ['task', 'list', '--state', 'completed'],
  ['task', 'show', 'one'],
  ['task', 'show', 'two'],
  ['task', 'show', 'bad'],
  ['task', 'show', 'nowhere'],
  ['state'],
  ['state', 'ana'],
  ['graph', 'two'],
  ['why', 'one'],
  ['why', 'two'],
  ['why', 'bad'],
  ['why', 'may'],
  ['why', 'later'],
  ['why', 'after'],
  ['why', 'nowhere'],
  ['cost'],
  ['cost', '--by', 'task'],
  ['cost', '--by', 'model'],
  ['cost', '--by', 'day'],
  ['query', 'SELECT id, state, to FROM tasks ORDER BY id'],
  ['query', 'SELECT id, to FROM tasks WHERE completed = true'],
  ['query', 'SELECT COUNT(*) FROM tasks'],
  ['query', "SELECT COUNT(*) FROM tasks WHERE state = 'completed' AND to = 'ana'"],
  ['query', 'SELECT agent, task, messages FROM sessions ORDER BY task'],
  ['query', 'SELECT name, task FROM events WHERE task = "one" ORDER BY name'],
  ['query', 'SELECT name FROM agents ORDER BY name'],
  ['top', '--once'],
  ['check'],
  ['inbox'],
  ['approve'],
  ['notes'],
  ['notes', 'news'],
  ['mail'],
  ['schedule'],
  ['agent', 'list'],
  ['prompt', 'ana'],
  ['lint'],
  ['policy', 'ls'],
];

/** The pages that the window reads. */
const PAGES = [
  ...['hall', 'requests', 'tasks', 'board', 'tasks/one', 'tasks/two', 'tasks/bad', 'tasks/may'],
  ...['tasks/two/why', 'tasks/later/why', 'sessions', 'sessions/ana-one', 'sessions/boss-two', 'agents', 'agents/ana'],
  ...['waits', 'costs', 'costs?by=task', 'machines', 'replay/two', 'notes?channel=news'],
];

test('every command that reads says the same of a folder and of a shared store', options, async (t) => {
  const { server, schema, end } = await field();
  const near = place(t, FILES);
  const far = place(t, {
    ...FILES,
    'guild.yaml': `${FILES['guild.yaml']}store: ${server.url}?schema=${schema}\n`,
  });
  succeeds(await far.guild('publish'));
  await work(near);
  await work(far);
  for (const command of COMMANDS)
    for (const more of [[], ['--json']])
      await t.test(`guild ${[...command, ...more].join(' ')}`, async () => {
        const [ofFolder, ofStore] = [await near.guild(...command, ...more), await far.guild(...command, ...more)];
        const shown = LOGS.has(command[0]!) ? inAnyOrder : (text: string) => text;
        assert.equal(shown(settled(ofStore, far)), shown(settled(ofFolder, near)));
      });
  const [nearWindow, farWindow] = [await openWindow(t, near), await openWindow(t, far)];
  for (const page of PAGES)
    await t.test(`GET /api/${page}`, async () => {
      const [ofFolder, ofStore] = [await nearWindow.get(`/api/${page}`), await farWindow.get(`/api/${page}`)];
      assert.equal(ofFolder.status, 200, ofFolder.text);
      const text = ({ status, text }: Reply): Ran => ({ code: status, out: text, err: '' });
      assert.equal(inAnyOrder(settled(text(ofStore), far)), inAnyOrder(settled(text(ofFolder), near)));
    });
  await t.test('the window of a shared store hears of a change', async () => {
    const hall = async (): Promise<string> => (await farWindow.get('/api/tasks')).text;
    assert.doesNotMatch(await hall(), /Please do more/);
    succeeds(await far.guild('task', 'add', 'Please do more', '--to', 'ana', '--id', 'more'));
    await until(async () => /Please do more/.test(await hall()));
  });
  await end();
});

/** Commands that show events: of two that happen at the same time, either may come first. */
const LOGS = new Set(['why', 'top']);

function inAnyOrder(text: string): string {
  return text.split('\n').sort().join('\n');
}

/** The keys of JSON in one order, each value on its own line; any other text as it is. */
function sorted(text: string): string {
  const inOrder = (value: unknown): unknown =>
    Array.isArray(value)
      ? value.map(inOrder)
      : typeof value === 'object' && value !== null
        ? Object.fromEntries(
            Object.entries(value)
              .sort(([a], [b]) => (a < b ? -1 : 1))
              .map(([key, each]) => [key, inOrder(each)]),
          )
        : value;
  const lines = text.split('\n').filter(Boolean);
  const isJson = lines.length > 0 && lines.every((line) => /^[[{]/.test(line));
  return isJson ? lines.map((line) => JSON.stringify(inOrder(JSON.parse(line)), undefined, 1)).join('\n') : text;
}

/** Without what differs between any two runs: times, folders, processes, random ids. */
function settled({ code, out, err }: Ran, { root }: Place): string {
  const said = `${sorted(out)}\n${err}`
    .replaceAll(root, 'ROOT')
    .replaceAll(root.split('/').at(-1)!, 'FOLDER')
    // A request on several machines says where it was asked.
    .replace(/^ *"machine": ".*",\n/gm, '')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replace(/\b\d\d:\d\d(:\d\d)?\b/g, 'TIME')
    .replace(/ *\b\d+(\.\d+)? m?s\b/g, ' MS')
    .replace(/"((busy_)?ms|prints|seen|peer|seal)": ?("[^"]*"|\d+)/g, '"$1":0')
    // Ids without digits.
    .replace(/"(cause|call|id)": ?"[a-z]{10}"/g, '"$1": "ID"')
    .replace(/…[0-9a-z]{8}\b/g, '…ID')
    .replace(/\bcall-[0-9a-z]{10}\b/g, 'call-ID')
    // Events of a file that happen in the same millisecond are numbered.
    .replace(/^ *"seq": ?\d+,?\n/gm, '')
    // States are published at intervals, so their number depends on the time.
    .replace(/\b\d+ notes\b/g, 'MANY notes')
    .replace(/"notes": ?\d+\b/g, '"notes": MANY')
    .replace(/\b(?=[0-9a-z]*\d)([0-9a-z]{26}|[0-9a-z]{10}|[0-9a-f]{16,64})\b/gi, 'ID');
  return `exit ${code}\n${said}`;
}
