/** The next step of a dependency follows from its type, its children and the time. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { printAssignment, printProvided, type Dependency } from '../../../src/domain/coordination/dependency.js';
import { problem } from '../../../src/domain/problem.js';
import { makeTask, type Placed, type Task, type TaskState } from '../../../src/domain/task/task.js';
import { needStep, type NeedFacts, type NeedStep } from '../../../src/rules/coordination/needs.js';

const AT = '2026-01-01T00:00:00.000Z';
const LATER = '2026-01-01T01:00:00.000Z';
const task: Task = makeTask({
  id: 't.call-1',
  description: 'x',
  created_at: AT,
  role: 'dependency',
  to: 'engine',
  from: 'ana',
});
const candidates = ['ben', 'cyd'].map((agent, n) => ({ agent, fitness: 80 - n, matches: 1, why: `${agent} fits` }));

function child(part: string, to: string, state: TaskState, more: Partial<Task> = {}): [string, Placed] {
  const id = `t.call-1.${part}`;
  return [id, { task: makeTask({ id, description: 'x', created_at: AT, to, ...more }), state }];
}

function step(more: Partial<Dependency>, facts: NeedFacts, children: [string, Placed][] = [], now = AT): NeedStep {
  const dependency: Dependency = { type: 'data', need: 'columns', urgency: 'normal', ...more };
  return needStep({ task, dependency, children: new Map(children), facts, now });
}

/** The step in one line. */
function short(next: NeedStep): string {
  if (next.do === 'ask') return `ask ${next.child.id.slice(9)} ${next.child.to}`;
  if (next.do === 'wait')
    return `wait ${[...(next.tasks ?? []).map((id) => id.replace('t.call-1.', '')), ...(next.until ? [next.until] : [])].join(' ')}`;
  if (next.do === 'resolve') return `${next.resolution.status} by ${next.resolution.provider}: ${next.resolution.data}`;
  if (next.do === 'fail') return `fail ${next.error.code}`;
  return `cancel ${next.children.map((id) => id.replace('t.call-1.', '')).join(' ')}`;
}

const failed = { error: problem('model_failed', 'no') };
const STEPS: [string, NeedStep, string][] = [
  ['the best candidate is asked', step({}, { candidates }), 'ask provide-1 ben'],
  [
    'an open provider is waited for',
    step({}, { candidates }, [child('provide-1', 'ben', 'pending')]),
    'wait provide-1',
  ],
  [
    'an answer in plain text resolves it',
    step({}, {}, [child('provide-1', 'ben', 'completed', { result: 'id' })]),
    'resolved by ben: id',
  ],
  [
    'a partial answer is passed on as partial',
    step({}, {}, [child('provide-1', 'ben', 'completed', { result: printProvided({ status: 'partial', data: 'i' }) })]),
    'partial by ben: i',
  ],
  [
    'after a failure the next best is asked',
    step({}, { candidates }, [child('provide-1', 'ben', 'failed', failed)]),
    'ask provide-2 cyd',
  ],
  [
    'a third agent is not asked',
    step({}, { candidates }, [
      child('provide-1', 'ben', 'failed', failed),
      child('provide-2', 'cyd', 'failed', failed),
    ]),
    'fail dependency_failed',
  ],
  ['no agent has it', step({}, { candidates: [] }), 'fail nobody_fit'],
  ['the coordinator is asked first', step({}, { candidates, coordinator: 'pm' }), 'ask match pm'],
  [
    'the coordinator may choose another agent',
    step({}, { candidates, coordinator: 'pm' }, [
      child('match', 'pm', 'completed', { result: printAssignment({ agent: 'eve' }) }),
    ]),
    'ask provide-1 eve',
  ],
  [
    'the coordinator may not choose the asker',
    step({}, { candidates, coordinator: 'pm' }, [
      child('match', 'pm', 'completed', { result: printAssignment({ agent: 'ana' }) }),
    ]),
    'ask provide-1 ben',
  ],
  [
    'a coordinator that fails is passed over',
    step({}, { candidates, coordinator: 'pm' }, [child('match', 'pm', 'failed', failed)]),
    'ask provide-1 ben',
  ],
  ['the winner of the offers is asked', step({}, { candidates, offered: { agent: 'cyd' } }), 'ask provide-1 cyd'],
  ['offers may still arrive', step({}, { candidates, offered: { until: LATER } }), `wait ${LATER}`],
  ['no agent offered', step({}, { candidates, offered: { nobody: 'none' } }), 'fail nobody_fit'],
  [
    'the resource is free',
    step({ type: 'resource', resource: 'p' }, { held: true }),
    'resolved by engine: you hold p exclusively until your task ends or you call give_back',
  ],
  ['another task has the resource', step({ type: 'resource', resource: 'p' }, { held: false, holder: 'o' }), 'wait o'],
  [
    'the earlier task is open',
    step({ type: 'sequence', after: 'o' }, { after: child('o', 'ben', 'active')[1] }),
    'wait o',
  ],
  [
    'the earlier task is completed',
    step({ type: 'sequence', after: 'o' }, { after: child('o', 'ben', 'completed', { result: 'R' })[1] }),
    'resolved by ben: R',
  ],
  [
    'the earlier task failed',
    step({ type: 'sequence', after: 'o' }, { after: child('o', 'ben', 'failed', failed)[1] }),
    'fail dependency_failed',
  ],
  [
    'a person did the earlier task by hand',
    step(
      { type: 'sequence', after: 'o' },
      { after: child('o', 'ben', 'failed', { error: problem('by_hand', 'done') })[1] },
    ),
    'resolved by ben: o is done',
  ],
  ['the earlier task is gone', step({ type: 'sequence', after: 'o' }, { after: undefined }), 'fail not_found'],
  ['a reviewer is asked', step({ type: 'approval', reviewer: 'ben' }, {}), 'ask provide-1 ben'],
  [
    'the reviewer refuses',
    step({ type: 'approval', reviewer: 'ben' }, {}, [
      child('provide-1', 'ben', 'completed', { result: printProvided({ status: 'failed', data: 'no' }) }),
    ]),
    'fail not_allowed',
  ],
  [
    'the reviewer gives no verdict',
    step({ type: 'approval', reviewer: 'ben' }, {}, [child('provide-1', 'ben', 'completed', { result: 'Fine.' })]),
    'partial by ben: Fine.',
  ],
  [
    'a wait ends at the deadline',
    step({ deadline: LATER }, { candidates }, [child('provide-1', 'ben', 'active')]),
    `wait provide-1 ${LATER}`,
  ],
  [
    'after the deadline an open provider is cancelled first',
    step({ deadline: AT }, { candidates }, [child('provide-1', 'ben', 'active')], LATER),
    'cancel provide-1',
  ],
  [
    'then it fails',
    step({ deadline: AT }, { candidates }, [child('provide-1', 'ben', 'failed', failed)], LATER),
    'fail timed_out',
  ],
  [
    'a result counts even if it is read after the deadline',
    step({ deadline: AT }, {}, [child('provide-1', 'ben', 'completed', { result: 'id' })], LATER),
    'resolved by ben: id',
  ],
];

for (const [situation, next, expected] of STEPS)
  test(`${situation}: ${expected}`, () => assert.equal(short(next), expected));
