/**
 * Files widen and tighten the built-in verdict, agents only tighten it, and a built-in deny is
 * final.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Policy } from '../../../src/domain/policy.js';
import { judgeLine } from '../../../src/rules/policy/verdict.js';
import { judgeTool } from '../../../src/rules/policy/tools.js';
import { readAllowlist } from '../../../src/text/config/allowlist.js';
import { parseBash } from '../../../src/text/bash/parse.js';
import { readPolicy } from '../../../src/text/config/policy.js';

function policy(allow: string, rules = ''): Policy {
  const list = readAllowlist('a.yaml', allow);
  const read = readPolicy('p.yaml', rules);
  assert.ok(list.ok, JSON.stringify(list));
  assert.ok(read.ok, JSON.stringify(read));
  return { allow: list.entries, rules: read.rules };
}

/** The same rule without a check. */
const RULED =
  't: { lines: { pattern: execute_command, conditions: [{ command_starts_with: [npm test] }], supervision: automatic } }';

function verdict(line: string, given: Policy, approve: Record<string, 'ask' | 'deny'> = {}): string {
  return judgeLine(line, { parse: parseBash, home: '/home/ana', policy: given, agent: { approve } }).verdict;
}

test('the allowlist matches whole words of each command in a line', () => {
  const given = policy('npm test: true\nmake: true\nsort: true\nrm: true\ntouch: true\n');
  for (const line of [
    'npm test',
    'npm test -- x',
    "npm 'test'",
    'make all',
    'ls | sort',
    'npm test && make; ls',
    'touch x 2>/dev/null',
  ]) {
    assert.equal(verdict(line, given), 'auto', line);
  }
  for (const line of [
    'npm tests',
    'npm run test',
    "'npm test'",
    'npm',
    'makefile',
    'ls | unknown',
    'npm test && unknown',
    'npm test & unknown',
    'npm test\nunknown',
    'npm test > out',
    'npm test $x',
    'npm test $(ls)',
    'npm test *.ts',
    'X=1 npm test',
    '(npm test)',
    'bash -c "npm test"',
    './make',
    'touch ../../tasks/approvals.task.md',
    'touch ../../storage/terminal-cmd-allowlist.yaml',
    'touch agents/x.md',
    'touch ../../sessions/x',
    'touch .git/hooks/pre-commit',
    'touch --reference=../../guild.yaml x',
    'make -C ../../plugins',
  ]) {
    assert.equal(verdict(line, given), 'ask', line);
  }
});

test('no file lifts a built-in deny', () => {
  const given = policy(
    'sudo: true\nrm: true\nbash: true\n/.*/s: { approve: true, matchCommandLine: true }\n',
    'a:\n  b: { pattern: "*", supervision: automatic, priority: 1000 }\n  c: { pattern: "*", conditions: [{ command_matches: ["*"] }], supervision: automatic, priority: 1000 }\n',
  );
  for (const line of ['sudo ls', 'rm -rf /', 'curl x | sh', 'ls; reboot', "bash -c 'rm -rf /'", 'rm -rf / "']) {
    assert.equal(verdict(line, given), 'deny', line);
  }
});

test('a false entry asks for what would be auto, and wins over a true one', () => {
  const given = policy(
    'ls: false\ngit log: false\n/secret/: false\ncat: true\n/\\|/: { approve: false, matchCommandLine: true }\n',
  );
  for (const line of ['ls', 'pwd && ls', 'git log -1', 'cat secret.txt', 'cat x | wc'])
    assert.equal(verdict(line, given), 'ask', line);
  for (const line of ['pwd', 'git status', 'cat x']) assert.equal(verdict(line, given), 'auto', line);
  assert.equal(verdict('ls', policy('ls: null')), 'auto');
});

test('a pattern matches one command, or a whole line from end to end', () => {
  const one = policy('/^npm (test|run lint)$/: true\n');
  assert.equal(verdict('npm test', one), 'auto');
  assert.equal(verdict('npm  run   lint', one), 'auto');
  assert.equal(verdict('npm test; npm run lint', one), 'auto');
  assert.equal(verdict('npm test x', one), 'ask');
  assert.equal(verdict("npm 'run lint'", one), 'ask');
  assert.equal(verdict('npm test $x', one), 'ask');
  const whole = policy('/echo \\$HOME/: { approve: true, matchCommandLine: true }\n');
  assert.equal(verdict('echo $HOME', whole), 'auto');
  assert.equal(verdict('echo $HOME; touch x', whole), 'ask');
  const wide = policy('/.*/: { approve: true, matchCommandLine: true }\n');
  assert.equal(verdict('for i in a; do touch $i; done', wide), 'auto');
  assert.equal(verdict('echo x > ../../tasks/approvals.task.md', wide), 'ask');
  assert.equal(verdict('touch "x', wide), 'ask');
  assert.equal(verdict('touch x\u200b', wide), 'ask');
  assert.equal(verdict(`echo ${'x'.repeat(20_000)} > y`, wide), 'ask');
});

test('with an unreadable policy nothing is auto, and denies still apply', () => {
  const closed: Policy = { allow: [], rules: [], closed: 'storage/policy.yaml cannot be read' };
  assert.equal(verdict('ls', closed), 'ask');
  assert.equal(verdict('touch x', closed), 'ask');
  assert.equal(verdict('sudo ls', closed), 'deny');
});

test('the rules with the highest priority apply, and of these the strictest wins', () => {
  const given = policy(
    '',
    `c:
  base: { pattern: execute_command, supervision: confirm, conditions: [{ command_matches: ["git *"] }] }
  log: { pattern: execute_command, supervision: notify, priority: 5, conditions: [{ command_starts_with: ["git log"] }] }
  no: { pattern: execute_command, supervision: deny, priority: 9, conditions: [{ command_starts_with: [terraform] }] }
  npm: { pattern: execute_command, supervision: automatic, priority: 5, conditions: [{ command_starts_with: ["npm test"] }] }
  tie: { pattern: execute_command, supervision: manual, priority: 5, conditions: [{ command_starts_with: ["npm test --all"] }] }
`,
  );
  assert.equal(verdict('git status', given), 'ask');
  assert.equal(verdict('git log -1', given), 'notify');
  assert.equal(verdict('ls; git log -1', given), 'notify');
  assert.equal(verdict('ls', given), 'auto');
  assert.equal(verdict('terraform destroy', given), 'deny');
  assert.equal(verdict('ls && terraform destroy', given), 'deny');
  assert.equal(verdict("'terraform' x", given), 'deny');
  assert.equal(verdict('terraformer', given), 'ask');
  assert.equal(verdict('npm test', given), 'auto');
  assert.equal(verdict('npm test --all', given), 'ask');
  assert.equal(verdict('npm test; rm x', given), 'ask');
  assert.equal(verdict('npm testing', given), 'ask');
});

test('a rule without a condition on commands does not allow any command', () => {
  const given = policy('', 'a:\n  b: { pattern: execute_command, supervision: automatic }\n');
  assert.equal(verdict('touch x', given), 'ask');
  assert.equal(verdict('ls', given), 'auto');
  assert.equal(verdict('ls', policy('', 'a:\n  b: { pattern: "*", supervision: confirm }\n')), 'ask');
});

test('an agent only tightens', () => {
  const given = policy('touch: true');
  assert.equal(verdict('ls', given, { execute_command: 'ask' }), 'ask');
  assert.equal(verdict('touch x', given, { execute_command: 'deny' }), 'deny');
  assert.equal(verdict('sudo ls', given, { execute_command: 'ask' }), 'deny');
});

test('the tools of pattern stages need no approval', () => {
  for (const tool of ['route_to', 'broadcast', 'vote_conclude', 'conclude_team', 'give_verdict'])
    assert.equal(judgeTool({ tool, policy: policy('') }).verdict, 'auto', tool);
});

test('tools that read are auto, tools that change and unknown ones ask, refused paths deny', () => {
  const none = policy('');
  const judge = (tool: string, more: object = {}, given = none): string =>
    judgeTool({ tool, policy: given, ...more }).verdict;
  assert.equal(judge('read_file', { pathVerdict: 'ok' }), 'auto');
  assert.equal(judge('read_file', { pathVerdict: 'ask' }), 'ask');
  assert.equal(judge('read_file', { pathVerdict: 'refuse' }), 'deny');
  assert.equal(judge('write_file', { pathVerdict: 'ok' }), 'auto');
  assert.equal(judge('write_file', { pathVerdict: 'ask' }), 'ask');
  assert.equal(judge('slack_send'), 'ask');
  assert.equal(judge('load_skill'), 'auto');
  const free = policy('', 't: { all: { pattern: "*", supervision: automatic } }');
  assert.deepEqual([judge('slack_send', {}, free), judge('web_fetch', {}, free)], ['auto', 'ask']);
  assert.equal(judge('create_agent'), 'ask');
  assert.equal(judge('edit_session'), 'ask');
  assert.equal(judge('mcp_unknown'), 'ask');
  assert.equal(judge('toString'), 'ask');
  assert.equal(judge('create_task'), 'auto');
  assert.equal(judge('read_file', { agent: { approve: { read_file: 'ask' } } }), 'ask');
  assert.equal(judge('read_file', { agent: { approve: { read_file: 'deny' } } }), 'deny');
  const given = policy(
    '',
    `t:
  env: { pattern: "*_file", conditions: [{ path_matches: ["*.key"] }], supervision: deny, priority: 9 }
  small: { pattern: write_file, supervision: automatic, restrictions: [{ type: size_limit, max_bytes: 10 }], risk: high }
  kept: { pattern: create_directory, supervision: automatic, safety_checks: [backup, permission] }
  gone: { pattern: edit_session, supervision: deny, safety_checks: [backup] }
  lines: { pattern: execute_command, conditions: [{ command_starts_with: [npm test] }], supervision: automatic, safety_checks: [backup] }
  slack: { pattern: slack_send, supervision: notify }
`,
  );
  assert.equal(judge('read_file', { path: 'a/b.KEY' }, given), 'deny');
  assert.equal(judge('write_file', { path: 'x', bytes: 11 }, given), 'deny');
  assert.equal(judge('write_file', { path: 'x', bytes: 5, pathVerdict: 'ok' }, given), 'auto');
  assert.equal(judge('write_file', { path: 'x', bytes: 5, pathVerdict: 'refuse' }, given), 'deny');
  assert.equal(judge('slack_send', {}, given), 'notify');
  const kept = judgeTool({ tool: 'create_directory', policy: given, pathVerdict: 'ok' });
  assert.deepEqual([kept.verdict, kept.safetyChecks], ['ask', ['backup', 'permission']]);
  assert.match(kept.reason, /t\.kept \(a human has to make these checks: backup\)/);
  const made = policy(
    '',
    `t:
  files: { pattern: write_file, supervision: automatic, safety_checks: [disk_space, permission] }
  more: { pattern: "create_*", supervision: automatic, safety_checks: [permission] }
`,
  );
  const write = { tool: 'write_file', policy: made, pathVerdict: 'ok' as const };
  assert.equal(judgeTool({ ...write, check: () => undefined }).verdict, 'auto', 'the program made the checks');
  const full = judgeTool({ ...write, check: (one) => (one === 'disk_space' ? 'the disk is full' : undefined) });
  assert.deepEqual([full.verdict, full.reason], ['deny', 'policy rule t.files: disk_space: the disk is full']);
  assert.equal(judgeTool(write).verdict, 'ask', 'who cannot check asks');
  const wide = judgeTool({ tool: 'create_directory', policy: made, pathVerdict: 'ok', check: () => undefined });
  assert.equal(wide.verdict, 'ask', 'what a pattern may mean besides is not known');
  assert.equal(judge('edit_session', {}, given), 'deny');
  assert.equal(verdict('npm test', given), 'ask');
  assert.equal(verdict('npm test', policy('', RULED)), 'auto', 'it is the check that makes it ask');
});
