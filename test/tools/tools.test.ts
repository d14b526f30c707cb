import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { tempFolder } from '../kit/temp/folder.js';
import { disk } from '../../src/adapters/disk/index.js';
import { workspaceFiles } from '../../src/adapters/workspace-files/index.js';
import { search } from '../../src/adapters/search/index.js';
import type { Agent } from '../../src/domain/agent/agent.js';
import { childId, isSafeId } from '../../src/domain/task/id.js';
import { makeTask } from '../../src/domain/task/task.js';
import { judgePath, judgeSpelling } from '../../src/rules/policy/paths.js';
import { checkArgs } from '../../src/tools/core/args.js';
import type { ToolContext, ToolReply } from '../../src/tools/core/tool.js';
import { isBuilt, KNOWN_TOOLS, toolbox, toolDescriptions } from '../../src/tools/toolbox.js';

const TOOLS = toolbox();

interface Bench {
  root: string;
  use(tool: string, args: Record<string, unknown>): Promise<ToolReply>;
}

function bench(t: TestContext, files: Record<string, string> = {}, agents: string[] = []): Bench {
  const root = tempFolder('tools', t);
  for (const [name, text] of Object.entries(files)) {
    fs.mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
    fs.writeFileSync(path.join(root, name), text);
  }
  const known = ['ana', 'bob', 'eve'].map((name) => [name, { name, description: `${name}'s work` }] as const);
  const context = {
    agent: { name: 'ana', agents } as unknown as Agent,
    task: makeTask({ id: 't1', description: 'do', created_at: '2026-01-01T00:00:00Z' }),
    callId: 'c1',
    approved: false,
    sessions: () => [],
    replaceSession: async () => undefined,
    breakDown: () => Promise.resolve({ code: 'bug' as const, message: 'not here' }),
    checkDraft: () => undefined,
    createAgent: async () => undefined,
    folder: workspaceFiles({
      root,
      disk: disk(),
      judge: { spelling: judgeSpelling, path: judgePath },
      search: search({ kind: 'lexical' }),
    }),
    agents: new Map(known),
  } as Partial<ToolContext> as ToolContext;
  return {
    root,
    async use(name, args) {
      const tool = TOOLS.get(name)!;
      assert.equal(checkArgs(tool.parameters, args), undefined);
      return tool.run(args, context);
    },
  };
}

function textOf(reply: ToolReply): string {
  assert.ok(reply.kind === 'text', JSON.stringify(reply));
  return reply.text;
}

function problemOf(reply: ToolReply): string {
  assert.ok(reply.kind === 'problem', JSON.stringify(reply));
  return `${reply.code}: ${reply.message}`;
}

test('read_file gives the plain text with normalized line ends', async (t) => {
  const { use } = bench(t, { 'a.md': 'one\r\ntwo\r\n', 'empty.md': '' });
  assert.equal(textOf(await use('read_file', { path: 'a.md' })), 'one\ntwo\n');
  assert.equal(textOf(await use('read_file', { path: 'empty.md' })), '');
});

test('read_file gives a range, and pages a long file so that nothing is lost', async (t) => {
  const lines = Array.from({ length: 3000 }, (_, i) => `line ${i + 1} ${'x'.repeat(1 + (i % 40))}`);
  const { use } = bench(t, { 'a.md': lines.join('\n') + '\n' });
  assert.equal(
    textOf(await use('read_file', { path: 'a.md', from_line: 2, lines: 2 })),
    `[a.md: lines 2 to 3 of 3000; continue with from_line 4]\n${lines[1]}\n${lines[2]}\n`,
  );
  const seen: string[] = [];
  for (let from: number | undefined = 1; from !== undefined;) {
    const text = textOf(await use('read_file', { path: 'a.md', from_line: from }));
    assert.ok(text.length < 16 * 1024);
    const [head, ...rest] = text.trimEnd().split('\n');
    seen.push(...rest);
    const next: string | undefined = /from_line (\d+)/.exec(head!)?.[1];
    from = next === undefined ? undefined : Number(next);
  }
  assert.deepEqual(seen, lines);
  assert.match(problemOf(await use('read_file', { path: 'a.md', from_line: 4000 })), /has 3000 lines/);
});

test('read_file cuts a line that is longer than a page, and says so', async (t) => {
  const { use } = bench(t, { 'a.json': 'x'.repeat(100_000) });
  const text = textOf(await use('read_file', { path: 'a.json' }));
  assert.match(text, /longer than a page/);
  assert.ok(text.length < 16 * 1024);
});

test('a missing file is reported with similar names', async (t) => {
  const { use } = bench(t, { 'docs/notes.md': 'x', 'docs/plan.md': 'x' });
  assert.match(
    problemOf(await use('read_file', { path: 'docs/note.md' })),
    /^not_found: .*did you mean docs\/notes\.md\?/,
  );
  assert.match(problemOf(await use('read_file', { path: 'zzz' })), /^not_found: .*list_directory shows what is there/);
  assert.match(problemOf(await use('read_file', { path: 'docs' })), /^not_allowed: .*folder.*list_directory/);
  assert.match(problemOf(await use('list_directory', { path: 'doc' })), /did you mean docs/);
});

test('reading outside the workspace is not allowed, and reading a secret needs a human', async (t) => {
  const { use } = bench(t, { '.env': 'KEY=1' });
  assert.match(problemOf(await use('read_file', { path: '../x' })), /^not_allowed: .*outside the workspace/);
  assert.match(problemOf(await use('read_file', { path: '.env' })), /^needs_human: .*secret.*continue without it/);
});

test('list_directory shows folders, sizes and odd names on one line each', async (t) => {
  const { use } = bench(t, { 'a.md': '1234', 'docs/x.md': '', 'two\nlines': '', 'un\u200dseen': '' });
  assert.equal(textOf(await use('list_directory', {})), 'a.md\t4\ndocs/\n"un\u200dseen"\t0');
  assert.match(textOf(await use('list_directory', { path: 'docs' })), /^x\.md\t0$/);
});

test("write_file and create_directory work in the agent's folder and give a hint elsewhere", async (t) => {
  const { use, root } = bench(t);
  assert.equal(
    textOf(await use('write_file', { path: 'workspaces/ana/a.md', content: 'hi\n' })),
    'created workspaces/ana/a.md, 3 bytes',
  );
  assert.equal(
    textOf(await use('write_file', { path: 'workspaces/ana/a.md', content: '' })),
    'replaced workspaces/ana/a.md, 0 bytes',
  );
  assert.equal(textOf(await use('create_directory', { path: 'workspaces/ana/d' })), 'created workspaces/ana/d');
  assert.equal(textOf(await use('create_directory', { path: 'workspaces/ana/d' })), 'workspaces/ana/d already exists');
  assert.match(
    problemOf(await use('write_file', { path: 'docs/a.md', content: 'x' })),
    /^needs_human: .*needs a human's approval.*write under workspaces\/ana\/ instead/,
  );
  assert.match(
    problemOf(await use('write_file', { path: 'tasks/approvals.task.md', content: 'x' })),
    /^not_allowed: .*create_task/,
  );
  assert.match(problemOf(await use('create_directory', { path: 'docs' })), /^needs_human: /);
  assert.deepEqual(fs.readdirSync(root), ['workspaces']);
});

test('search_files gives path, line and text', async (t) => {
  const { use } = bench(t, { 'a.md': 'first\n\nthe needle\n' });
  assert.equal(textOf(await use('search_files', { query: 'needle' })), 'a.md:3: the needle');
  assert.match(textOf(await use('search_files', { query: 'zebra' })), /nothing found/);
  assert.match(problemOf(await use('search_files', { query: 'x', path: '../..' })), /^not_allowed: /);
});

test('final_report ends the task', async (t) => {
  const { use } = bench(t);
  assert.deepEqual(await use('final_report', { report: ' done ' }), { kind: 'final', text: 'done' });
  assert.deepEqual(await use('final_report', { report: 'no key', success: false }), {
    kind: 'final',
    text: 'no key',
    success: false,
  });
  assert.match(problemOf(await use('final_report', { report: ' ' })), /report is missing or empty/);
});

test('delegate_to_agent asks for a child whose id is the same on every pass', async (t) => {
  const { use } = bench(t);
  const asked = await use('delegate_to_agent', { agent: 'bob', task: 'count', context: 'to ten' });
  const id = childId('t1', 'call-c1');
  assert.ok(isSafeId(id));
  assert.deepEqual(asked, {
    kind: 'ask',
    child: {
      id,
      role: 'call',
      to: 'bob',
      description: 'count',
      type: 'general',
      context: { context: 'to ten' },
      budget: undefined,
    },
  });
  assert.deepEqual(await use('delegate_to_agent', { agent: 'bob', task: 'count', context: 'to ten' }), asked);
});

test('delegate_to_agent lists the choices when the name is wrong', async (t) => {
  const any = bench(t);
  assert.match(
    problemOf(await any.use('delegate_to_agent', { agent: 'Bob', task: 'x' })),
    /^unknown_agent: .*\(did you mean bob\?\); choose one of bob \(bob's work\); eve/,
  );
  assert.match(
    problemOf(await any.use('delegate_to_agent', { agent: 'ana', task: 'x' })),
    /^not_allowed: you cannot delegate to yourself/,
  );
  const some = bench(t, {}, ['eve', 'ana', 'ghost']);
  assert.match(
    problemOf(await some.use('delegate_to_agent', { agent: 'bob', task: 'x' })),
    /^not_allowed: you may not delegate to bob; choose one of eve \(/,
  );
  assert.match(problemOf(await some.use('delegate_to_agent', { agent: 'ghost', task: 'x' })), /^unknown_agent/);
  assert.match(problemOf(await some.use('delegate_to_agent', { agent: 'eve', task: ' ' })), /task is empty/);
});

test('every designed tool is in the toolbox, and unavailable ones say so', async (t) => {
  const { use } = bench(t);
  for (const name of KNOWN_TOOLS) {
    assert.ok(TOOLS.has(name), name);
    if (isBuilt(name)) continue;
    assert.match(problemOf(await use(name, { any: 1 })), new RegExp(`^not_allowed: ${name} is not available here; .`));
  }
  assert.ok(['execute_command', 'slack_send', 'create_agent', 'read_file'].every((name) => KNOWN_TOOLS.has(name)));
});

test('tool descriptions are the first sentence of each tool, in one line', () => {
  const long = { name: 'long', description: 'x'.repeat(400) };
  const short = { name: 'short', description: 'Reads e.g. a page. Asks first.\n\nMore.' };
  const text = toolDescriptions([TOOLS.get('read_file')!, TOOLS.get('final_report')!, short, long]);
  assert.deepEqual(text.split('\n').slice(0, 3), [
    '- read_file: Reads a text file of the workspace, or shows an image or a PDF document.',
    '- final_report: Ends your task.',
    '- short: Reads e.g. a page.',
  ]);
  assert.equal(text.split('\n')[3], `- long: ${'x'.repeat(199)}…`);
});
