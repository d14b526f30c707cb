/** Documents agree with the code on defaults and on the spelling of keys. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { DEFAULT_LIMITS } from '../src/domain/config/config.js';
import { ROOT } from './kit/guild.js';

const read = (file: string): string => fs.readFileSync(path.join(ROOT, file), 'utf8');

test('the limits page says what the code does', () => {
  const page = read('docs/explanation/limits.md');
  for (const [row, limit] of [
    [/at once in one process/, DEFAULT_LIMITS.parallel],
    [/a task may lose/, DEFAULT_LIMITS.attempts],
    [/turns of one task/, DEFAULT_LIMITS.turns],
    [/children of one task/, DEFAULT_LIMITS.children],
    [/under one root in a minute/, DEFAULT_LIMITS.tasksPerMinute],
  ] as const) {
    const cells = page
      .split('\n')
      .find((line) => row.test(line))
      ?.split(' | ');
    assert.match(cells?.[1] ?? '', new RegExp(`^${limit}, \\*set\\*`), String(row));
  }
});

test('a team is spelled the same way in every document and example', () => {
  const files = ['docs', 'examples', 'starter', 'starter-swarm'].flatMap((folder) =>
    fs
      .readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.md'))
      .map((file) => path.join(folder, file)),
  );
  assert.deepEqual(
    files.filter((file) => /terminationMode|maxRounds|coordinatorDecides/.test(read(file))),
    [],
  );
  assert.ok(files.filter((file) => /termination_mode/.test(read(file))).length > 2);
});
