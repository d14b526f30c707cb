/** Every role can make the call it requires, and the glossary names every role. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { ROLE_NAMES, roleFacts } from '../../../src/domain/task/role.js';
import { makeChild, makeTask } from '../../../src/domain/task/task.js';
import { reminder } from '../../../src/engine/conversation/decide/required-call.js';
import { isLeaf } from '../../../src/rules/patterns/decide.js';
import { toolbox } from '../../../src/tools/toolbox.js';
import { agent } from '../../kit/rule-play.js';

const now = '2026-01-01T00:00:00.000Z';

for (const role of ROLE_NAMES.filter((one) => roleFacts(one).requiredTool !== undefined)) {
  test(`a ${role} requires a call of an existing tool, ignores its agent's patterns, and is reminded of the call`, () => {
    const tool = roleFacts(role).requiredTool!;
    assert.ok(toolbox().has(tool), tool);
    assert.ok(isLeaf({ role }, agent('ana', { handoff: 'ben', router: { destinations: ['ben'] } })));
    const task = makeTask({ id: 't', role, description: 'x', created_at: now });
    const said = reminder({ task, agent: agent('ana'), messages: [{ role: 'assistant', content: 'in words' }] });
    assert.ok(said?.do === 'say');
    assert.match(said.messages[0]!.content, new RegExp(`Call ${tool}`));
  });
}

test('an unknown role is ordinary work, one level deeper', () => {
  const parent = makeTask({ id: 't', description: 'x', created_at: now });
  assert.equal(makeChild(parent, { id: 't.a', role: 'toString', description: 'y' }, now).depth, 1);
  assert.equal(roleFacts('constructor'), roleFacts('a word of a person'));
  assert.ok(Object.values(roleFacts('constructor')).every((fact) => fact !== undefined));
});

test('the glossary names every role', () => {
  const row = readFileSync(new URL('../../../../docs/words.md', import.meta.url), 'utf8')
    .split('\n')
    .find((line) => line.startsWith('| **role** |'))!;
  const named = new Set(row.match(/[a-z]+/g));
  assert.deepEqual(
    ROLE_NAMES.filter((role) => !named.has(role)),
    [],
  );
});
