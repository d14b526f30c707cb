import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Agent, Team } from '../../../src/domain/agent/agent.js';
import { checkRoster, withPluginTools } from '../../../src/rules/scheduling/roster.js';
import { agent } from '../../kit/rule-play.js';

const tools = new Set(['read_file', 'write_file', 'route_to']);

const advisor = (name: string) => ({ agent: name, required: false });
const team = (...members: string[]): Team => ({ members, terminationMode: 'consensus', maxRounds: 3 });
const messages = (agents: Agent[]) => checkRoster(agents, tools).map(({ message }) => message);

test('a valid set of agents has no problems', () => {
  const agents = [
    agent('a', { handoff: 'b', advisors: [advisor('c')], agents: ['a', 'b'], tools: ['read_file'] }),
    agent('b', { router: { destinations: ['c'], fallback: 'd' }, agents: ['c'], tools: ['route_to'] }),
    agent('c', { agents: ['a'], handoff: 'human' }),
    agent('d', { team: team('c') }),
  ];
  assert.deepEqual(checkRoster(agents, tools), []);
});

test('a name that is used twice is reported with both files', () => {
  assert.match(
    messages([agent('a'), agent('a', { file: '.claude/agents/a.md', definition: 'e' })])[0]!,
    /agents\/a\.md and by \.claude\/agents\/a\.md/,
  );
});

test('a pattern grants tools of plugins only, and a foreign agent works without a missing tool', () => {
  const plugin = ['lab_find', 'lab_wipe', 'read_mail'];
  assert.deepEqual(withPluginTools(agent('a', { tools: ['read_file', 'lab_*'] }), plugin).tools, [
    'read_file',
    'lab_find',
    'lab_wipe',
  ]);
  assert.deepEqual(withPluginTools(agent('a', { tools: ['read_*'] }), plugin).tools, ['read_mail']);
  const found = checkRoster(
    [
      agent('a', { tools: ['lab_*', 'gone_*', 'Read', 'Bash'] }),
      agent('b', { format: 'claude', tools: ['*', 'lab_find', 'gone_x'] }),
    ],
    tools,
    new Map(),
    plugin,
  );
  assert.deepEqual(
    found.map(({ message }) => message),
    [
      'a names tools of Claude Code: "Read", "Bash"',
      'no plugin or MCP server here has the tool "gone_*", so a works without it',
      'no plugin or MCP server here has the tool "gone_x", so b works without it',
    ],
  );
});

test('a missing agent is reported wherever it is named', () => {
  const found = checkRoster(
    [
      agent('a', { agents: ['x1'], advisors: [advisor('x2')], handoff: 'x3' }),
      agent('b', { router: { destinations: ['x4'], fallback: 'x5' }, agents: ['x4'] }),
      agent('c', { team: team('x6') }),
      agent('planner', { handoff: 'planer' }),
    ],
    tools,
  );
  assert.deepEqual(
    found.map(({ message }) => /names "(\w+)"/.exec(message)?.[1]),
    ['x1', 'x2', 'x3', 'x4', 'x5', 'x6', 'planer'],
  );
  assert.ok(found.every(({ code }) => code === 'unknown_agent'));
  assert.match(found.at(-1)!.hint ?? '', /"planner"/);
});

test('an unknown tool is reported with the nearest name and its place', () => {
  const where = { file: 'agents/a.md', line: 3, column: 9, source: 'tools: [raed_file]' };
  const found = checkRoster(
    [agent('a', { tools: ['raed_file'], approve: { wirte_file: 'ask' } })],
    tools,
    new Map([['agents/a.md', { 'tools.0': where }]]),
  );
  assert.deepEqual(
    found.map(({ code, hint }) => [code, hint]),
    [
      ['unknown_tool', 'did you mean "read_file"?'],
      ['unknown_tool', 'did you mean "write_file"?'],
    ],
  );
  assert.deepEqual(found[0]!.where, where);
});

test('a cycle over any kind of step is reported once, in full', () => {
  const agents = [
    agent('c', { team: team('d') }),
    agent('a', { handoff: 'b' }),
    agent('b', { router: { destinations: ['c'] } }),
    agent('d', { advisors: [advisor('a')] }),
    agent('e', { handoff: 'a' }),
  ];
  assert.deepEqual(messages(agents), ['these agents form a cycle: a → b → c → d → a']);
  assert.match(messages([agent('a', { handoff: 'a' })])[0]!, /a → a/);
});

test('agents that may ask each other are not a cycle', () => {
  assert.deepEqual(messages([agent('a', { agents: ['b'] }), agent('b', { agents: ['a'] })]), []);
});

test('two cycles that share an agent are both reported', () => {
  const agents = [
    agent('a', { handoff: 'b', advisors: [advisor('c')] }),
    agent('b', { handoff: 'a' }),
    agent('c', { handoff: 'a' }),
  ];
  assert.deepEqual(
    messages(agents)
      .map((message) => message.split(': ')[1])
      .sort(),
    ['a → b → a', 'a → c → a'],
  );
});

test('a chain of ten thousand agents is walked to its end', () => {
  const chain = Array.from({ length: 10_000 }, (_, i) => agent(`n${i}`, { handoff: `n${i + 1}` }));
  assert.deepEqual(messages([...chain, agent('n10000')]), []);
  assert.match(messages([...chain, agent('n10000', { handoff: 'n0' })])[0]!, /n0 → n1 → /);
});

test('contradictions are reported', () => {
  const agents = [
    agent('r', { router: { destinations: ['x'] }, tools: ['read_file'] }),
    agent('t', { team: team('x'), handoff: 'x' }),
    agent('x'),
  ];
  assert.deepEqual(
    messages(agents).map((message) => message.split(':')[0]),
    ['r is a router and has tools', 't leads a team and hands off'],
  );
});

test('an advisor or a member that is named twice is reported', () => {
  const found = messages([
    agent('a', { advisors: [advisor('x'), advisor('y'), advisor('x')], team: team('y', 'x', 'y') }),
    agent('x'),
    agent('y'),
  ]);
  assert.deepEqual(found, ['a names "x" twice in advisors', 'a names "y" twice in team.members']);
});
