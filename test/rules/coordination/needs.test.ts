/** What a dependency needs next, by its type, its children and the time. */
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

/** In short: what it does, with whom. */
function short(found: NeedStep): string {
  if (found.do === 'ask') return `ask ${found.child.id.slice(9)} ${found.child.to}`;
  if (found.do === 'wait')
    return `wait ${[...(found.tasks ?? []).map((id) => id.replace('t.call-1.', '')), ...(found.until ? [found.until] : [])].join(' ')}`;
  if (found.do === 'resolve')
    return `${found.resolution.status} by ${found.resolution.provider}: ${found.resolution.data}`;
  if (found.do === 'fail') return `fail ${found.error.code}`;
  return `call off ${found.children.map((id) => id.replace('t.call-1.', '')).join(' ')}`;
}

const failed = { error: problem('model_failed', 'no') };
const STEPS: [string, NeedStep, string][] = [
  ['the best is asked', step({}, { candidates }), 'ask provide-1 ben'],
  ['who is asked is waited for', step({}, { candidates }, [child('provide-1', 'ben', 'pending')]), 'wait provide-1'],
  [
    'words are what was asked for',
    step({}, {}, [child('provide-1', 'ben', 'completed', { result: 'id' })]),
    'resolved by ben: id',
  ],
  [
    'a part is a part',
    step({}, {}, [child('provide-1', 'ben', 'completed', { result: printProvided({ status: 'partial', data: 'i' }) })]),
    'partial by ben: i',
  ],
  ['the next best, once', step({}, { candidates }, [child('provide-1', 'ben', 'failed', failed)]), 'ask provide-2 cyd'],
  [
    'not a third',
    step({}, { candidates }, [
      child('provide-1', 'ben', 'failed', failed),
      child('provide-2', 'cyd', 'failed', failed),
    ]),
    'fail dependency_failed',
  ],
  ['nobody has it', step({}, { candidates: [] }), 'fail nobody_fit'],
  ['the coordinator is asked first', step({}, { candidates, coordinator: 'pm' }), 'ask match pm'],
  [
    'the coordinator may override',
    step({}, { candidates, coordinator: 'pm' }, [
      child('match', 'pm', 'completed', { result: printAssignment({ agent: 'eve' }) }),
    ]),
    'ask provide-1 eve',
  ],
  [
    'never the asker itself',
    step({}, { candidates, coordinator: 'pm' }, [
      child('match', 'pm', 'completed', { result: printAssignment({ agent: 'ana' }) }),
    ]),
    'ask provide-1 ben',
  ],
  [
    'a coordinator that fails',
    step({}, { candidates, coordinator: 'pm' }, [child('match', 'pm', 'failed', failed)]),
    'ask provide-1 ben',
  ],
  ['whom the offers chose', step({}, { candidates, offered: { agent: 'cyd' } }), 'ask provide-1 cyd'],
  ['too early to say', step({}, { candidates, offered: { until: LATER } }), `wait ${LATER}`],
  ['nobody offered', step({}, { candidates, offered: { nobody: 'none' } }), 'fail nobody_fit'],
  [
    'a resource that is free',
    step({ type: 'resource', resource: 'p' }, { held: true }),
    'resolved by engine: you hold p until your task ends or you call give_back; nobody else has it meanwhile',
  ],
  ['a resource that another has', step({ type: 'resource', resource: 'p' }, { held: false, holder: 'o' }), 'wait o'],
  [
    'a task that is not done',
    step({ type: 'sequence', after: 'o' }, { after: child('o', 'ben', 'active')[1] }),
    'wait o',
  ],
  [
    'a task that is done',
    step({ type: 'sequence', after: 'o' }, { after: child('o', 'ben', 'completed', { result: 'R' })[1] }),
    'resolved by ben: R',
  ],
  [
    'a task that failed',
    step({ type: 'sequence', after: 'o' }, { after: child('o', 'ben', 'failed', failed)[1] }),
    'fail dependency_failed',
  ],
  [
    'a task that a person did by hand',
    step(
      { type: 'sequence', after: 'o' },
      { after: child('o', 'ben', 'failed', { error: problem('by_hand', 'done') })[1] },
    ),
    'resolved by ben: o is done',
  ],
  ['a task that is gone', step({ type: 'sequence', after: 'o' }, { after: undefined }), 'fail not_found'],
  ['a reviewer', step({ type: 'approval', reviewer: 'ben' }, {}), 'ask provide-1 ben'],
  [
    'a reviewer who says no',
    step({ type: 'approval', reviewer: 'ben' }, {}, [
      child('provide-1', 'ben', 'completed', { result: printProvided({ status: 'failed', data: 'no' }) }),
    ]),
    'fail not_allowed',
  ],
  [
    'a reviewer who only talks',
    step({ type: 'approval', reviewer: 'ben' }, {}, [child('provide-1', 'ben', 'completed', { result: 'Fine.' })]),
    'partial by ben: Fine.',
  ],
  [
    'a deadline is waited for too',
    step({ deadline: LATER }, { candidates }, [child('provide-1', 'ben', 'active')]),
    `wait provide-1 ${LATER}`,
  ],
  [
    'after the deadline who is at it is called off first',
    step({ deadline: AT }, { candidates }, [child('provide-1', 'ben', 'active')], LATER),
    'call off provide-1',
  ],
  [
    'after that it is late',
    step({ deadline: AT }, { candidates }, [child('provide-1', 'ben', 'failed', failed)], LATER),
    'fail timed_out',
  ],
  [
    'what came in time counts, however late one looks',
    step({ deadline: AT }, {}, [child('provide-1', 'ben', 'completed', { result: 'id' })], LATER),
    'resolved by ben: id',
  ],
];

for (const [what, found, expected] of STEPS) test(`${what}: ${expected}`, () => assert.equal(short(found), expected));
