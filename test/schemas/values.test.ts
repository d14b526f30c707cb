/** Values that people write: a schema accepts exactly what the reader behind it understands. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load } from 'js-yaml';
import { ABOUT, type Schema } from '../../src/schemas/about.js';
import { count, durationMs, readBudget } from '../../src/schemas/amounts.js';
import { agentClaude, agentFlat, agentSpec } from '../../src/schemas/agent-files.js';
import { agentMarkdown } from '../../src/schemas/agent.js';
import { allowlistYaml } from '../../src/schemas/allowlist.js';
import { checkInYaml } from '../../src/schemas/check-in.js';
import { guildYaml } from '../../src/schemas/guild-yaml.js';
import { policyYaml } from '../../src/schemas/policy.js';
import { sessionYaml } from '../../src/schemas/session.js';
import { taskRecord } from '../../src/schemas/task.js';
import { scriptYaml } from '../../src/schemas/script.js';
import { budget, duration, whole } from '../../src/schemas/values.js';
import { fc } from '../kit/properties.js';

const amounts = fc.oneof(
  fc.double(),
  fc.integer(),
  fc.string(),
  fc.stringMatching(/^ {0,2}\$? ?[0-9]{1,3}([._][0-9]{1,3}){0,2} ?([kKmMsShHdD]|ms|MS)? ?$/),
  fc.constantFrom(null, true, [], {}, Infinity, -0),
);

const dollars = (usd: unknown): number | undefined => {
  const read = readBudget({ usd });
  return read.ok ? read.budget.microUsd : undefined;
};

test('an amount is accepted if and only if it can be read', () => {
  const readers: [Schema, (value: unknown) => number | undefined][] = [
    [whole(), count],
    [duration, durationMs],
    [budget.shape.usd, dollars],
  ];
  fc.assert(
    fc.property(amounts, (value) => {
      for (const [schema, read] of readers)
        assert.equal(schema.safeParse(value).success, read(value) !== undefined, JSON.stringify(value));
    }),
    { numRuns: 2000 },
  );
});

const KINDS: [string, Schema][] = [
  ['guild.yaml', guildYaml],
  ['agents', agentMarkdown],
  ['agent.yaml', agentFlat],
  ['agent.yaml with apiVersion', agentSpec],
  ['agents of Claude Code', agentClaude],
  ['tasks', taskRecord],
  ['sessions', sessionYaml],
  ['the policy', policyYaml],
  ['the allowlist', allowlistYaml],
  ['scripts', scriptYaml],
  ['check-ins', checkInYaml],
];
for (const [name, schema] of KINDS) {
  test(`every example in the schema of ${name} is valid`, () => {
    const wrong: string[] = [];
    walk(schema, (key) => {
      const example = ABOUT.get(key)?.example;
      if (example !== undefined && !key.safeParse(load(example)).success) wrong.push(example);
    });
    assert.deepEqual(wrong, []);
  });
}

function walk(schema: Schema, visit: (schema: Schema) => void): void {
  visit(schema);
  const def = schema._zod.def as unknown as {
    innerType?: Schema;
    options?: Schema[];
    element?: Schema;
    valueType?: Schema;
    shape?: Record<string, Schema>;
  };
  const inner = [def.innerType, def.element, def.valueType, ...(def.options ?? []), ...Object.values(def.shape ?? {})];
  for (const each of inner) if (each !== undefined) walk(each, visit);
}
