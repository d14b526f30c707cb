/**
 * A fault while one task advances ends that task with the reason, and neither the process nor
 * another task (R4, R8).
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Event } from '../../src/domain/event.js';
import { StoreFailed } from '../../src/domain/fence.js';
import { problemError, type Problem } from '../../src/domain/problem.js';
import type { BoardTools } from '../../src/ports/board-tools.js';
import { isTooDeep } from '../../src/domain/depth.js';
import { cluster, ROOT, untilQuiet, type Proc } from '../kit/cluster.js';
import { place, scripted, succeeds } from '../kit/guild.js';
import { rawServer, sse } from '../kit/raw-server.js';
import { simDisk } from '../kit/sim-disk.js';
import { writeStory } from '../kit/stories.js';

const AGENT = '---\ndescription: A\ntools: [read_file]\n---\nDo it.\n';
const SCRIPT = '- {agent: ana, say: done}';

function workspace(tasks: Record<string, unknown>): { proc: Proc; problems: Problem[]; events: Event[] } {
  const disk = simDisk();
  writeStory(disk, { name: '', agents: { ana: AGENT }, tasks, script: SCRIPT, results: {}, calls: 0 });
  const problems: Problem[] = [];
  const events: Event[] = [];
  const watchers = {
    problem: (one: Problem) => void problems.push(one),
    event: (one: Event) => void events.push(one),
  };
  return { proc: cluster(SCRIPT).start(disk, { watchers }), problems, events };
}

for (const [what, thrown, code] of [
  ['a bug', new TypeError('x is not a function'), 'bug'],
  ['an overflow of the stack', new RangeError('Maximum call stack size exceeded'), 'over_limit'],
  ['an unexpected value', Object.assign(new Error('odd'), { code: 'ENAMETOOLONG', path: '/w/x' }), 'disk_failed'],
] as const)
  test(`${what} while one task advances fails that task with the reason, and others continue`, async () => {
    const { proc, problems, events } = workspace({
      bad: { description: 'Bad', to: 'ana' },
      good: { description: 'Good', to: 'ana' },
    });
    const { model } = proc.ports;
    proc.ports.model = {
      call: (request) => {
        if (request.task === 'bad') throw thrown;
        return model.call(request);
      },
    };
    await untilQuiet(proc);
    assert.equal((await proc.ports.tasks.read('good'))?.state, 'completed');
    const bad = (await proc.ports.tasks.read('bad'))!;
    assert.deepEqual([bad.state, bad.task.error?.code], ['failed', code]);
    assert.ok(bad.task.error!.message.includes(thrown.message) || code === 'disk_failed', bad.task.error!.message);
    const failed = events.find(({ name, task }) => name === 'task.failed' && task === 'bad');
    assert.deepEqual(failed?.['error'], bad.task.error, 'the event names the reason');
    assert.equal(problems.length, 1);
  });

test('a fault of the store still ends the process, and the task is recovered', async () => {
  const { proc } = workspace({ t: { description: 'T', to: 'ana' } });
  proc.ports.model = {
    call: () => {
      throw Object.assign(new Error('no space left'), { code: 'ENOSPC', syscall: 'write', path: `${ROOT}/x` });
    },
  };
  await assert.rejects(untilQuiet(proc), /no space left/);
});

for (const thrown of [
  problemError('store_away', 'the database does not answer'),
  new StoreFailed('files cannot be written', Object.assign(new Error('no'), { code: 'EACCES', path: `${ROOT}/x` })),
])
  test(`a store that fails during a tool call is not reported to the model: ${thrown.message}`, async () => {
    const disk = simDisk();
    const agents = { ana: AGENT.replace('read_file', 'query_tasks') };
    const script = '- {agent: ana, turn: 1, call: {query_tasks: {query: SELECT id FROM tasks}}}';
    writeStory(disk, {
      name: '',
      agents,
      tasks: { t: { description: 'T', to: 'ana' } },
      script,
      results: {},
      calls: 0,
    });
    const world = cluster(script);
    const boardTools: BoardTools = {
      select: () => Promise.reject(thrown),
      change: () => Promise.reject(thrown),
    };
    const proc = world.start(disk, { ports: () => ({ boardTools }) });
    await assert.rejects(untilQuiet(proc), thrown);
    assert.equal(world.calls.length, 1);
  });

/** `{"a":{"a":…}}`, as text: the value itself would overflow the stack of a printer. */
function nested(levels: number): string {
  return `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
}

test('the depth of a value is measured without recursion', () => {
  assert.equal(isTooDeep(JSON.parse(nested(32))), false);
  assert.equal(isTooDeep(JSON.parse(nested(33))), true);
  assert.equal(isTooDeep(JSON.parse(nested(20_000))), true);
  assert.equal(isTooDeep(JSON.parse(`${'['.repeat(20_000)}${']'.repeat(20_000)}`)), true);
  assert.equal(isTooDeep({ wide: Array.from({ length: 10_000 }, (_, n) => ({ n })) }), false);
});

test('R4: tool arguments nested too deep are an error that the model reads, over the wire', async (t) => {
  const results: string[] = [];
  const server = await rawServer((response, body: { messages: { role: string; content: string }[] }) => {
    const said = body.messages.filter(({ role }) => role === 'tool').map(({ content }) => content);
    results.push(...said);
    const call = { index: 0, id: 'c1', type: 'function', function: { name: 'read_file', arguments: nested(5000) } };
    const delta = said.length > 0 ? { content: 'I see' } : { tool_calls: [call] };
    const finish = said.length > 0 ? 'stop' : 'tool_calls';
    const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
    sse(response).end(
      `data: ${JSON.stringify({ choices: [{ index: 0, delta }] })}\n\n` +
        `data: ${JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: finish }], usage })}\n\ndata: [DONE]\n\n`,
    );
  });
  t.after(() => server.close());
  const home = place(t, {
    'guild.yaml': `model: near/x\nproviders:\n  near: { kind: openai-compatible, base_url: "${server.url}" }\ngit: false\n`,
    'agents/boss.md': '---\ndescription: Does it\ntools: [read_file]\n---\nYou are the boss.\n',
  });
  const ran = succeeds(await home.guild('run', 'boss', 'go'));
  assert.match(ran.out, /I see/);
  assert.match(results[0]!, /^over_limit: the arguments are nested deeper than 32 levels/);
});

test('R4: a conversation that has such arguments already does not end the process', async (t) => {
  const home = place(
    t,
    scripted('- {agent: boss, say: done}\n', {
      'tasks/pending/deep.json': JSON.stringify({ description: 'Deep', to: 'boss', session: 'deep' }),
      'tasks/pending/good.json': JSON.stringify({ description: 'Good', to: 'boss' }),
      'sessions/deep.session.yaml': [
        'agent_id: boss',
        'task: deep',
        'messages:',
        '  - {role: user, content: go}',
        `  - {role: assistant, content: "", tool_calls: [{id: c1, function: {name: read_file, arguments: '${nested(5000)}'}}]}`,
        '',
      ].join('\n'),
    }),
  );
  const ran = succeeds(await home.guild('pump', '--all'));
  assert.ok(!ran.err.includes('a bug in guild'), ran.err);
  assert.deepEqual(home.list('tasks/completed'), ['deep.json', 'good.json']);
  assert.match(home.read('sessions/deep.session.yaml'), /over_limit: the arguments are nested deeper/);
});

const CYCLES: Record<string, Record<string, string>> = {
  'a task that is its own parent': { loop: 'loop' },
  'two tasks that are each other’s parent': { a: 'b', b: 'a' },
  'a circle of three': { a: 'c', b: 'a', c: 'b' },
};

for (const [what, parents] of Object.entries(CYCLES))
  test(`R8: ${what} fails with the cycle, and looking at it ends at once`, async (t) => {
    const home = place(t, scripted('- {say: done}'));
    for (const [id, parent] of Object.entries(parents))
      home.put(`tasks/pending/${id}.json`, JSON.stringify({ description: id, parent, to: 'boss' }));
    const first = Object.keys(parents)[0]!;
    const look = async (): Promise<void> => {
      for (const command of [
        ['task', 'tree', first],
        ['task', 'tree', first, '--json'],
        ['graph', first],
        ['graph', first, '--json'],
        ['why', first],
      ]) {
        const { out } = succeeds(await home.guild(...command));
        assert.ok(out.length < 5000, `${command.join(' ')} does not repeat itself: ${out}`);
      }
    };
    await look();
    succeeds(await home.guild('pump', '--all'));
    assert.equal(home.list('tasks/failed').length, Object.keys(parents).length, home.list('tasks/completed').join());
    assert.match(home.read(`tasks/failed/${first}.json`), /its parents form a cycle: /);
    await look();
  });
