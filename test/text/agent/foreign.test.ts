/** Agent files of other programs are read as agents. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Agent } from '../../../src/domain/agent/agent.js';
import { problemText } from '../../../src/domain/problem.js';
import { parseAgent, renderPrompt } from '../../../src/text/agent/parse.js';
import { FOREIGN_AGENTS } from './foreign-agents.js';

const parse = (file: string) => parseAgent(FOREIGN_AGENTS[file]!, { file, definition: 'd' });
const agent = (file: string): Agent => {
  const { agent: read, problems } = parse(file);
  assert.ok(read, problems.map(problemText).join('\n'));
  return read;
};
const warned = (file: string): string =>
  parse(file)
    .warnings.map((warning) => warning.message)
    .join('\n');

test('every foreign file is read as an agent', () => {
  for (const file of Object.keys(FOREIGN_AGENTS)) assert.ok(agent(file).systemPrompt.length > 0, file);
});

test('a Claude Code agent keeps its prompt and gets our equivalent tools', () => {
  const read = agent('.claude/agents/code-reviewer.md');
  assert.equal(read.name, 'code-reviewer');
  assert.deepEqual(read.tools, ['read_file', 'search_files', 'list_directory', 'execute_command']);
  assert.deepEqual(read.models, []);
  assert.equal(read.format, 'claude');
  assert.match(read.systemPrompt, /^You review code\.[^]*# System Prompt\ngit diff/);
  assert.equal(warned('.claude/agents/code-reviewer.md'), '');
});

test('a description that is not valid YAML is read with a warning', () => {
  const file = '.claude/agents/Release Notes.md';
  const read = agent(file);
  assert.equal(read.name, 'release-notes');
  assert.match(read.description, /^Use this agent when: .*<\/example>$/);
  assert.deepEqual(read.tools, ['read_file', 'write_file', 'web_fetch', 'tracker_search', 'execute_command']);
  assert.deepEqual(read.models, ['sonnet']);
  assert.match(warned(file), /not valid YAML .* read line by line/);
  assert.match(warned(file), /the policy decides which commands may run/);
});

test('a description over several unindented lines does not hide the fields after it', () => {
  const read = agent('.claude/agents/studio/growth.md');
  assert.equal(read.name, 'growth');
  assert.match(read.description, /^Use this agent when .*user: "We need users" .*<\/commentary> <\/example>$/);
  assert.deepEqual(read.tools, ['write_file', 'search_files']);
});

test('a flow list that ends at the margin is read', () => {
  assert.deepEqual(agent('.github/agents/margin.agent.md').tools, ['read_file', 'github_*']);
});

test('without tools an agent has every tool of its own program, and disallowed tools are left out', () => {
  const read = agent('.claude/agents/silent.md');
  assert.equal(read.name, 'silent');
  assert.ok(
    ['read_file', 'write_file', 'execute_command', 'web_fetch', '*'].every((tool) => read.tools.includes(tool)),
  );
  assert.ok(!read.tools.includes('search_files'));
  assert.ok(!read.tools.includes('delegate_to_agent') && !read.tools.includes('create_agent'));
  assert.deepEqual(read.budget, { turns: 7 });
});

test('an agent that may not write does not make folders either', () => {
  for (const [file, key] of [
    ['.claude/agents/reader.md', 'disallowedTools: Write, Edit'],
    ['.opencode/agent/reader.md', 'tools: {write: false}'],
  ] as const) {
    const source = `---\nname: reader\ndescription: Reads\n${key}\n---\nRead.\n`;
    const tools = parseAgent(source, { file, definition: 'd' }).agent!.tools;
    assert.ok(tools.includes('read_file') && tools.includes('execute_command'), file);
    assert.ok(!tools.includes('write_file') && !tools.includes('create_directory'), file);
  }
});

test('plan mode, effort, skills and the tools of a team have their counterparts', () => {
  const read = agent('.claude/agents/lead.md');
  assert.equal(read.planApproval, true);
  assert.equal(read.settings.reasoning, 'high');
  assert.deepEqual(read.skills, ['pdf', 'release']);
  assert.deepEqual(read.models, ['opus']);
  assert.deepEqual(read.tools, [
    'web_search',
    'send_message',
    'create_task',
    'query_tasks',
    'ask_human',
    'load_skill',
    'linear_*',
  ]);
  assert.equal(warned('.claude/agents/lead.md'), '');
});

test('the tools and permissions of an opencode agent are switches', () => {
  const read = agent('.opencode/agent/review.md');
  assert.ok(read.tools.includes('read_file') && !read.tools.includes('write_file'));
  assert.ok(!read.tools.includes('web_fetch'));
  assert.deepEqual(read.approve, { execute_command: 'ask' });
});

test('blanks of a foreign prompt stay as they are, except declared variables', () => {
  const read = agent('.claude/agents/lead.md');
  const variables = { user: 'x', tone: 'dry' };
  const filled = renderPrompt({ ...read, variables: { tone: 'warm' } }, { toolDescriptions: 'none', variables });
  assert.equal(filled, 'You lead. Use ${{ secrets.TOKEN }}, {{ user }} and dry.');
});

test('a Copilot agent and a chat mode are read', () => {
  const tester = agent('.github/agents/tester.agent.md');
  assert.equal(tester.name, 'tester');
  assert.deepEqual(tester.tools, ['search_files', 'write_file', 'execute_command', 'web_fetch', 'github_create_issue']);
  assert.deepEqual(tester.models, []);
  assert.match(warned('.github/agents/tester.agent.md'), /"Claude Sonnet 4"/);
  assert.match(warned('.github/agents/tester.agent.md'), /"handoffs"/);
  assert.equal(agent('docs/plan.chatmode.md').name, 'plan');
  assert.ok(agent('docs/plan.chatmode.md').tools.includes('write_file'));
});

test('an .ai file has models in order, limits, and agents by file path', () => {
  const read = agent('desk.ai');
  assert.equal(read.name, 'desk');
  assert.deepEqual(read.models, ['openai/gpt-5', 'anthropic/claude-sonnet-4-5']);
  assert.deepEqual(read.settings, { temperature: 0.3, topP: 0.9, maxTokens: 8192 });
  assert.deepEqual(read.budget, { turns: 12 });
  assert.deepEqual(read.advisors, [{ agent: 'legal', required: false }]);
  assert.deepEqual(read.router, { destinations: ['billing', 'support'] });
  assert.deepEqual(read.tools, ['read_file']);
  assert.equal(read.systemPrompt, 'You choose who answers.');
  assert.match(warned('desk.ai'), /"brave"/);
  assert.match(warned('desk.ai'), /"frobnicate"/);
  assert.equal(parse('desk.ai').warnings.find((warning) => warning.message.includes('frobnicate'))?.where?.line, 19);
});

test('YAML agent templates are read in each of their forms', () => {
  const planner = agent('templates/planner-001.agent.yaml');
  assert.deepEqual(
    [planner.name, planner.type, planner.description, planner.version, planner.tools, planner.models],
    ['planner-001', 'planner', 'Breaks down goals', '0.0.1', ['create_task', 'read_file'], ['claude-sonnet-4.5']],
  );
  assert.equal(planner.systemPrompt, 'You are a task planning agent.\n\n# Not a heading of ours');
  const runner = agent('agents/runner.agent.yaml');
  assert.deepEqual([runner.name, runner.type, runner.tools], ['runner', 'executor', ['execute_command']]);
  const watcher = agent('agents/watcher.agent.yaml');
  assert.deepEqual(
    [watcher.name, watcher.description, watcher.models, watcher.tools, watcher.handoff, watcher.systemPrompt],
    ['watcher', 'Watches', ['copilot:gpt-5'], ['read_file'], 'planner-001', 'You watch.'],
  );
  assert.equal(parse('agents/watcher.agent.yaml').places['handoff']?.line, 12);
});

test('a mistyped key in a YAML template is an error', () => {
  const { problems } = parseAgent('agent_id: a\nsystem_promt: x\n', { file: 'agents/a.agent.yaml', definition: 'd' });
  assert.equal(problems[0]?.code, 'unknown_key');
  assert.match(problems[0]?.hint ?? '', /"system_prompt"/);
});
