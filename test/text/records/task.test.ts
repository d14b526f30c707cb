/** Task files: accepted, held or quarantined. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TASK_VERSION, makeTask } from '../../../src/domain/task/task.js';
import { problemText } from '../../../src/domain/problem.js';
import { parseTask, printTask } from '../../../src/text/records/task.js';

const now = '2026-01-02T03:04:05.000Z';
const parse = (content: string | Uint8Array, name = 'dropped', maxBytes?: number) =>
  parseTask(typeof content === 'string' ? Buffer.from(content) : content, {
    file: `tasks/pending/${name}.json`,
    name,
    now,
    ...(maxBytes ? { maxBytes } : {}),
  });
const task = (content: string, name?: string) => {
  const parsed = parse(content, name);
  assert.ok(parsed.kind === 'task', parsed.kind === 'task' ? '' : problemText(parsed.problem));
  return parsed.task;
};

test('a description is enough: the id is the file name, the goal is the description', () => {
  assert.deepEqual(
    task('{"description": "Sweep the floor"}', 'sweep'),
    makeTask({ id: 'sweep', description: 'Sweep the floor', created_at: now }),
  );
});

test('a goal with requirements in its context is accepted', () => {
  const read = task(
    `{"description": "Build a REST API for user management", "type": "software_development",
      "context": {"requirements": ["CRUD operations", "authentication"], "tech_stack": ["Python"]}}`,
    'build_user_api',
  );
  assert.equal(read.id, 'build_user_api');
  assert.deepEqual(read.requirements, []);
  assert.deepEqual(read.context, {
    original_goal: 'Build a REST API for user management',
    requirements: ['CRUD operations', 'authentication'],
    tech_stack: ['Python'],
  });
});

test('a full record of another program is accepted: parent_id, nulls, its own id', () => {
  const read = task(
    `{"id": "task_abc123", "parent_id": "task_parent", "depth": 2, "type": "search_web", "description": "Find",
      "context": {"original_goal": "Optimize", "target_domain": "performance"}, "requirements": ["web_search"],
      "created_by": "TaskBreakdownAgent_12ab34cd", "created_at": "2025-01-15T10:00:00Z", "claimed_by": null, "claimed_at": null}`,
    'other-name',
  );
  assert.equal(read.id, 'task_abc123');
  assert.equal(read.parent, 'task_parent');
  assert.equal(read.depth, 2);
  assert.equal(read.context.original_goal, 'Optimize');
  assert.equal(read.created_at, '2025-01-15T10:00:00Z');
  assert.ok(!('claimed_by' in read));
});

test('priorities are read as people write them', () => {
  for (const [written, read] of [
    ['"high"', 'B'],
    ['"critical"', 'A'],
    ['"Normal"', 'C'],
    ['"low"', 'D'],
    ['1', 'A'],
    ['4', 'D'],
    ['"b"', 'B'],
    ['null', 'C'],
  ] as const) {
    assert.equal(task(`{"description": "x", "priority": ${written}}`).priority, read, written);
  }
});

test('a budget is read as people write it', () => {
  const { budget } = task('{"description": "x", "budget": {"tokens": "200k", "usd": 1.5, "time": "10m", "turns": 3}}');
  assert.deepEqual(budget, { tokens: 200_000, microUsd: 1_500_000, timeMs: 600_000, turns: 3 });
});

test('unknown fields are kept and printed back, after the known ones', () => {
  const read = task('{"ticket": {"n": 7}, "description": "x", "__proto__": {"polluted": true}}');
  assert.deepEqual(Object.keys(read.extra!), ['ticket', '__proto__']);
  assert.equal((read.extra as { polluted?: true }).polluted, undefined);
  const printed = printTask(read);
  assert.ok(printed.endsWith('}\n'));
  const keys = Object.keys(JSON.parse(printed) as object);
  assert.equal(keys[0], 'id');
  assert.deepEqual(keys.slice(-2), ['ticket', '__proto__']);
  assert.deepEqual(task(printed), read);
});

test('numbers that JavaScript would round are printed as they were read', () => {
  const numbers = '{"ticket": 1234567890123456789, "ratio": 0.12345678901234567891, "small": 7, "big": 1e300}';
  const read = task(`{"description": "x", "extra_facts": ${numbers}, "context": {"chat": -9007199254740993}}`);
  const printed = printTask(read);
  for (const text of ['1234567890123456789,', '0.12345678901234567891,', ': 7,', '1e+300', '-9007199254740993'])
    assert.ok(printed.includes(text), `${text} in ${printed}`);
  assert.deepEqual(task(printed), read);
  assert.match(JSON.stringify(read.context), /"-9007199254740993"/, 'others read it as text');
});

test('text that looks like a long number stays text', () => {
  const read = task(
    '{"description": "1234567890123456789", "note": "\\u00001234567890123456789", "n": 12345678901234567}',
  );
  assert.equal(read.description, '1234567890123456789');
  assert.equal(read.extra?.['note'], '\u00001234567890123456789');
  assert.match(printTask(read), /"n": 12345678901234567\n/);
  assert.deepEqual(task(printTask(read)), read);
});

const held: [string, string | Uint8Array, RegExp][] = [
  ['an empty file', '', /empty/],
  ['a blank file', ' \n\n', /empty/],
  ['a torn file', '{"description": "Swee', /does not end/],
  [
    'unresolved merge conflict',
    '<<<<<<< ours\n{"description": "a"}\n=======\n{"description": "b"}\n>>>>>>> theirs\n',
    /unresolved merge conflict/,
  ],
  ['a later version', `{"description": "a", "version": ${TASK_VERSION + 1}}`, /newer Guildhall/],
];
for (const [what, content, message] of held) {
  test(`${what} is held`, () => {
    const parsed = parse(content);
    assert.equal(parsed.kind, 'hold');
    assert.ok(parsed.kind === 'hold');
    assert.match(parsed.problem.message, message);
    assert.equal(parsed.problem.where?.file, 'tasks/pending/dropped.json');
    assert.ok(parsed.problem.hint);
  });
}

const quarantined: [string, string | Uint8Array, RegExp, string?][] = [
  ['UTF-16', Buffer.from('\uFEFF{"description": "a"}', 'utf16le'), /UTF-16/],
  ['bytes that are not UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]), /not UTF-8/],
  ['NUL bytes', Buffer.from('{"description": "a"}\0\0\0'), /NUL/],
  ['a list', '[{"description": "a"}]', /JSON object/],
  ['a word', '"do it"', /JSON object/],
  ['a repeated key', '{"description": "a",\n"description": "b"}', /twice/, '2:1'],
  ['nesting that is too deep', `{"description": "a", "context": ${'['.repeat(100)}${']'.repeat(100)}}`, /deeper/],
  ['no description', '{"type": "x"}', /no description/],
  ['a blank description', '{"description": "  "}', /says what to do/],
  ['a wrong type', '{"description": "a",\n "requirements": {"a": 1}}', /"requirements" must be a list/, '2:2'],
  ['a wrong type deep inside', '{"description": "a",\n "waits": {"tasks": ["x", 3]}}', /"waits.tasks.1"/, '2:27'],
  ['an id that leaves the folder', '{"description": "a", "id": "../../etc/passwd"}', /cannot be an id/, '1:22'],
  ['a session that leaves the folder', '{"description": "a", "session": "../x"}', /"session" must be an id/],
  ['an assignee that leaves the folder', '{"description": "a", "to": "../x"}', /agent's name/],
  ['an unknown limit', '{"description": "a", "budget": {"dollars": 3}}', /"budget.dollars" must be one of/],
  ['an unknown priority', '{"description": "a", "priority": "someday"}', /A, B, C or D/],
];
for (const [what, content, message, place] of quarantined) {
  test(`${what} goes to quarantine`, () => {
    const parsed = parse(content);
    assert.ok(parsed.kind === 'quarantine', parsed.kind);
    assert.match(parsed.problem.message, message);
    assert.ok(parsed.problem.hint);
    if (place) assert.equal(`${parsed.problem.where?.line}:${parsed.problem.where?.column}`, place);
  });
}

test('a file over the size limit goes to quarantine unread', () => {
  assert.equal(parse('{"description": "aaaaaaaaaaaaaaaaaaaaaaaaaa"}', 'big', 20).kind, 'quarantine');
});

test('a file whose name is not a valid id goes to quarantine', () => {
  assert.equal(parse('{"description": "a"}', '-rf').kind, 'quarantine');
});

test('a context that is too deep to read back is printed as text', () => {
  let deep: Record<string, unknown> = { bottom: true };
  for (let i = 0; i < 200; i++) deep = { in: deep };
  const printed = printTask(makeTask({ id: 'a', description: 'x', created_at: now, context: { deep } }));
  assert.match(JSON.stringify(task(printed).context), /bottom/);
});
