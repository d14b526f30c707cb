/** Who is asked for a bid, without any model: a table of who fits, and when it is time to weigh what is there. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Agent } from '../../../src/domain/agent/agent.js';
import type { Bid } from '../../../src/domain/task/bid.js';
import { makeTask, type Placed, type Task } from '../../../src/domain/task/task.js';
import {
  bidId,
  fingerprint,
  fitFor,
  mayOffer,
  offerKey,
  offerStep,
  wantedBid,
} from '../../../src/rules/staffing/offer.js';
import { agent } from '../../kit/rule-play.js';

const AT = '2026-01-01T00:00:00.000Z';
const task = (more: Partial<Task> = {}): Task => makeTask({ id: 't', description: 'Find it', created_at: AT, ...more });
const ana = agent('ana', { capabilities: ['find'], definition: 'a1' });
const ben = agent('ben', { capabilities: ['find', 'file'], definition: 'b1' });
const cyd = agent('cyd', { definition: 'c1' });

test('who fits', () => {
  const never = agent('never', { capabilities: ['find'], threshold: 'never' });
  const table: [string, Partial<Task>, Agent[], string | undefined, string[] | string][] = [
    ['all requirements must be met', { requirements: ['find', 'file'] }, [ana, ben, cyd], undefined, 'ben'],
    ['several are asked', { requirements: ['find'] }, [ana, ben, cyd], undefined, ['ana', 'ben']],
    ['the default agent takes it if it fits', { requirements: ['find'] }, [ana, ben], 'ben', 'ben'],
    ['and is passed over if it does not', { requirements: ['file'] }, [ana, ben], 'ana', 'ben'],
    ['an asker is not asked', { requirements: ['find'], from: 'ben' }, [ana, ben], undefined, 'ana'],
    ['who never takes offers is not asked', { requirements: ['find'] }, [ana, never], undefined, 'ana'],
    [
      'requirements inside context are no capabilities',
      { context: { requirements: ['CRUD'] } },
      [ana],
      undefined,
      'ana',
    ],
    ['only the asker could', { requirements: ['file'], from: 'ben' }, [ana, ben], undefined, 'nobody_fit'],
    ['nobody can', { requirements: ['fly'] }, [ana, ben], undefined, 'unknown_agent'],
    ['nobody is there', {}, [], undefined, 'unknown_agent'],
  ];
  for (const [what, given, agents, preferred, expected] of table) {
    const fit = fitFor(task(given), agents, preferred);
    const found =
      fit.kind === 'several' ? fit.agents.map((one) => one.name) : fit.kind === 'one' ? fit.agent : fit.problem.code;
    assert.deepEqual(found, expected, what);
  }
});

const bid: Bid = { proceed: true, able: true, fitness: 7, reason: '' };
const placed = (one: Agent, state: Placed['state']): [string, Placed] => {
  const id = bidId(task(), one);
  return [id, { task: makeTask({ id, description: 'x', created_at: AT }), state }];
};

test('what an offer needs next', () => {
  const all = { task: task(), fit: [ana, ben], isFree: () => true, cached: new Map<string, Bid>() };
  const soon = { now: new Date(AT), until: new Date('2026-01-01T00:01:00.000Z') };
  const late = { now: new Date('2026-01-01T00:01:00.000Z'), until: new Date('2026-01-01T00:01:00.000Z') };
  const names = (step: ReturnType<typeof offerStep>): unknown =>
    step.do === 'ask'
      ? ['ask', ...step.agents.map((one) => one.name)]
      : step.do === 'weigh'
        ? ['weigh', step.asked.length, step.late.length]
        : step.do;
  const table: [string, ReturnType<typeof offerStep>, unknown][] = [
    ['all that fit are asked', offerStep({ ...all, ...soon, children: new Map() }), ['ask', 'ana', 'ben']],
    [
      'who is missing is asked',
      offerStep({ ...all, ...soon, children: new Map([placed(ana, 'pending')]) }),
      ['ask', 'ben'],
    ],
    [
      'who is busy is not',
      offerStep({ ...all, ...soon, children: new Map(), isFree: (one) => one === ben }),
      ['ask', 'ben'],
    ],
    ['nobody is free', offerStep({ ...all, ...soon, children: new Map(), isFree: () => false }), 'later'],
    [
      'one bid is still out',
      offerStep({ ...all, ...soon, children: new Map([placed(ana, 'completed'), placed(ben, 'active')]) }),
      'wait',
    ],
    [
      'the time is up',
      offerStep({ ...all, ...late, children: new Map([placed(ana, 'completed'), placed(ben, 'active')]) }),
      ['weigh', 2, 1],
    ],
    [
      'all are in',
      offerStep({ ...all, ...soon, children: new Map([placed(ana, 'completed'), placed(ben, 'failed')]) }),
      ['weigh', 2, 0],
    ],
    [
      'what was said before counts',
      offerStep({
        ...all,
        ...soon,
        children: new Map(),
        cached: new Map([
          ['ana', bid],
          ['ben', bid],
        ]),
      }),
      ['weigh', 2, 0],
    ],
    [
      'who asked when free is weighed when busy',
      offerStep({ ...all, ...soon, isFree: () => false, children: new Map([placed(ana, 'completed')]) }),
      ['weigh', 1, 0],
    ],
  ];
  for (const [what, step, expected] of table) assert.deepEqual(names(step), expected, what);
});

test('a task that all have refused waits for those who were busy, and only for those', () => {
  const asked = task({ bids: [bidId(task(), ana)] });
  assert.equal(
    mayOffer(task(), [ana, ben], () => false),
    false,
  );
  assert.equal(
    mayOffer(asked, [ana, ben], (one) => one === ana),
    false,
    'ana has said no',
  );
  assert.equal(
    mayOffer(asked, [ana, ben], (one) => one === ben),
    true,
  );
  assert.equal(
    mayOffer(asked, [ana], () => false),
    true,
    'nobody else is left: it has to be decided',
  );
});

test('equal tasks are equal however they are written; another text, goal or agent file is another question', () => {
  const same = task({ id: 'other', description: ' find   IT', context: { original_goal: 'Find it' } });
  assert.equal(fingerprint(same), fingerprint(task()));
  for (const other of [
    { description: 'Find her' },
    { type: 'x' },
    { requirements: ['y'] },
    { context: { original_goal: 'z' } },
    { context: { more: 1 } },
  ])
    assert.notEqual(fingerprint(task(other)), fingerprint(task()), JSON.stringify(other));
  assert.notEqual(offerKey(task(), ana), offerKey(task(), { ...ana, definition: 'a2' }));
  assert.notEqual(offerKey(task(), ana), offerKey(task(), { ...ana, name: 'twin' }));
});

test('a bid is asked with the questions and the surroundings, and in a conversation of its own', () => {
  const wanted = wantedBid(
    task({ context: { original_goal: 'Win', stack: ['Go'] } }),
    ben,
    {
      workload: 2,
      recent: ['Found a hat (completed)'],
      open: 7,
      others: ['Sell the hat (pending)'],
    },
    1000,
  );
  assert.equal(wanted.session, wanted.id);
  for (const part of [
    /Find it/,
    /Win/,
    /"stack":\["Go"\]/,
    /find, file/,
    /workload now: 2/,
    /Found a hat/,
    /: 7\./,
    /Sell the hat/,
    /like it recently/,
    /step back/,
    /place_bid/,
  ])
    assert.match(wanted.description, part);
});
