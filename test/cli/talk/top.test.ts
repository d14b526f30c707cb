/** `guild top` on a real terminal: who works, selection, answers, messages, cancelling, why. */
import assert from 'node:assert/strict';
import { topFrame, type Frame } from '../../../src/cli/commands/top/frame.js';
import { terminal } from '../../../src/cli/render/terminal.js';
import type { Io } from '../../../src/cli/process/io.js';
import { place, scripted, succeeds, type Place } from '../../kit/guild.js';
import { KEYS, pty, settled, SIZES } from '../../kit/pty.js';
import { until } from '../../kit/until.js';
import { sampleTests } from '../../kit/sample.js';

const test = sampleTests('cli/talk/top', 4);

function office(): Record<string, string> {
  return {
    ...scripted(`
- {agent: ana, turn: 1, call: [{execute_command: {command: "touch a; echo done"}}]}
- {agent: ana, turn: 2, say: it is done}
- {agent: ben, turn: 1, call: [{read_file: {path: notes.md}}]}
- {agent: ben, wait: 30m, say: late}
`),
    'notes.md': '# My notes\n',
    'agents/ana.md': '---\ndescription: Works\ntools: [execute_command]\n---\nDo it.\n',
    'agents/ben.md': '---\ndescription: Thinks\ntools: [read_file]\n---\nThink.\n',
  };
}

const completed = (workspace: Place): string[] =>
  workspace.list('tasks/completed').filter((name) => !/call-/.test(name));

for (const size of SIZES)
  test(`top shows who works, answers, tells, explains and cancels, at ${size.columns} by ${size.rows}`, async (t) => {
    const workspace = place(t, office());
    for (const [id, to] of [
      ['slow', 'ben'],
      ['t1', 'ana'],
    ] as const)
      succeeds(await workspace.guild('task', 'add', `do ${id}`, '--to', to, '--id', id));
    const watch = pty(t, workspace.root, SIZES[0]!, 'watch');
    await watch.says(/\? details/);
    const top = pty(t, workspace.root, size, 'top');
    await top.says(/ben/);
    if (size.columns > 40) await top.says(/do slow · \d+ s[^\n]*thinking · # My notes/);
    await top.says(/>/);
    top.type(KEYS.enter);
    await top.says(/needs your approval/);
    await top.says(/\? details/);
    await settled();
    top.type('y');
    await until(() => completed(workspace).includes('t1.json'));
    await top.says(/guild top/);
    await until(() => !/for you/.test(top.text().slice(top.text().lastIndexOf('guild top'))));
    top.type('w');
    await top.says(/arrows scroll/);
    top.type('q');
    top.type('t');
    await top.says(/tell ben: /);
    top.type(`hurry up${KEYS.enter}`);
    await top.says(/told: hurry up/);
    top.type('x');
    await top.says(/Type yes/);
    top.type(`yes${KEYS.enter}`);
    await until(() => workspace.list('tasks/failed').includes('slow.json'));
    top.type('q');
    assert.equal(await top.ended, 0);
    watch.type(KEYS.ctrlC);
    await watch.ended;
  });

test('a key that opens a request does not answer it, and a killed top leaves everything as it is', async (t) => {
  const workspace = place(t, office());
  succeeds(await workspace.guild('task', 'add', 'do t1', '--to', 'ana', '--id', 't1'));
  await workspace.guild('pump', '--all', '--quiet');
  const top = pty(t, workspace.root, SIZES[0]!, 'top');
  await top.says(/for you[^]*>/);
  top.type('yyy');
  await top.says(/\? details/);
  await settled();
  assert.equal((JSON.parse((await workspace.guild('approve', '--json')).out) as unknown[]).length, 1);
  top.kill();
  await top.ended;
  assert.equal((JSON.parse((await workspace.guild('approve', '--json')).out) as unknown[]).length, 1);
});

test('who works comes before errors, and errors of ten minutes ago share one line', () => {
  const io = { stdout: { isTTY: true, columns: 80, rows: 24 }, stderr: {}, env: {} } as unknown as Io;
  const agent = (name: string, state: string, why = '', tasks: string[] = []) => ({
    ...{ agent: name, state, tasks, waitsFor: [], why, trigger: '' },
  });
  const minutesAgo = (minutes: number): string => new Date(Date.now() - minutes * 60_000).toISOString();
  const frame = {
    seen: {
      agents: [
        agent('adam', 'error', 'OPENAI_API_KEY is not set, and this reason is long enough to take several rows of the screen'),
        agent('bea', 'error', 'it failed a moment ago'),
        agent('carl', 'error', 'another old reason'),
        agent('dora', 'working', '', ['t1']),
      ],
      open: [], forHuman: [], takers: new Map(), peers: [], problems: [],
    },
    ledger: { tokens: 0, microUsd: 0, calls: 0, unpriced: 0, latest: [] },
    titles: new Map(),
    turns: [],
    errorAt: (name: string) => (name === 'bea' ? minutesAgo(1) : minutesAgo(70)),
    name: 'office',
    height: 12,
    isWhole: false,
  } as unknown as Frame; // prettier-ignore
  const lines = topFrame(frame, terminal(io));
  const text = lines.join('\n');
  assert.ok(text.indexOf('dora') < text.indexOf('bea  '), text);
  assert.equal(lines.filter((line) => /adam|carl/.test(line)).length, 1, text);
  assert.match(text, /earlier: adam \(1 h 10 min ago\), carl/);
  assert.doesNotMatch(text, /OPENAI_API_KEY/);
});

test('an answer in top is shown as answered at once, also if nobody works', async (t) => {
  const workspace = place(t, office());
  succeeds(await workspace.guild('task', 'add', 'do t1', '--to', 'ana', '--id', 't1'));
  await workspace.guild('pump', '--all', '--quiet');
  const top = pty(t, workspace.root, SIZES[0]!, 'top');
  await top.says(/for you[^]*>/);
  top.type(KEYS.enter);
  await top.says(/\? details/);
  await settled();
  top.type('y');
  await top.says(/answered; guild watch or guild pump carries on/);
  assert.ok(!/for you\n/.test(top.text().slice(top.text().lastIndexOf('guild top'))));
  const inbox = pty(t, workspace.root, SIZES[0]!, 'inbox');
  await inbox.says(/nothing waits for you/);
  top.type('q');
  await top.ended;
  assert.equal(await pty(t, workspace.root, SIZES[0]!, 'pump', '--all').ended, 0);
  assert.deepEqual(completed(workspace), ['t1.json']);
});
