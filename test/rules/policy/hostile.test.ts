/** Hostile lines: judged in linear time, and no length hides a forbidden command. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEFAULT_POLICY } from '../../../src/domain/policy.js';
import { judgeLine } from '../../../src/rules/policy/verdict.js';
import { parseBash } from '../../../src/text/bash/parse.js';

const HERE = { policy: DEFAULT_POLICY, parse: parseBash, home: '/home/ana', cwd: '/srv/ws/workspaces/dev' };

function verdict(line: string): string {
  return judgeLine(line, HERE).verdict;
}

test('a hostile line of 10 kB gets its verdict in a few milliseconds', () => {
  const units = [
    ...['`', '` ', '`ls` ', 'a`b`', '$`', '"`', "`'", '`\\`', '$[`', '$[,', 'sh[[]\n', '$(}', "'|", '-;'],
    ...['find . -exec ', 'env find . -exec ', 'find . -exec rm {} \\; ', 'env - ', '/env ', 'timeout 1 '],
    ...['watch ', 'ssh h ', 'doas ', 'env -S "a" ', 'env -S "', 'flock x -c "a" ', 'timeout --a 5 '],
    ...['docker exec ', 'docker exec rm -r x ', 'watch "a;b" ', 'ssh h "a b" ', 'eval "a;b" '],
  ];
  for (const unit of units) {
    const line = unit.repeat(Math.ceil(10_000 / unit.length)).slice(0, 10_000);
    assert.notEqual(verdict(line), 'auto', unit);
    // The best of several rounds: the first ones also compile the code. The promise is 5 ms on a
    // quiet machine; a line that takes more than linear time needs far more than the limit here.
    const rounds = Array.from({ length: 25 }, () => {
      const start = process.cpuUsage();
      verdict(line);
      const { user, system } = process.cpuUsage(start);
      return (user + system) / 1000;
    });
    assert.ok(Math.min(...rounds) < 15, `${JSON.stringify(unit)}: ${Math.min(...rounds)} ms`);
  }
});

test('a hostile line is parsed only a few times, however its scripts are nested', () => {
  for (const unit of [
    'watch ',
    'ssh h ',
    'env -S "a" ',
    'env -S "',
    'flock x -c "a;" ',
    'watch "a;b" ',
    'eval "a;b" ',
  ]) {
    const line = unit.repeat(Math.ceil(10_000 / unit.length)).slice(0, 10_000);
    let parsed = 0;
    const parse = (text: string): ReturnType<typeof parseBash> => {
      parsed += text.length;
      return parseBash(text);
    };
    assert.notEqual(judgeLine(line, { ...HERE, parse }).verdict, 'auto');
    assert.ok(parsed <= 6 * line.length, `${JSON.stringify(unit)}: ${parsed} characters`);
  }
});

test('a script that reads itself is examined once', () => {
  assert.equal(verdict('bash <<E\nsource venv/bin/activate\nmake\nE\n'), 'ask');
  assert.equal(verdict('echo "source /dev/stdin; sudo ls" | sh'), 'deny');
});

test('a forbidden command is found behind any number of harmless ones', () => {
  for (const [unit, count] of [
    ['`ls` ', 300],
    ['$(ls) ', 300],
    ['a[0]=1 ', 100],
  ] as const)
    assert.equal(verdict(`echo ${unit.repeat(count)}; rm -rf /`), 'deny', unit);
  assert.equal(verdict(`find . ${'-exec echo a \\; '.repeat(100)} -exec rm -rf / \\;`), 'deny');
  assert.equal(verdict(`${'find . -exec '.repeat(100)} rm -rf /`), 'deny');
  assert.equal(verdict(`${'find . -exec env -i '.repeat(100)} rm -rf /`), 'deny');
  assert.equal(verdict(`${'nice -n 5 '.repeat(5000)} rm -rf /`), 'deny');
  assert.equal(verdict(`${'watch '.repeat(100)} rm -rf /`), 'deny');
  assert.equal(verdict(`${'ssh h '.repeat(100)} sudo ls`), 'deny');
  assert.equal(verdict(`${'env -S "a;b" '.repeat(100)} rm -rf /`), 'deny');
  assert.equal(verdict('eval coproc rm -rf /'), 'deny');
  assert.equal(verdict('find a -exec find / -exec rm -rf {} \\; \\;'), 'deny');
  assert.equal(verdict('find / -exec find {} -exec rm -rf {} \\; \\;'), 'deny');
});
