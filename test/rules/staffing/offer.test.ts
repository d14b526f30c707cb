/**
 * Offering a task needs no model: which agents fit, which are asked, and when the bids are
 * compared.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Agent } from '../../../src/domain/agent/agent.js';
import type { Bid } from '../../../src/domain/task/bid.js';
import { makeTask, type Placed, type Task } from '../../../src/domain/task/task.js';
import { bidId, fitFor, mayOffer, offerKey, offerStep, wantedBid } from '../../../src/rules/staffing/offer.js';
import { agent } from '../../kit/rule-play.js';

const AT = '2026-01-01T00:00:00.000Z';
const task = (more: Partial<Task> = {}): Task => makeTask({ id: 't', description: 'Find it', created_at: AT, ...more });
const ana = agent('ana', { capabilities: ['find'], definition: 'a1' });
const ben = agent('ben', { capabilities: ['find', 'file'], definition: 'b1' });
const cyd = agent('cyd', { definition: 'c1' });

test('an agent fits if it has every required capability and did not create the task', () => {
  const never = agent('never', { capabilities: ['find'], threshold: 'never' });
  const table: [string, Partial<Task>, Agent[], string | undefined, string[] | string][] = [
    ['all requirements must be met', { requirements: ['find', 'file'] }, [ana, ben, cyd], undefined, 'ben'],
    ['all agents that fit are candidates', { requirements: ['find'] }, [ana, ben, cyd], undefined, ['ana', 'ben']],
    ['the default agent gets it if it fits', { requirements: ['find'] }, [ana, ben], 'ben', 'ben'],
    ['a default agent that does not fit is passed over', { requirements: ['file'] }, [ana, ben], 'ana', 'ben'],
    ['the asker is not a candidate', { requirements: ['find'], from: 'ben' }, [ana, ben], undefined, 'ana'],
    ['an agent with threshold never is not a candidate', { requirements: ['find'] }, [ana, never], undefined, 'ana'],
    [
      'requirements inside context are not capabilities',
      { context: { requirements: ['CRUD'] } },
      [ana],
      undefined,
      'ana',
    ],
    ['only the asker is able', { requirements: ['file'], from: 'ben' }, [ana, ben], undefined, 'nobody_fit'],
    ['no agent is able', { requirements: ['fly'] }, [ana, ben], undefined, 'unknown_agent'],
    ['there are no agents', {}, [], undefined, 'unknown_agent'],
  ];
  for (const [promise, fields, agents, preferred, expected] of table) {
    const fit = fitFor(task(fields), agents, preferred);
    const outcome =
      fit.kind === 'several' ? fit.agents.map(({ name }) => name) : fit.kind === 'one' ? fit.agent : fit.problem.code;
    assert.deepEqual(outcome, expected, promise);
  }
});

const bid: Bid = { proceed: true, able: true, fitness: 7, reason: '' };
const placed = (bidder: Agent, state: Placed['state']): [string, Placed] => {
  const id = bidId(task(), bidder);
  return [id, { task: makeTask({ id, description: 'x', created_at: AT }), state }];
};

test('free agents that fit are asked once, and the bids are compared when all are in or late', () => {
  const all = { task: task(), fit: [ana, ben], isFree: () => true, cached: new Map<string, Bid>() };
  const soon = { now: new Date(AT), until: new Date('2026-01-01T00:01:00.000Z') };
  const late = { now: new Date('2026-01-01T00:01:00.000Z'), until: new Date('2026-01-01T00:01:00.000Z') };
  const names = (step: ReturnType<typeof offerStep>): unknown =>
    step.do === 'ask'
      ? ['ask', ...step.agents.map(({ name }) => name)]
      : step.do === 'weigh'
        ? ['weigh', step.asked.length, step.late.length]
        : step.do;
  const table: [string, ReturnType<typeof offerStep>, unknown][] = [
    ['all agents that fit are asked', offerStep({ ...all, ...soon, children: new Map() }), ['ask', 'ana', 'ben']],
    [
      'an agent not asked yet is asked',
      offerStep({ ...all, ...soon, children: new Map([placed(ana, 'pending')]) }),
      ['ask', 'ben'],
    ],
    [
      'a busy agent is not asked',
      offerStep({ ...all, ...soon, children: new Map(), isFree: (bidder) => bidder === ben }),
      ['ask', 'ben'],
    ],
    ['no agent is free', offerStep({ ...all, ...soon, children: new Map(), isFree: () => false }), 'later'],
    [
      'one bid is still open',
      offerStep({ ...all, ...soon, children: new Map([placed(ana, 'completed'), placed(ben, 'active')]) }),
      'wait',
    ],
    [
      'the deadline has passed',
      offerStep({ ...all, ...late, children: new Map([placed(ana, 'completed'), placed(ben, 'active')]) }),
      ['weigh', 2, 1],
    ],
    [
      'all bids are in',
      offerStep({ ...all, ...soon, children: new Map([placed(ana, 'completed'), placed(ben, 'failed')]) }),
      ['weigh', 2, 0],
    ],
    [
      'cached bids count',
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
      'a bid counts even if its agent is busy by now',
      offerStep({ ...all, ...soon, isFree: () => false, children: new Map([placed(ana, 'completed')]) }),
      ['weigh', 1, 0],
    ],
  ];
  for (const [promise, step, expected] of table) assert.deepEqual(names(step), expected, promise);
});

test('a task that every asked agent refused waits only for agents that were busy', () => {
  const asked = task({ bids: [bidId(task(), ana)] });
  assert.equal(
    mayOffer(task(), [ana, ben], () => false),
    false,
  );
  assert.equal(
    mayOffer(asked, [ana, ben], (bidder) => bidder === ana),
    false,
    'ana has refused',
  );
  assert.equal(
    mayOffer(asked, [ana, ben], (bidder) => bidder === ben),
    true,
  );
  assert.equal(
    mayOffer(asked, [ana], () => false),
    true,
    'all were asked: the offer can be decided',
  );
});

test('spacing and case do not make another offer; another text, goal or agent file does', () => {
  const same = task({ id: 'other', description: ' find   IT', context: { original_goal: 'Find it' } });
  assert.equal(offerKey(same, ana), offerKey(task(), ana));
  for (const other of [
    { description: 'Find her' },
    { type: 'x' },
    { requirements: ['y'] },
    { context: { original_goal: 'z' } },
    { context: { more: 1 } },
  ])
    assert.notEqual(offerKey(task(other), ana), offerKey(task(), ana), JSON.stringify(other));
  assert.notEqual(offerKey(task(), ana), offerKey(task(), { ...ana, definition: 'a2' }));
  assert.notEqual(offerKey(task(), ana), offerKey(task(), { ...ana, name: 'twin' }));
});

test('a bid shows the task and the situation, in a conversation of its own', () => {
  const wanted = wantedBid(
    task({ context: { original_goal: 'Win', stack: ['Go'] } }),
    ben,
    {
      workload: 2,
      recent: ['Found a hat (completed)'],
      open: 7,
      others: ['Sell the hat (pending)'],
      bidders: [agent('cat', { description: 'Catches', capabilities: ['catch'] })],
    },
    1000,
  );
  assert.equal(wanted.session, wanted.id);
  for (const part of [
    /Find it/,
    /Win/,
    /"stack":\["Go"\]/,
    /find, file/,
    /open tasks: 2/,
    /Found a hat/,
    /: 7\./,
    /Sell the hat/,
    /cat: Catches \[catch\]/,
    /does it repeat an open task/,
    /place_bid/,
  ])
    assert.match(wanted.description, part);
});
