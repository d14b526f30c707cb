/** Every tool and colleague named in a prompt that `guild init` writes is granted to that agent. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { openRoster } from '../../src/app/readers/open-roster.js';
import { isBuilt, KNOWN_TOOLS } from '../../src/tools/toolbox.js';

const STARTER = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..', '..', '..', 'starter');
const { agents, problems, warnings } = openRoster(STARTER, {});

test('a new workspace has neither problems nor warnings', () => {
  assert.deepEqual([problems, warnings], [[], []]);
});

for (const agent of agents.values()) {
  test(`${agent.name} is granted every tool and colleague that its prompt names`, () => {
    const named = [...KNOWN_TOOLS].filter((tool) => new RegExp(`\\b${tool}\\b`).test(agent.systemPrompt));
    assert.deepEqual(
      named.filter((tool) => !agent.tools.includes(tool)),
      [],
    );
    assert.deepEqual(
      agent.tools.filter((tool) => !isBuilt(tool)),
      [],
    );
    assert.match(agent.systemPrompt, /\{\{tool_descriptions\}\}/);
    const asked = [...agents.keys()].filter((name) =>
      new RegExp(`\\*\\*(?:Ask )?the ${name}\\*\\*|the \\*\\*${name}\\*\\*`).test(agent.systemPrompt),
    );
    assert.deepEqual(
      asked.filter((name) => !agent.agents.includes(name)),
      [],
    );
    assert.ok((agent.budget.turns ?? 0) > 0 && (agent.budget.microUsd ?? 0) > 0, 'it cannot spend without end');
  });
}
