/**
 * The state of an agent follows from its tasks; deriving all states is linear in agents and tasks.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AgentState } from '../../../src/domain/agent/agent-state.js';
import { problem } from '../../../src/domain/problem.js';
import { makeTask, type OpenState, type Task } from '../../../src/domain/task/task.js';
import {
  agentStates,
  NO_PAST,
  type AgentActivity,
  type Past,
  type OpenTask,
} from '../../../src/rules/coordination/agent-states.js';

const NOW = '2026-01-01T12:00:00.000Z';

function open(id: string, state: OpenState, more: Partial<Task> = {}, held = state === 'active'): OpenTask {
  const task = makeTask({ id, description: `do ${id}`, created_at: NOW, to: 'ana', claimed_at: NOW, ...more });
  return { task, state, held, ...(state === 'active' ? { owner: { agent: 'ana', peer: 'p1' } } : {}) };
}

interface Case {
  name: string;
  tasks?: OpenTask[];
  past?: Partial<Past>;
  paused?: string;
  broken?: boolean;
  state: AgentState;
  why?: RegExp;
  trigger?: string;
  waitsFor?: string[];
}

const BEN = open('b', 'active', { to: 'ben' });
const CASES: Case[] = [
  { name: 'it never had work', state: 'idle' },
  {
    name: 'it has only tasks that have not started',
    tasks: [open('t', 'pending', { claimed_at: undefined })],
    state: 'idle',
  },
  {
    name: 'a live process holds its task',
    tasks: [open('t', 'active')],
    state: 'working',
    why: /^do t$/,
    trigger: 'task.claimed t',
  },
  {
    name: 'its task was put back and can continue',
    tasks: [open('t', 'pending')],
    state: 'working',
    trigger: 'task.ready t',
  },
  {
    name: 'a lost process left only the number of attempts',
    tasks: [open('t', 'pending', { claimed_at: undefined, attempts: 1 })],
    state: 'working',
  },
  {
    name: 'the task it waited for has ended',
    tasks: [open('t', 'waiting', { waits: { tasks: ['gone'] } })],
    state: 'working',
  },
  {
    name: 'one task waits, the other is held',
    tasks: [open('t', 'waiting', { waits: { tasks: ['b'] } }), BEN, open('u', 'active')],
    state: 'working',
  },
  {
    name: 'its task waits for another agent',
    tasks: [open('t', 'waiting', { waits: { tasks: ['b'] } }), BEN],
    state: 'blocked',
    why: /^for b$/,
    trigger: 'task.parked t',
    waitsFor: ['ben'],
  },
  {
    name: 'its task waits for the human',
    tasks: [open('t', 'waiting', { waits: { tasks: ['t.ask'] } }), open('t.ask', 'pending', { to: 'human' })],
    state: 'blocked',
    why: /^for you \(t\.ask\)$/,
    waitsFor: ['human'],
  },
  {
    name: 'its task waits for its own task that has not started',
    tasks: [
      open('t', 'waiting', { waits: { tasks: ['t.work'] } }),
      open('t.work', 'pending', { claimed_at: undefined }),
    ],
    state: 'working',
  },
  {
    name: 'its started task depends on an open one',
    tasks: [open('t', 'pending', { dependencies: ['b'] }), BEN],
    state: 'blocked',
    why: /^for b$/,
  },
  {
    name: 'its task waits for a time',
    tasks: [open('t', 'waiting', { waits: { until: '2026-01-01T13:00:00.000Z' } })],
    state: 'blocked',
    why: /until 2026-01-01T13/,
  },
  {
    name: 'that time has come',
    tasks: [open('t', 'waiting', { waits: { until: '2026-01-01T11:00:00.000Z' } })],
    state: 'working',
  },
  {
    name: 'its process is gone',
    tasks: [open('t', 'active', {}, false)],
    state: 'blocked',
    why: /its process is gone/,
  },
  {
    name: 'it waits for a task whose file cannot be read',
    tasks: [open('t', 'waiting', { waits: { tasks: ['torn'] } })],
    state: 'blocked',
    why: /^for torn, whose file cannot be read$/,
  },
  {
    name: 'its part of an open root is done',
    tasks: [BEN],
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
    name: 'its last task failed, and it has work again',
    tasks: [open('u', 'active')],
    past: { worked: true, roots: [], failed: 'no luck' },
    state: 'working',
  },
  {
    name: 'its file cannot be read',
    broken: true,
    tasks: [open('t', 'pending')],
    state: 'error',
    why: /does not parse/,
    trigger: 'file.held agents/ana.md',
  },
  {
    name: 'a person paused it during its work',
    paused: 'lunch',
    tasks: [open('t', 'active')],
    state: 'paused',
    why: /^paused: lunch$/,
  },
];

for (const { name, tasks = [], past, paused, broken, state, why, trigger, waitsFor } of CASES) {
  test(`${state}: ${name}`, () => {
    const badFile = problem('bad_file', 'agents/ana.md does not parse', { where: { file: 'agents/ana.md' } });
    const all = agentStates(broken ? [] : ['ana'], tasks, {
      nowIso: NOW,
      paused: new Map(paused === undefined ? [] : [['ana', paused]]),
      unreadable: new Map(broken ? [['ana', badFile]] : []),
      unreadableTask: (id) => (id === 'torn' ? problem('bad_file', 'it does not end') : undefined),
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

/** Counts how often fields of tasks and their histories are read. */
function counted(agents: number): { reads: number; states: AgentActivity[] } {
  let reads = 0;
  const tasks: OpenTask[] = [];
  for (let n = 0; n < agents; n++) {
    const waits = { tasks: [`t${(n + 1) % agents}`] };
    const task = open(`t${n}`, n % 3 === 0 ? 'active' : 'waiting', { to: `a${n}`, waits });
    tasks.push(new Proxy(task, { get: (target, key) => (reads++, Reflect.get(target, key) as unknown) }));
  }
  const names = Array.from({ length: agents }, (_, n) => `a${n}`);
  const states = agentStates(names, tasks, {
    nowIso: NOW,
    paused: new Map(),
    unreadable: new Map(),
    past: () => (reads++, NO_PAST),
  });
  return { reads, states };
}

test('ten times the agents and tasks cost ten times the reads', () => {
  const few = counted(1000);
  const many = counted(10_000);
  assert.equal(many.states.length, 10_000);
  assert.ok(many.reads <= few.reads * 10 + 100, `${few.reads} reads for 1,000 and ${many.reads} for 10,000`);
});
