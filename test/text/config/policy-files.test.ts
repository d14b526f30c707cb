/** The policy files are read strictly: every error has its place, and a bad file does not count. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { problemText } from '../../../src/domain/problem.js';
import { readAllowlist } from '../../../src/text/config/allowlist.js';
import { readPattern } from '../../../src/text/config/guarded-pattern.js';
import { readPolicy } from '../../../src/text/config/policy.js';

test('the allowlist accepts words, patterns and every kind of answer', () => {
  const read = readAllowlist(
    'a.yaml',
    `# mine
ls: true
git status: true
rm: false
foo: null
"npm run 'a b'": true
/^find\\b.*-(delete|exec)\\b/: false
/\\(.+\\)/: { approve: false, matchCommandLine: true }
/^make$/i: { approve: true }
`,
  );
  assert.ok(read.ok);
  assert.deepEqual(
    read.entries.map(({ key, approve, wholeLine, line }) => [key, approve, wholeLine, line]),
    [
      ['ls', true, false, 2],
      ['git status', true, false, 3],
      ['rm', false, false, 4],
      ["npm run 'a b'", true, false, 6],
      ['/^find\\b.*-(delete|exec)\\b/', false, false, 7],
      ['/\\(.+\\)/', false, true, 8],
      ['/^make$/i', true, false, 9],
    ],
  );
  assert.deepEqual(read.entries[3]!.match, { kind: 'words', words: ['npm', 'run', 'a b'] });
  assert.deepEqual(readAllowlist('a.yaml', ''), { ok: true, entries: [] });
  assert.deepEqual(readAllowlist('a.yaml', '# nothing yet\n'), { ok: true, entries: [] });
});

test('an error in the allowlist has line and caret, and no entry of the file counts', () => {
  const invalid: Record<string, RegExp> = {
    'ls: yes please': /a\.yaml:1:5: "ls" must be true, false, null/,
    'ls: true\nrm: 1': /a\.yaml:2:5/,
    'ls: true\nls: false': /twice/,
    '/(a+)+$/: true': /run forever/,
    '/(a|b)*c/: true': /run forever/,
    '/(/: true': /not accepted/,
    '/a/g: true': /flags/,
    '"ls; rm": true': /not the start of one plain command/,
    '"ls $x": true': /not the start/,
    '"ls > x": true': /not the start/,
    'ls: { aprove: true }': /unknown key/,
    'ls: { approve: true, matchCommandLine: true }': /needs a \/pattern\//,
    '- ls': /mapping/,
    'ls: [true': /a\.yaml:/,
    'ls: !!js/function x': /a\.yaml:/,
  };
  for (const [text, expected] of Object.entries(invalid)) {
    const read = readAllowlist('a.yaml', text);
    assert.equal(read.ok, false, text);
    assert.match(read.ok ? '' : read.problems.map(problemText).join('\n'), expected);
  }
  const caret = readAllowlist('a.yaml', 'ls: true\nrm: 12');
  assert.match(caret.ok ? '' : problemText(caret.problems[0]!), /rm: 12\n {6}\^/);
});

test('a pattern is fast even on the longest text it is tried on', () => {
  for (const source of [
    '/^a.*b/',
    '/.*a.*b/',
    '/a+b+c+d/',
    '/x*y*z*/',
    '/^(foo|bar) .*$/',
    '/[a-z]+ [a-z]+ [a-z]+$/',
  ]) {
    const read = readPattern(source);
    assert.ok(read.ok, source);
    const start = process.cpuUsage();
    for (const c of ['a', 'x', ' ', 'a '])
      read.pattern.regex.test(c.repeat(read.pattern.maxInput).slice(0, read.pattern.maxInput));
    const { user } = process.cpuUsage(start);
    assert.ok(user < 1_000_000, `${source} took ${user} µs for ${read.pattern.maxInput} characters`);
  }
  for (const source of [
    '/(a*)*/',
    '/(a+)+/',
    '/((a+)b)*/',
    '/(a|aa)+$/',
    '/(?:x+x+)+y/',
    '/(.*){20}/',
    '/(a)\\1*/',
    '/([a-z]+){2,}/',
  ]) {
    assert.equal(readPattern(source).ok, false, source);
  }
});

test('inline flags, which only newer Node versions support, are refused in a pattern', () => {
  for (const source of ['/^(?i:ls)$/', '/(?-i:ls)/i', '/^make (?ms-i:x)/']) {
    const read = readPattern(source);
    assert.match(read.ok ? 'taken' : read.reason, /after the last slash/, source);
  }
  for (const source of ['/^(?:ls|pwd)$/i', '/^(?=a)b(?!c)(?<name>d)$/', '/[(?i:]/', '/\\(\\?i:/'])
    assert.equal(readPattern(source).ok, true, source);
});

test('policy rules are read with every field', () => {
  const read = readPolicy(
    'p.yaml',
    `filesystem:
  write_config:
    pattern: "write_*"
    conditions: [{ path_matches: ["config/*", "etc/*"] }]
    supervision: manual
    risk: high
    safety_checks: [backup, disk_space, permission, sensitive_data]
    restrictions: [{ type: size_limit, max_bytes: 100 }, { type: path_pattern, deny: ["*.env"] }]
    priority: 10
  off: { pattern: x, enabled: false }
commands:
  npm:
    pattern: execute_command
    conditions: [{ command_starts_with: [npm test] }, { command_matches: "npm *" }]
    supervision: automatic
  plain: { pattern: "*" }
`,
  );
  assert.ok(read.ok);
  assert.deepEqual(read.rules[0], {
    name: 'filesystem.write_config',
    pattern: 'write_*',
    conditions: [{ kind: 'path_matches', globs: ['config/*', 'etc/*'] }],
    supervision: 'manual',
    risk: 'high',
    safetyChecks: ['backup', 'disk_space', 'permission', 'sensitive_data'],
    restrictions: [
      { type: 'size_limit', maxBytes: 100 },
      { type: 'path_pattern', allow: [], deny: ['*.env'] },
    ],
    priority: 10,
  });
  assert.deepEqual(read.rules.map((rule) => [rule.name, rule.supervision, rule.priority]).slice(1), [
    ['commands.npm', 'automatic', 0],
    ['commands.plain', 'confirm', 0],
  ]);
});

test('an unknown name in a policy is an error and never dropped', () => {
  const rule = (text: string): string => `a:\n  b: { pattern: x, ${text} }`;
  for (const text of [
    rule('supervison: deny'),
    rule('supervision: maybe'),
    rule('risk: huge'),
    rule('safety_checks: [sandbox]'),
    rule('conditions: [{ url_matches: [x] }]'),
    rule('conditions: { path_matches: [x] }'),
    rule('conditions: [{ path_matches: [] }]'),
    rule('restrictions: [{ type: url_scheme }]'),
    rule('restrictions: [{ type: size_limit }]'),
    rule('restrictions: [{ type: path_pattern, denied: [x] }]'),
    rule('priority: high'),
    rule('enabled: perhaps'),
    'a:\n  b: { supervision: deny }',
    'a: 1',
    '- a',
    'a:\n  b: 1',
    'a: {b: ',
  ]) {
    const read = readPolicy('p.yaml', text);
    assert.equal(read.ok, false, text);
    assert.match(read.ok ? '' : problemText(read.problems[0]!), /^p\.yaml:\d+:\d+: /, text);
  }
});
