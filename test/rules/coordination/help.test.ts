/**
 * A call for help goes to free, able and relevant agents in order, and is escalated if none of them
 * helps.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Agent } from '../../../src/domain/agent/agent.js';
import type { AgentState } from '../../../src/domain/agent/agent-state.js';
import type { Help } from '../../../src/domain/coordination/help.js';
import { problem } from '../../../src/domain/problem.js';
import { makeTask, type Placed, type Task, type TaskState } from '../../../src/domain/task/task.js';
import { helpStep, volunteers, type Bystander, type HelpInput } from '../../../src/rules/coordination/help.js';

const AT = '2026-01-01T00:00:00.000Z';
const LATER = '2026-01-01T01:00:00.000Z';
const help: Help = { kind: 'work', context: 'the sql query on postgres is slow', capabilities: ['review'] };

function near(name: string, state: AgentState, more: Partial<Agent> = {}, busy = 0): Bystander {
  const agent = {
    name,
    description: 'Tunes databases',
    expertise: ['sql', 'postgres'],
    capabilities: ['review'],
    priority: 'C',
    runsOn: [],
    maxConcurrentTasks: 1,
    ...more,
  } as Agent;
  return { agent, state, busy };
}

const asked = (all: Bystander[]): string[] => volunteers(help, 'ana', all).map(({ agent }) => agent);

test('only agents that are free, able and relevant are asked, never the asker', () => {
  const all = [
    near('waits', 'waiting'),
    near('done', 'complete'),
    near('fresh', 'idle'),
    near('works', 'working'),
    near('stuck', 'blocked'),
    near('broken', 'error'),
    near('paused', 'paused'),
    near('full', 'waiting', {}, 1),
    near('unable', 'waiting', { capabilities: ['painting'] }),
    near('elsewhere', 'waiting', { expertise: ['css'], description: 'Paints' }),
    near('ana', 'waiting'),
  ];
  assert.deepEqual(asked(all).sort(), ['done', 'fresh', 'waits']);
});

test('agents that wait come before idle ones, then by priority, then by relevance', () => {
  const all = [
    near('idle-a', 'idle', { priority: 'A' }),
    near('low', 'waiting', { priority: 'D' }),
    near('partly', 'waiting', { priority: 'B', expertise: ['sql'] }),
    near('wholly', 'waiting', { priority: 'B' }),
  ];
  assert.deepEqual(asked(all), ['wholly', 'partly', 'low', 'idle-a']);
});

const task: Task = makeTask({ id: 'h', description: 'x', created_at: AT, role: 'help', to: 'engine', from: 'ana' });

function child(part: string, to: string, state: TaskState, more: Partial<Task> = {}): [string, Placed] {
  const id = `h.${part}`;
  return [id, { task: makeTask({ id, description: 'x', created_at: AT, to, ...more }), state }];
}

function next(children: [string, Placed][], more: Partial<HelpInput> = {}): string {
  const step = helpStep({
    task,
    help,
    children: new Map(children),
    deadline: LATER,
    volunteers: [],
    human: { child: { id: 'h.approval', role: 'approval', to: 'human', description: 'x' }, said: { kind: 'open' } },
    now: AT,
    ...more,
  });
  const escalated = step.escalated === undefined ? '' : ', escalated';
  if (step.do === 'ask') return `ask ${step.child.id} ${step.child.to}${escalated}`;
  if (step.do === 'wait') return `wait ${step.tasks?.join(' ') ?? step.until}`;
  if (step.do === 'resolve') return `${step.resolution.status} by ${step.resolution.provider}`;
  return step.do === 'fail' ? `fail ${step.error.code}` : step.do;
}

const some = { volunteers: ['ben', 'cyd'].map((agent) => ({ agent, relevance: 0.9, why: 'free' })) };
const failed = { error: problem('model_failed', 'no') };
const twice = [child('provide-1', 'ben', 'failed', failed), child('provide-2', 'cyd', 'failed', failed)];
const said = (kind: 'yes' | 'no', edited?: Record<string, unknown>): Partial<HelpInput> => ({
  human: {
    child: { id: 'h.approval', role: 'approval', to: 'human', description: 'x' },
    said: kind === 'no' ? { kind, message: 'no' } : { kind, ...(edited ? { edited } : {}) },
  },
});
const STEPS: [string, string, string][] = [
  ['the best agent is asked', next([], some), 'ask h.provide-1 ben'],
  ['no agent is free', next([]), `wait ${LATER}`],
  [
    'no agent was free in time, and there is a coordinator',
    next([], { now: LATER, coordinator: 'pm' }),
    'ask h.escalated pm, escalated',
  ],
  [
    'no agent was free in time, and there is no coordinator',
    next([], { now: LATER }),
    'ask h.approval human, escalated',
  ],
  [
    'the coordinator itself asks for help',
    next([], { now: LATER, coordinator: 'ana' }),
    'ask h.approval human, escalated',
  ],
  ['the first agent fails', next([child('provide-1', 'ben', 'failed', failed)], some), 'ask h.provide-2 cyd'],
  ['two agents fail', next(twice, some), 'ask h.approval human, escalated'],
  [
    'the coordinator is working on it',
    next([child('escalated', 'pm', 'active')], { ...some, coordinator: 'pm' }),
    'wait h.escalated',
  ],
  ['the coordinator helped', next([child('escalated', 'pm', 'completed', { result: 'so' })]), 'resolved by pm'],
  ['the coordinator fails', next([child('escalated', 'pm', 'failed', failed)]), 'fail nobody_fit'],
  ['the human has not answered', next([child('approval', 'human', 'pending')], some), 'wait h.approval'],
  [
    'the human answered',
    next([child('approval', 'human', 'completed')], said('yes', { answer: 'so' })),
    'resolved by human',
  ],
  ['the human only ticked it', next([child('approval', 'human', 'completed')], said('yes')), 'partial by human'],
  ['the human refused', next([child('approval', 'human', 'completed')], said('no')), 'fail nobody_fit'],
];

for (const [situation, step, expected] of STEPS) test(`${situation}: ${expected}`, () => assert.equal(step, expected));
