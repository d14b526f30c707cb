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
  assert.equal(verdict('find a -exec find / -exec rm -rf {} \\; \\;'), 'deny');
  assert.equal(verdict('find / -exec find {} -exec rm -rf {} \\; \\;'), 'deny');
});
