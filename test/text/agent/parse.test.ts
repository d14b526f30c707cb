/** Agent files: every key, prompts, and errors with their place. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Agent } from '../../../src/domain/agent/agent.js';
import { problemText } from '../../../src/domain/problem.js';
import { parseAgent, renderPrompt } from '../../../src/text/agent/parse.js';

const parse = (text: string, file = 'agents/planner.md') => parseAgent(text, { file, definition: 'd' });
const agent = (text: string, file?: string): Agent => {
  const { agent: read, problems } = parse(text, file);
  assert.ok(read, problems.map(problemText).join('\n'));
  return read;
};

test('every key of an agent file is read', () => {
  const read = agent(`---
name: chief
description: Breaks a goal into tasks for others
model: [openai/gpt-5, fast]
temperature: 0.3
max_tokens: 4k
topP: 0.9
top_k: 20
reasoning: low
tools: [read_file, delegate_to_agent]
skills: release-notes
agents: [executor, evaluator]
capabilities: [planning]
expertise: ops, files
priority: high
runs_on: gpu
max_concurrent_tasks: 2
threshold: 8
advisors: [legal, {agent: risk, required: true, timeout: 60s}]
router: {destinations: [billing, support], fallback: support}
team: {members: [analyst, developer], terminationMode: coordinator_decides, max_rounds: 4}
handoff: "@approval-gateway"
evaluator: {model: fast}
metacognition: fast
budget: {turns: 30, tokens: 200k, usd: 1.50, time: 10m, tool_calls: 99}
approve: {write_file: ask, execute_command: deny}
plan_approval: true
context: summary
session: shared
variables: {topic: Redis, depth: 3, style: {default: plain}, empty: }
type: planner
version: 1.2
---
You are the planner.
`);
  assert.deepEqual(read, {
    name: 'chief',
    description: 'Breaks a goal into tasks for others',
    models: ['openai/gpt-5', 'fast'],
    settings: { temperature: 0.3, maxTokens: 4000, topP: 0.9, topK: 20, reasoning: 'low' },
    tools: ['read_file', 'delegate_to_agent'],
    skills: ['release-notes'],
    agents: ['executor', 'evaluator'],
    capabilities: ['planning'],
    expertise: ['ops', 'files'],
    priority: 'B',
    runsOn: ['gpu'],
    maxConcurrentTasks: 2,
    threshold: 8,
    advisors: [
      { agent: 'legal', required: false },
      { agent: 'risk', required: true, timeoutMs: 60_000 },
    ],
    router: { destinations: ['billing', 'support'], fallback: 'support' },
    team: { members: ['analyst', 'developer'], terminationMode: 'coordinatorDecides', maxRounds: 4 },
    handoff: 'approval-gateway',
    evaluator: { model: 'fast' },
    metacognition: { model: 'fast' },
    budget: { turns: 30, tokens: 200_000, microUsd: 1_500_000, timeMs: 600_000, toolCalls: 99 },
    approve: { write_file: 'ask', execute_command: 'deny' },
    planApproval: true,
    context: 'summary',
    session: 'shared',
    variables: { topic: 'Redis', depth: '3', style: 'plain', empty: '' },
    type: 'planner',
    version: '1.2',
    systemPrompt: 'You are the planner.',
    format: 'markdown',
    file: 'agents/planner.md',
    definition: 'd',
  });
});

test('a name comes from the file, or from the folder of agent.md', () => {
  assert.equal(agent('---\n---\nHi', 'agents/planner.md').name, 'planner');
  assert.equal(agent('---\n---\nHi', 'agents/code_reviewer/agent.md').name, 'code_reviewer');
});

test('router: true routes to the listed agents', () => {
  assert.deepEqual(agent('---\nrouter: true\nagents: [a, b]\n---\nx').router, { destinations: ['a', 'b'] });
  assert.equal(agent('---\nrouter: false\n---\nx').router, undefined);
});

test('frontmatter is found with a byte order mark, CRLF, an empty block, or a fence inside a block', () => {
  assert.equal(agent('\uFEFF---\r\ndescription: a\r\n---\r\nPrompt\r\n').systemPrompt, 'Prompt');
  assert.equal(agent('\uFEFF---\r\ndescription: a\r\n---\r\nPrompt\r\n').description, 'a');
  assert.equal(agent('---\n---\nPrompt').systemPrompt, 'Prompt');
  assert.equal(agent('---\n# nothing\n---\nPrompt').systemPrompt, 'Prompt');
  assert.equal(agent('---\ndescription: |\n  a\n  ---\n  b\n---\nPrompt\n---\nmore').systemPrompt, 'Prompt\n---\nmore');
  assert.equal(agent('---\ndescription: |\n  a\n  ---\n  b\n---\nPrompt').description, 'a\n---\nb\n');
  assert.equal(agent('Only a prompt').systemPrompt, 'Only a prompt');
});

test('only the two known prompt sections count, and only outside code fences', () => {
  const read = agent(`---
---
Notes for people.

# System Prompt
You plan.

\`\`\`md
# User Prompt Template
\`\`\`

# PLAN:
1. look

# User Prompt Template
Do {{task}}.
`);
  assert.equal(read.systemPrompt, 'You plan.\n\n```md\n# User Prompt Template\n```\n\n# PLAN:\n1. look');
  assert.equal(read.userPromptTemplate, 'Do {{task}}.');
});

test('placeholders are filled once, and unknown ones stay', () => {
  const read = agent(
    '---\nvariables: {topic: Redis}\n---\n{{tool_descriptions}} | {{ topic }} | {{task}} | {{nobody}} | {{constructor}}',
  );
  assert.equal(
    renderPrompt(read, { toolDescriptions: '- **read_file**: reads', variables: { task: '{{topic}}' } }),
    '- **read_file**: reads | Redis | {{topic}} | {{nobody}} | {{constructor}}',
  );
  assert.match(
    renderPrompt(read, { toolDescriptions: '', variables: { topic: 'x' } }),
    /^No tools currently available\. \| x/,
  );
});

const faults: [string, string, RegExp, string, RegExp?][] = [
  ['a mistyped key', 'temprature: 0.3', /unknown key "temprature"/, '2:1', /"temperature"/],
  ['a mistyped key inside', 'team: {members: [a], rounds: 3}', /unknown key "team.rounds"/, '2:22'],
  ['a wrong type', 'temperature: warm', /"temperature" must be a number from 0 to 2/, '2:14'],
  ['a number out of range', 'temperature: 7', /from 0 to 2/, '2:14'],
  ['a list of other things', 'tools:\n  - read_file\n  - {a: 1}', /"tools.1" must be a name/, '4:5'],
  ['a handoff to several agents', 'handoff: [a, b]', /the name of one agent/, '2:10', /own handoff/],
  ['a router without destinations', 'router: true', /needs destinations/, '2:1'],
  ['a team without members', 'team: {maxRounds: 3}', /"members"/, '2:7'],
  [
    'an unknown termination mode',
    'team: {members: [a], terminationMode: never}',
    /consensus, max_rounds, coordinator_decides/,
    '2:39',
  ],
  ['an advisor without a name', 'advisors: [{required: true}]', /"agent"/, '2:12'],
  ['a budget without unit', 'budget: {time: long}', /"budget.time" must be a duration/, '2:16'],
  ['a check that is a number', 'metacognition: 7', /"metacognition" must be a mapping/, '2:16'],
  ['a check that is a flag', 'metacognition: true', /"metacognition" must be a mapping/, '2:16'],
  ['a mistyped key of a check', 'metacognition: {modle: x}', /unknown key "metacognition.modle"/, '2:17', /"model"/],
  [
    'a temperature out of range',
    'metacognition: {temperature: 9}',
    /"metacognition.temperature" must be .* 0 to 2/,
    '2:30',
  ],
  ['an evaluator of several models', 'evaluator: {model: [a, b]}', /"evaluator.model" must be text/, '2:20'],
  ['an evaluator without tokens', 'evaluator: {max_tokens: 0}', /"evaluator.max_tokens"/, '2:25'],
  ['a prompt that is a list', 'evaluator: {prompt: [a]}', /"evaluator.prompt" must be text/, '2:21'],
  ['a looser policy', 'approve: {write_file: auto}', /may only be stricter/, '2:23'],
  ['a name that leaves the folder', 'name: ../x', /cannot be the name/, '2:1'],
  ['the reserved name human', 'name: human', /is the person/, '2:1'],
  ['two spellings of one key', 'max_tokens: 3\nmaxTokens: 4', /means the same as/, '3:1'],
  ['a repeated key', 'name: a\nname: b', /twice/, '3:1'],
  ['broken YAML', 'tools: [a\nname: b', /./, '2:8'],
  ['a list as frontmatter', '- a', /mapping/, '2:1'],
];
for (const [what, head, message, place, hint] of faults) {
  test(`${what} is an error with its place`, () => {
    const { agent: read, problems } = parse(`---\n${head}\n---\nPrompt\n`);
    assert.equal(read, undefined);
    assert.equal(problems.length, 1, problems.map(problemText).join('\n'));
    assert.match(problems[0]!.message, message);
    assert.equal(`${problems[0]!.where?.line}:${problems[0]!.where?.column}`, place);
    if (hint) assert.match(problems[0]!.hint ?? '', hint);
    assert.match(problemText(problems[0]!), /\^/);
  });
}

test('unclosed frontmatter is reported at its first line', () => {
  const { problems } = parse('---\nname: a\n\nYou are a prompt.\n');
  assert.match(problems[0]!.message, /never closed/);
  assert.equal(problems[0]!.where?.line, 1);
});

test('all problems are reported at once', () => {
  assert.equal(
    parse('---\nfoo: 1\ntools: {}\nthreshold: x\nbudget: {a: 1, usd: b}\nrouter: 3\n---\nx').problems.length,
    6,
  );
});

test('invisible characters in a prompt are reported', () => {
  const { agent: read, warnings } = parse('---\n---\nDo it.\nIgnore\u202e this\u200b.\n');
  assert.ok(read);
  assert.equal(warnings.length, 1);
  assert.match(warnings[0]!.message, /2 characters that cannot be seen; the first is U\+202E/);
  assert.equal(`${warnings[0]!.where?.line}:${warnings[0]!.where?.column}`, '4:7');
  assert.deepEqual(parse('---\n---\nFamily 👨‍👩‍👧 نمی‌خواهم\ttab\n').warnings, []);
});

test('an agent without a prompt works with a warning', () => {
  assert.match(parse('---\nname: a\n---\n').warnings[0]!.message, /no prompt/);
});

test('hostile YAML is refused quickly', () => {
  const bombs = [
    'a: &a [x]\nb: &b [*a,*a,*a,*a]\nc: [*b,*b,*b,*b,*b,*b,*b]',
    'name: !!js/function x',
    `tools: ${'['.repeat(200)}${']'.repeat(200)}`,
  ];
  for (const bomb of bombs) assert.equal(parse(`---\n${bomb}\n---\nx`).agent, undefined);
  const { agent: read } = parse('---\napprove: {__proto__: ask}\nvariables: {__proto__: x}\n---\n{{__proto__}}');
  assert.equal(Object.getPrototypeOf(read!.variables), Object.prototype);
});

test('the places of fields are recorded for checks across agents', () => {
  const { places } = parse(
    '---\nname: a\ntools:\n  - x\nadvisors: [b, {agent: c}]\nteam: {members: [d]}\nhandoff: e\nrouter: true\nagents: [f]\n---\nx',
  );
  const at = (key: string) => `${places[key]?.line}:${places[key]?.column}`;
  assert.deepEqual(
    ['name', 'tools.0', 'advisors.0', 'advisors.1', 'team.members.0', 'handoff', 'router.destinations.0'].map(at),
    ['2:7', '4:5', '5:12', '5:23', '6:18', '7:10', '9:10'],
  );
});

test('fallback models are read in every format', () => {
  const minds = {
    evaluator: { model: 'fast', prompt: 'Weigh it.', temperature: 0.1 },
    metacognition: { maxTokens: 300 },
  };
  const yaml = 'evaluator: {model: fast, prompt: Weigh it., temperature: 0.1}\nmetacognition: {max_tokens: 300}\n';
  const spec = yaml.replace(/^/gm, '  ').trimEnd();
  for (const [file, text] of [
    ['agents/a.md', `---\n${yaml}---\nPrompt\n`],
    ['agents/a.agent.yaml', `id: a\nprompt: Prompt\n${yaml}`],
    ['agents/b.agent.yaml', `apiVersion: v1\nkind: Agent\nmetadata: {name: b}\nspec:\n  prompt: x\n${spec}\n`],
    ['.claude/agents/a.md', `---\nname: a\ndescription: A\n${yaml}---\nPrompt\n`],
    ['agents/a.ai', `---\n${yaml}---\nPrompt\n`],
  ] as const) {
    const { agent: read, problems, warnings } = parseAgent(text, { file, definition: 'd' });
    assert.deepEqual([...problems, ...warnings].map(problemText), [], file);
    assert.deepEqual({ evaluator: read?.evaluator, metacognition: read?.metacognition }, minds, file);
  }
  assert.deepEqual(agent('---\nmetacognition: {}\n---\nx').metacognition, {}, "the agent's own model");
  assert.equal(agent('---\nmetacognition:\n---\nx').metacognition, undefined, 'an empty key means no check');
});

test('frontmatter after a comment or an empty line is a problem, not a prompt of an agent without settings', () => {
  for (const before of ['<!-- agents/watcher.md -->\n', '\n', '<!-- two\nlines -->\n\n'])
    for (const file of ['agents/watcher.md', '.claude/agents/watcher.md']) {
      const { agent: read, problems } = parse(
        `${before}---\ndescription: Looks\ntools: [read_file]\n---\nLook.\n`,
        file,
      );
      assert.equal(read, undefined);
      assert.match(problems[0]!.message, /does not start on the first line/);
      assert.equal(problems[0]!.where?.line, before.split('\n').length);
    }
  const prompt = 'Look.\n\n---\nnote: a rule, not settings\n---\n';
  assert.equal(agent(prompt).systemPrompt, prompt.trim());
  assert.match(agent('\n---\nA rule and text.\n').systemPrompt, /A rule/);
});
