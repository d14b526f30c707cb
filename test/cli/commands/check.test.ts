/** `guild check` on realistic input: foreign agents, half-saved files, a broken guild.yaml. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { place, scripted, succeeds } from '../../kit/guild.js';

interface Checked {
  agents: string[];
  problems: unknown[];
  warnings: { message: string }[];
}

/** In the style of public collections. */
const THIRD_PARTY: Record<string, string> = {
  'code-reviewer': `---
name: code-reviewer
description: Expert code review specialist. Use immediately after writing or modifying code.
tools: Read, Grep, Glob, Bash
model: inherit
---
You are a senior code reviewer.
`,
  'security-auditor': `---
name: security-auditor
description: Use this agent to audit code: secrets, auth. Examples: <example>Context: login is done. user: "I added JWT" assistant: "I'll use the security-auditor" <commentary>Auth code, so audit.</commentary></example>
model: opus
color: red
---
You audit.
`,
  'test-automator':
    '---\nname: test-automator\ndescription: "Use it for tests.\\n\\n<example>\\nuser: \\"Add tests\\"\\n</example>"\ntools: *\ncolor: green\n---\nYou test.\n',
  frontend: `---
name: Frontend Developer
description: >
  Builds components,
  and lays them out.
tools: Read, Write, Edit, MultiEdit, WebFetch, mcp__playwright__browser_click
model: sonnet
---
You build {{ things }}.
`,
  'list-of-tools': `---
name: list-of-tools
description: lists
tools:
  - Read
  - TodoWrite
  - Bash(git diff:*)
permissionMode: plan
skills: [pdf]
model: claude-opus-4-1-20250805
---
Body
`,
  windows: '---\r\nname: windows\r\ndescription: CRLF: from Windows\r\n---\r\nHello.\r\n',
  bom: '\uFEFF---\nname: bom\ndescription: begins with a mark\n---\nHello.\n',
  empty: '---\nname: empty\ndescription: says nothing more\ntools:\n---\n',
};

test('a folder of foreign Claude Code agents loads from any location, with warnings only', async (t) => {
  for (const folder of ['.claude/agents', 'agents', '.', 'categories/01-core']) {
    const files = Object.entries(THIRD_PARTY).map(([name, text]) => [`${folder}/${name}.md`, text]);
    const { guild } = place(t, {
      ...Object.fromEntries(files),
      'README.md': '# Agents\n',
      'docs/notes.md': 'name: no\n',
    });
    const ran = succeeds(await guild('check', '.', '--json'));
    const { agents, problems, warnings } = JSON.parse(ran.out) as Checked;
    assert.deepEqual(problems, [], folder);
    assert.deepEqual(
      agents,
      [...Object.keys(THIRD_PARTY).filter((name) => name !== 'frontend'), 'frontend-developer'].sort(),
      folder,
    );
    assert.ok(warnings.some(({ message }) => message.includes('"playwright_browser_click"')));
  }
});

test('agents in sub-folders and in the folders of other programs are found in a workspace', async (t) => {
  const agent = (name: string): string => `---\nname: ${name}\ndescription: d\n---\nPrompt\n`;
  const { guild } = place(
    t,
    scripted('- say: fine', {
      '.claude/agents/team/one.md': agent('one'),
      '.github/agents/two.agent.md': agent('two'),
      '.opencode/agent/three.md': agent('three'),
      '.gemini/agents/four.md': agent('four'),
      '.agents/five.md': agent('five'),
      '.agents/skills/pdf/SKILL.md': agent('pdf'),
      '.agents/notes.md': 'Only notes.\n',
      '.claude/commands/go.md': agent('go'),
      '.gemini/agents/one.md': `${agent('one')}A copy for another program.\n`,
    }),
  );
  const { agents, problems, warnings } = JSON.parse(succeeds(await guild('check', '--json')).out) as Checked;
  assert.deepEqual(agents, ['boss', 'five', 'four', 'hand', 'one', 'three', 'two']);
  assert.deepEqual(problems, []);
  assert.match(warnings[0]!.message, /the name "one" is used twice: by \.claude\/agents\/team\/one\.md/);
});

test('a foreign file that defines no agent is a problem, in a workspace and outside', async (t) => {
  const lost = { '.claude/agents/open.md': '---\nname: open\ndescription: never closed\n' };
  for (const files of [lost, scripted('- say: fine', lost)]) {
    const ran = await place(t, files).guild('check', '.');
    assert.equal(ran.code, 1);
    assert.match(ran.err, /open\.md:1:1: the frontmatter that starts here is never closed/);
  }
});

test('two agents of one program with one name are a problem unless the files are equal', async (t) => {
  const agent = (prompt: string): string => `---\nname: twin\ndescription: d\n---\n${prompt}\n`;
  const files = { 'a/twin.md': agent('x'), 'b/twin.md': agent('x') };
  succeeds(await place(t, files).guild('check', '.'));
  const ran = await place(t, { ...files, 'c/twin.md': agent('y') }).guild('check', '.');
  assert.equal(ran.code, 1);
  assert.match(ran.err, /the name "twin" is used twice/);
});

test('a model that is unknown here is replaced by the model of the workspace, with a warning', async (t) => {
  const { guild } = place(
    t,
    scripted('- say: fine', { '.claude/agents/a.md': '---\nname: a\ndescription: d\nmodel: opusplan\n---\nPrompt\n' }),
  );
  const { warnings } = JSON.parse(succeeds(await guild('check', '--json')).out) as Checked;
  assert.match(
    warnings.map(({ message }) => message).join(),
    /no model opusplan; the default of the workspace is used/,
  );
  assert.equal(succeeds(await guild('run', 'a', 'x', '--quiet')).out, 'fine\n');
});

test('servers of .mcp.json that guild.yaml does not name are off, and the check says so', async (t) => {
  const servers = JSON.stringify({ mcpServers: { lab: { command: 'false' }, off: { command: 'false' } } });
  const files = scripted('- say: fine', { '.mcp.json': servers });
  files['guild.yaml'] += 'plugins: { mcp: { servers: { lab: true } } }\n';
  const ran = succeeds(await place(t, files).guild('check'));
  assert.match(ran.err, /\.mcp\.json: these MCP servers are off: off\n/);
});

test('an error in an agent file is shown with line and caret, and other agents work', async (t) => {
  const broken = '---\ndescription: Hm\ntools: [read_file, reed_file]\nmodle: x\n---\nPrompt\n';
  const { guild } = place(
    t,
    scripted('- say: fine', { 'agents/broken.md': broken, 'agents/open.md': '---\nname: open\n' }),
  );
  const ran = await guild('check');
  assert.equal(ran.code, 1);
  assert.match(
    ran.err,
    /agents\/broken\.md:4:1: unknown key "modle"\n {2}modle: x\n {2}\^\n {2}did you mean "model"\?/,
  );
  assert.match(ran.err, /agents\/open\.md:1:1: the frontmatter that starts here is never closed/);
  assert.equal(succeeds(await guild('run', 'hand', 'x', '--quiet')).out, 'fine\n');
});

test('each contradictory pattern is a problem with file and line, and other agents keep working', async (t) => {
  const bad: [name: string, front: string, place: string, says: string][] = [
    ['far', 'handoff: nobody', '3:10', 'far names "nobody" as its handoff, but there is no such agent'],
    ['deaf', 'advisors: [hand, noone]', '3:18', 'deaf names "noone" as an advisor, but there is no such agent'],
    ['lost', 'router: {destinations: [hand, noone]}', '3:31', 'lost names "noone" as a destination'],
    ['back', 'router: {destinations: [hand], fallback: noone}', '3:42', 'back names "noone" as its fallback'],
    ['thin', 'team: {members: [hand, noone]}', '3:24', 'thin names "noone" as a member of its team'],
    ['asks', 'tools: [delegate_to_agent]\nagents: [noone]', '4:10', 'asks names "noone" as an agent to ask'],
    ['busy', 'router: {destinations: [hand]}\ntools: [read_file]', '4:8', 'busy is a router and has tools'],
    ['both', 'team: {members: [hand]}\nhandoff: hand', '4:10', 'both leads a team and hands off'],
    ['self', 'handoff: self', '3:10', 'these agents form a cycle: self → self'],
    ['ring', 'handoff: rung', '3:10', 'these agents form a cycle: ring → rung → ring'],
    ['warm', 'temperature: hot', '3:14', '"temperature" must be a number from 0 to 2'],
    ['list', 'team: [[hand]]', '3:8', '"team.0" must be a name'],
    ['flag', 'advisors: true', '3:11', '"advisors" must be a list of agents'],
    ['many', 'handoff: [a, b]', '3:10', '"handoff" must be the name of one agent'],
    ['judge', 'metacognition: yes please', '3', 'there is no model yes please'],
    ['check', 'metacognition: {modle: x}', '3:17', 'unknown key "metacognition.modle"'],
  ];
  const file = (front: string): string => `---\ndescription: x\n${front}\n---\nPrompt\n`;
  const files = Object.fromEntries(bad.map(([name, front]) => [`agents/${name}.md`, file(front)]));
  const { guild } = place(t, scripted('- say: fine', { ...files, 'agents/rung.md': file('advisors: [ring]') }));
  const ran = await guild('check');
  assert.equal(ran.code, 1);
  for (const [name, , where, says] of bad) {
    const at = name === 'judge' ? `agents/${name}.md: ` : `agents/${name}.md:${where}: `;
    assert.ok(ran.err.includes(`${at}${says}`), `${at}${says}\n\n${ran.err}`);
  }
  assert.match(ran.out, new RegExp(`${bad.length} problems`), 'and nothing else');
  assert.equal(succeeds(await guild('run', 'hand', 'x', '--quiet')).out, 'fine\n');
  const round = await guild('run', 'ring', 'x', '--quiet');
  assert.equal(round.code, 1);
  assert.match(round.err, /these agents form a cycle: ring → rung → ring/);
});

test('an unreadable guild.yaml stops work, so that no task meets models and limits its owner did not mean', async (t) => {
  const workspace = place(t, scripted('- say: fine', { 'tasks/pending/a.json': '{"description": "x"}' }));
  const good = workspace.read('guild.yaml');
  for (const bad of ['model: [a', '<<<<<<< HEAD\nmodel: a\n=======\n', 'model: "open\n']) {
    workspace.put('guild.yaml', bad);
    const all = bad.startsWith('model: [') ? [['watch'], ['run', 'boss', 'x'], ['check']] : [];
    for (const command of [['pump'], ...all]) {
      const ran = await workspace.guild(...command);
      assert.equal(ran.code, 1, `${command.join(' ')} on ${bad}`);
      assert.match(ran.err, /guild\.yaml:\d+:\d+: /);
    }
  }
  fs.writeFileSync(path.join(workspace.root, 'guild.yaml'), Buffer.from('limits: {parallel: 1} # caf\xe9\n', 'latin1'));
  assert.match((await workspace.guild('pump')).err, /guild\.yaml:1:28: this byte is not UTF-8 text/);
  succeeds(await workspace.guild('task', 'list'));
  assert.deepEqual(workspace.list('tasks/pending'), ['a.json']);
  workspace.put('guild.yaml', good);
  succeeds(await workspace.guild('pump'));
  assert.deepEqual(workspace.list('tasks/completed'), ['a.json']);
});

test('a mistyped key or an invalid value stops work without failing a task; an unrelated key does not', async (t) => {
  const workspace = place(t, scripted('- say: fine', { 'tasks/pending/a.json': '{"description": "x"}' }));
  const good = workspace.read('guild.yaml');
  for (const [bad, expected] of [
    [good.replace('providers', 'provders'), /unknown key "provders"[^]+did you mean "providers"\?/],
    [`${good}budgt: {usd: 1}\n`, /unknown key "budgt"[^]+did you mean "budget"\?/],
    [`${good}limits: {depth: many, paralel: 1}\n`, /guild check shows 1 more/],
  ] as const) {
    workspace.put('guild.yaml', bad);
    for (const command of [['pump'], ['run', 'boss', 'x']]) {
      const ran = await workspace.guild(...command);
      assert.equal(ran.code, 1, bad);
      assert.match(ran.err, expected);
    }
    succeeds(await workspace.guild('state'));
    assert.deepEqual([workspace.list('tasks/pending'), workspace.list('tasks/failed')], [['a.json'], []]);
  }
  workspace.put('guild.yaml', `${good}zebra: {stripes: 9}\n`);
  assert.match(succeeds(await workspace.guild('pump')).err, /unknown key "zebra"/);
  assert.deepEqual(workspace.list('tasks/completed'), ['a.json']);
});

test('each invalid value in guild.yaml is reported once, with its place', async (t) => {
  const { guild, put } = place(t, scripted('- say: fine'));
  for (const [yaml, expected] of [
    ['limits: {parallel: many}', /guild\.yaml:1:20: "limits\.parallel" must be a whole number/],
    ['model: gpt5x', /there is no model gpt5x\n {2}name it as provider\/model/],
    ['default_agent: bos', /default_agent is bos, which is not an agent\n {2}did you mean "boss"\?/],
    ['coordination: {coordinator: bos}', /coordination\.coordinator is bos, which is not an agent/],
    ['models: {a: b, b: a}', /the model alias a leads back to itself: a → b → a/],
    ['providers: {x: {base_url: "http://h/v1", key: sk-1}}', /an API key must not be written in this file/],
  ] as const) {
    put('guild.yaml', `${yaml}\n`);
    const ran = await guild('check');
    assert.equal(ran.code, 1, yaml);
    assert.equal(ran.err.split(expected).length, 2, `${yaml}: ${ran.err}`);
  }
});

test('damaged task files are held or quarantined with a reason, and other tasks are done', async (t) => {
  const bad: Record<string, string> = {
    torn: '{"description": "to',
    empty: '',
    array: '[1]',
    number: '{"description": 5}',
    twice: '{"description":"a","description":"b"}',
    'two words': '{"description": "x"}',
    binary: '\0\x01',
  };
  const files = Object.fromEntries(Object.entries(bad).map(([name, text]) => [`tasks/pending/${name}.json`, text]));
  const good = {
    'tasks/pending/bom.json': '\uFEFF{"description": "x"}',
    'tasks/pending/crlf.json': '{\r\n"description": "x"\r\n}\r\n',
  };
  const workspace = place(t, scripted('- say: fine', { ...files, ...good }));
  const ran = succeeds(await workspace.guild('pump'));
  assert.deepEqual(workspace.list('tasks/completed'), ['bom.json', 'crlf.json']);
  assert.deepEqual(workspace.list('tasks/pending'), ['empty.json', 'torn.json']);
  assert.match(ran.err, /torn\.json:1:17: this string does not end\n {2}\{"description": "to\n {18}\^/);
  for (const name of ['array', 'number', 'twice', 'two words', 'binary']) {
    assert.equal(workspace.read(`quarantine/${name}.json`), bad[name], 'its bytes are kept');
    assert.match(workspace.read(`quarantine/${name}.json.why.md`), /tasks\/pending/);
  }
  workspace.put('tasks/pending/torn.json', '{"description": "to the end"}');
  succeeds(await workspace.guild('pump'));
  assert.ok(workspace.list('tasks/completed').includes('torn.json'));
});

test('a second file with the same id is quarantined, reported and recorded, even by a read-only command', async (t) => {
  const twins = {
    'tasks/pending/copy.json': '{"id": "a", "description": "one"}',
    'tasks/waiting/a.json': '{"description": "two"}',
  };
  const workspace = place(t, scripted('- say: fine', twins));
  const ran = succeeds(await workspace.guild('task', 'list'));
  assert.match(ran.out, /^waiting {2}a +two\n$/);
  assert.match(ran.err, /tasks\/pending\/copy\.json has the id a, which tasks\/waiting\/a\.json has already/);
  const history = workspace.list('events').map((file) => workspace.read(`events/${file}`));
  assert.match(history.join(''), /"name":"file\.quarantined".*tasks\/pending\/copy\.json/);
});

test('a broken policy file is a problem, because nothing runs without approval until it is fixed', async (t) => {
  const { guild, put } = place(t, scripted('- {say: Hello}'));
  put('storage/terminal-cmd-allowlist.yaml', 'ls: true\ngit status: maybe\n');
  put('storage/policy.yaml', 'files:\n  rules: 3\n');
  const ran = await guild('check');
  assert.equal(ran.code, 1);
  assert.match(ran.err, /storage\/terminal-cmd-allowlist\.yaml:2/);
  assert.match(ran.err, /storage\/policy\.yaml:/);
});

test('a file in .claude/agents that does not define an agent is a problem, and other faults are warnings', async (t) => {
  const { guild } = place(t, {
    ...scripted('- {say: Hello}'),
    '.claude/agents/broken.md': '---\nname: broken\ndescription: The second fence is missing\n',
    '.claude/agents/odd.md': '---\nname: odd\ndescription: Odd\ntools: Read, mcp__far__away\n---\nPrompt\n',
  });
  const ran = await guild('check', '--json');
  assert.equal(ran.code, 1, ran.out);
  const { agents, problems, warnings } = JSON.parse(ran.out) as {
    agents: string[];
    problems: { where: { file: string } }[];
    warnings: { where: { file: string } }[];
  };
  assert.ok(agents.includes('odd') && !agents.includes('broken'));
  assert.deepEqual([...new Set(problems.map(({ where }) => where.file))], ['.claude/agents/broken.md']);
  assert.ok(warnings.some(({ where }) => where.file === '.claude/agents/odd.md'));
});

test('a command that names an agent whose file cannot be read shows the problem of the file', async (t) => {
  const { guild, put } = place(t, scripted('- {say: Hello}'));
  put('agents/torn.md', '---\ndescription: Torn\ntools: [read_file\n---\nPrompt\n');
  for (const command of [
    ['task', 'add', 'x', '--to', 'torn'],
    ['run', 'torn', 'x'],
    ['agent', 'start', 'torn'],
    ['agent', 'pause', 'torn'],
  ]) {
    const ran = await guild(...command);
    assert.equal(ran.code, 1, command.join(' '));
    assert.match(ran.err, /agents\/torn\.md:\d+:\d+: the file of agent torn cannot be read: /, command.join(' '));
  }
});

test('a setting that the model refuses is a warning that names both', async (t) => {
  const { guild } = place(t, {
    'guild.yaml': 'model: anthropic/claude-opus-5-5\n',
    'agents/ana.md': '---\ndescription: Answers\ntemperature: 0.2\n---\nAnswer.\n',
  });
  const ran = succeeds(await guild('check', '.', '--json'));
  const { warnings } = JSON.parse(ran.out) as { warnings: { message: string; where: { file: string } }[] };
  assert.deepEqual(
    warnings.map(({ message, where }) => [message, where.file]),
    [
      [
        'Claude Fable, Opus 5.5 and Sonnet 5.5 refuse temperature, so it is left out for anthropic/claude-opus-5-5',
        'agents/ana.md',
      ],
    ],
  );
});

test('bullets that every agent would bid on are named, and an agent, a default or one bidder is enough', async (t) => {
  const agent = (more = '') => `---\ndescription: Helps\n${more}---\nYou help.\n`;
  const workspace = place(t, {
    'guild.yaml': 'model: pretend/x\nproviders:\n  pretend: { kind: scripted, script: script.yaml }\n',
    'script.yaml': '- say: Done.\n',
    'agents/ana.md': agent(),
    'agents/ben.md': agent(),
    'agents/shy.md': agent('threshold: never\n'),
    'tasks/plan.task.md':
      '## TODO\n- [ ] Water the plants\n- [ ] Feed the cat @ana\n- [x] Sweep\n- [ ] Buy milk @human\n',
  });
  const warnings = async (): Promise<string> => {
    const { out } = succeeds(await workspace.guild('check', '--json'));
    return (JSON.parse(out) as Checked).warnings.map(({ message }) => message).join('\n');
  };
  assert.match(await warnings(), /^a bullet names no agent: all 2 agents are asked for a bid, with a model call$/m);
  const shown = succeeds(await workspace.guild('check'));
  assert.match(shown.err, /tasks\/plan\.task\.md:2/);
  const config = workspace.read('guild.yaml');
  workspace.put('guild.yaml', `${config}\ndefault_agent: ana\n`);
  assert.doesNotMatch(await warnings(), /bid/);
  workspace.put('guild.yaml', config);
  workspace.put('agents/ben.md', agent('threshold: never\n'));
  assert.doesNotMatch(await warnings(), /bid/);
});

test('a bullet with a bad schedule is a problem, at its line', async (t) => {
  const workspace = place(t, {
    ...scripted('- {say: done}'),
    'tasks/week.task.md':
      '# Week\n\n## TODO\n\n- [ ] @boss report\n  schedule: "0 9 * *"\n- [ ] @boss other\n  schedule: "0 9 * * 1"\n',
  });
  const { code, err } = await workspace.guild('check');
  assert.equal(code, 1, err);
  assert.match(err, /tasks\/week\.task\.md:6:\d+: a schedule has five fields/);
  assert.doesNotMatch(err, /week\.task\.md:8/);
});

test('a file with an unknown key also gets its unknown tools, agents, skills and variables reported', async (t) => {
  const head = 'name: scout\ndescription: d\ncolour: red\ntools: [serch_files]\nagents: [nobody]\nskills: [pdff]';
  const files = scripted('- say: fine', { 'agents/scout.md': `---\n${head}\n---\nUse {{ nothing }}.\n` });
  const ran = await place(t, files).guild('check');
  assert.equal(ran.code, 1);
  assert.match(ran.err, /scout\.md:4:1: .*"colour"/);
  assert.match(ran.err, /scout\.md:5:9: scout names an unknown tool: "serch_files"/);
  assert.match(ran.err, /scout\.md:6:10: .*"?nobody"?/);
  assert.match(ran.err, /scout names an unknown skill: "pdff"/);
  assert.match(ran.err, /scout\.md:9:\d+: nothing fills in \{\{ nothing \}\}/);
});
