/** What each agent is doing, by the tasks it has: a table, and what it costs with ten thousand of them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AgentState } from '../../../src/domain/agent/agent-state.js';
import { problem } from '../../../src/domain/problem.js';
import { makeTask, type OpenState, type Task } from '../../../src/domain/task/task.js';
import {
  agentStates,
  NO_PAST,
  type AgentDoing,
  type Past,
  type Standing,
} from '../../../src/rules/coordination/agent-states.js';

const NOW = '2026-01-01T12:00:00.000Z';

function standing(id: string, state: OpenState, more: Partial<Task> = {}, held = state === 'active'): Standing {
  const task = makeTask({ id, description: `do ${id}`, created_at: NOW, to: 'ana', claimed_at: NOW, ...more });
  return { task, state, held, ...(state === 'active' ? { owner: { agent: 'ana', peer: 'p1' } } : {}) };
}

interface Case {
  name: string;
  open?: Standing[];
  past?: Partial<Past>;
  paused?: string;
  broken?: boolean;
  state: AgentState;
  why?: RegExp;
  trigger?: string;
  waitsFor?: string[];
}

const BEN = standing('b', 'active', { to: 'ben' });
const CASES: Case[] = [
  { name: 'never had work', state: 'idle' },
  {
    name: 'only tasks that nobody has begun',
    open: [standing('t', 'pending', { claimed_at: undefined })],
    state: 'idle',
  },
  {
    name: 'a live process holds its task',
    open: [standing('t', 'active')],
    state: 'working',
    why: /^do t$/,
    trigger: 'task.claimed t',
  },
  {
    name: 'it was put back and could go on',
    open: [standing('t', 'pending')],
    state: 'working',
    trigger: 'task.ready t',
  },
  {
    name: 'a lost process left it unbegun but for the count',
    open: [standing('t', 'pending', { claimed_at: undefined, attempts: 1 })],
    state: 'working',
  },
  {
    name: 'what it waited for has ended',
    open: [standing('t', 'waiting', { waits: { tasks: ['gone'] } })],
    state: 'working',
  },
  {
    name: 'one task waits, the other is held',
    open: [standing('t', 'waiting', { waits: { tasks: ['b'] } }), BEN, standing('u', 'active')],
    state: 'working',
  },
  {
    name: 'its task waits for another agent',
    open: [standing('t', 'waiting', { waits: { tasks: ['b'] } }), BEN],
    state: 'blocked',
    why: /^for b$/,
    trigger: 'task.parked t',
    waitsFor: ['ben'],
  },
  {
    name: 'its task waits for the human',
    open: [standing('t', 'waiting', { waits: { tasks: ['t.ask'] } }), standing('t.ask', 'pending', { to: 'human' })],
    state: 'blocked',
    why: /^for you \(t\.ask\)$/,
    waitsFor: ['human'],
  },
  {
    name: 'its task waits for work of its own that is yet to begin',
    open: [
      standing('t', 'waiting', { waits: { tasks: ['t.work'] } }),
      standing('t.work', 'pending', { claimed_at: undefined }),
    ],
    state: 'working',
  },
  {
    name: 'its begun task depends on one that is open',
    open: [standing('t', 'pending', { dependencies: ['b'] }), BEN],
    state: 'blocked',
    why: /^for b$/,
  },
  {
    name: 'its task is left alone for a while',
    open: [standing('t', 'waiting', { waits: { until: '2026-01-01T13:00:00.000Z' } })],
    state: 'blocked',
    why: /until 2026-01-01T13/,
  },
  {
    name: 'that while is over',
    open: [standing('t', 'waiting', { waits: { until: '2026-01-01T11:00:00.000Z' } })],
    state: 'working',
  },
  {
    name: 'its process is gone',
    open: [standing('t', 'active', {}, false)],
    state: 'blocked',
    why: /its process is gone/,
  },
  {
    name: 'it waits for a task whose file cannot be read',
    open: [standing('t', 'waiting', { waits: { tasks: ['torn'] } })],
    state: 'blocked',
    why: /^for torn, whose file cannot be read$/,
  },
  {
    name: 'its part in an open root is done',
    open: [BEN],
    past: { worked: true, roots: ['b'], last: 'b.x' },
    state: 'waiting',
    trigger: 'task.ended b.x',
  },
  {
    name: 'the root has ended too',
    past: { worked: true, roots: ['r'], last: 'r.x' },
    state: 'complete',
    trigger: 'task.ended r',
  },
  {
    name: 'its last task failed',
    past: { worked: true, roots: [], last: 't', failed: 'no luck' },
    state: 'error',
    why: /no luck/,
    trigger: 'task.failed t',
  },
  {
    name: 'it failed, and has work again',
    open: [standing('u', 'active')],
    past: { worked: true, roots: [], failed: 'no luck' },
    state: 'working',
  },
  {
    name: 'its file cannot be read',
    broken: true,
    open: [standing('t', 'pending')],
    state: 'error',
    why: /does not parse/,
    trigger: 'file.held agents/ana.md',
  },
  {
    name: 'a person paused it in the middle',
    paused: 'lunch',
    open: [standing('t', 'active')],
    state: 'paused',
    why: /^paused: lunch$/,
  },
];

for (const { name, open = [], past, paused, broken, state, why, trigger, waitsFor } of CASES) {
  test(`${state}: ${name}`, () => {
    const wrong = problem('bad_file', 'agents/ana.md does not parse', { where: { file: 'agents/ana.md' } });
    const all = agentStates(broken ? [] : ['ana'], open, {
      nowIso: NOW,
      paused: new Map(paused === undefined ? [] : [['ana', paused]]),
      unreadable: new Map(broken ? [['ana', wrong]] : []),
      heldFile: (id) => (id === 'torn' ? problem('bad_file', 'it does not end') : undefined),
      past: (agent) => (agent === 'ana' ? { ...NO_PAST, ...past } : NO_PAST),
    });
    const ana = all.find(({ agent }) => agent === 'ana')!;
    assert.equal(ana.state, state);
    if (why !== undefined) assert.match(ana.why, why);
    if (trigger !== undefined) assert.equal(ana.trigger, trigger);
    if (waitsFor !== undefined) assert.deepEqual(ana.waitsFor, waitsFor);
    assert.ok(!all.some(({ agent }) => agent === 'human'));
  });
}

/** How often anything about any task was asked for. */
function counted(agents: number): { looks: number; states: AgentDoing[] } {
  let looks = 0;
  const open: Standing[] = [];
  for (let n = 0; n < agents; n++) {
    const waits = { tasks: [`t${(n + 1) % agents}`] };
    const one = standing(`t${n}`, n % 3 === 0 ? 'active' : 'waiting', { to: `a${n}`, waits });
    open.push(new Proxy(one, { get: (target, key) => (looks++, Reflect.get(target, key) as unknown) }));
  }
  const names = Array.from({ length: agents }, (_, n) => `a${n}`);
  const states = agentStates(names, open, {
    nowIso: NOW,
    paused: new Map(),
    unreadable: new Map(),
    past: () => (looks++, NO_PAST),
  });
  return { looks, states };
}

test('ten times the agents and tasks are ten times the looks, with 10,000 of them', () => {
  const few = counted(1000);
  const many = counted(10_000);
  assert.equal(many.states.length, 10_000);
  assert.ok(many.looks <= few.looks * 10 + 100, `${few.looks} looks for 1,000 and ${many.looks} for 10,000`);
});
