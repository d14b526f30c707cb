/** A tree of tasks never spends more than the budget of its root. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc } from '../../kit/properties.js';
import {
  addBudgets,
  carve,
  leftOf,
  reservation,
  tighter,
  usedUp,
  type Budget,
  type BudgetName,
} from '../../../src/domain/budget/budget.js';
import { addUsage, NO_USAGE, type Usage } from '../../../src/domain/budget/usage.js';

const amount = fc.integer({ min: 0, max: 5000 });
const budget = fc.record(
  { turns: amount, tokens: amount, microUsd: amount, toolCalls: amount, children: fc.integer({ min: 0, max: 12 }) },
  { requiredKeys: [] },
);

interface Node {
  budget: Budget;
  own: Usage;
  open: boolean;
  children: Node[];
}

/** The real cost of a subtree, open or ended. */
function total(node: Node): Usage {
  return node.children.reduce((sum, child) => addUsage(addUsage(sum, total(child)), { children: 1 }), node.own);
}

function left(node: Node): Budget {
  let spent = node.own;
  let reserved: Budget = {};
  for (const child of node.children) {
    if (child.open) reserved = addBudgets(reserved, reservation(child.budget));
    else spent = addUsage(addUsage(spent, total(child)), { children: 1 });
  }
  return leftOf(node.budget, { spent, elapsedMs: 0, reserved });
}

function all(node: Node): Node[] {
  return [node, ...node.children.flatMap(all)];
}

test('random trees that spend and create children at random stay within the budget of the root', () => {
  const step = fc.record({
    who: fc.nat(30),
    what: fc.constantFrom('spend', 'spend', 'ask', 'end'),
    wave: fc.integer({ min: 1, max: 4 }),
    kept: fc.integer({ min: 0, max: 2 }),
    wanted: budget,
    part: fc.double({ min: 0, max: 1, noNaN: true }),
  });
  fc.assert(
    fc.property(budget, fc.array(step, { maxLength: 60 }), (given, steps) => {
      const root: Node = { budget: given, own: NO_USAGE, open: true, children: [] };
      for (const { who, what, wave, kept, wanted, part } of steps) {
        const nodes = all(root).filter((one) => one.open);
        const node = nodes[who % nodes.length]!;
        if (what === 'end' && node !== root && node.children.every((child) => !child.open)) {
          node.open = false;
          node.own = addUsage(node.own, { turns: 1 }); // its last answer
        }
        if (what === 'ask') {
          for (let n = wave; n > 0; n--) {
            const share = carve(left(node), n, kept, wanted);
            if (typeof share === 'string') break;
            node.children.push({ budget: share, own: NO_USAGE, open: true, children: [] });
          }
        }
        if (what === 'spend') {
          const room = left(node);
          const use = (name: BudgetName): number => Math.floor((room[name] ?? 5000) * part);
          node.own = addUsage(node.own, {
            turns: use('turns'),
            outputTokens: use('tokens'),
            microUsd: use('microUsd'),
            toolCalls: use('toolCalls'),
          });
        }
      }
      const spent = total(root);
      assert.ok(spent.turns <= (given.turns ?? Infinity), 'turns');
      assert.ok(spent.outputTokens <= (given.tokens ?? Infinity), 'tokens');
      assert.ok(spent.microUsd <= (given.microUsd ?? Infinity), 'money');
      assert.ok(spent.toolCalls <= (given.toolCalls ?? Infinity), 'tool calls');
      assert.ok(spent.children <= (given.children ?? Infinity), 'children');
    }),
    { numRuns: 2000 },
  );
});

test('children created together get equal shares, and their parent keeps one', () => {
  assert.deepEqual(carve({ tokens: 1000, microUsd: 400 }, 3, 1), { tokens: 250, microUsd: 100 });
});

test('a child that wants less gets less', () => {
  assert.deepEqual(carve({ tokens: 1000 }, 1, 0, { tokens: 10, timeMs: 5 }), { tokens: 10, timeMs: 5 });
});

test('time is not divided among children', () => {
  assert.deepEqual(carve({ timeMs: 60_000 }, 5, 1), { timeMs: 60_000 });
});

test('the last turn for an answer is part of the share', () => {
  assert.deepEqual(carve({ turns: 10 }, 1, 0), { turns: 9 });
  assert.equal(reservation({ turns: 9 }).turns, 10);
});

test('a refusal names the limit of which too little is left', () => {
  assert.equal(carve({ tokens: 3 }, 3, 1), 'tokens');
  assert.equal(carve({ children: 1 }, 2, 0), 'children');
  assert.equal(carve({ turns: 0 }, 1, 0), 'turns');
});

test('an ended child returns its unused share', () => {
  const before = leftOf({ tokens: 100 }, { spent: NO_USAGE, elapsedMs: 0, reserved: reservation({ tokens: 50 }) });
  assert.equal(before.tokens, 50);
  const after = leftOf({ tokens: 100 }, { spent: { ...NO_USAGE, outputTokens: 20 }, elapsedMs: 0, reserved: {} });
  assert.equal(after.tokens, 80);
});

test('a task without children left can still work', () => {
  assert.equal(usedUp({ children: 0, turns: 1 }), undefined);
  assert.equal(usedUp({ children: 3, turns: 0 }), 'turns');
});

test('time for a last answer is kept back', () => {
  assert.equal(usedUp({ timeMs: 900 }, 1000), 'timeMs');
  assert.equal(usedUp({ timeMs: 1100 }, 1000), undefined);
});

test('the stricter of two budgets applies, limit by limit', () => {
  assert.deepEqual(tighter({ turns: 3, tokens: 9 }, { turns: 5, microUsd: 1 }), { turns: 3, tokens: 9, microUsd: 1 });
});
