/** History is written behind the work: complete, and a failed commit does not stop anything. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clock } from '../../../src/adapters/clock/index.js';
import type { Event } from '../../../src/domain/event.js';
import { problem, ProblemError, type Problem } from '../../../src/domain/problem.js';
import { audit } from '../../../src/engine/pass/audit.js';
import { commitMessage } from '../../../src/views/commit-message.js';

const event = (name: Event['name'], task: string, more: Partial<Event> = {}): Event => ({
  at: '2026-01-31T09:00:00.000Z',
  name,
  task,
  agent: 'planner',
  ...more,
});

test('events during a commit go into the next one, and close waits for the last commit', async () => {
  const written: string[] = [];
  let release = (): void => undefined;
  const history = {
    async commit(subject: string) {
      await new Promise<void>((resolve) => (release = resolve));
      written.push(subject);
      return true;
    },
    hurry: () => undefined,
    close: async () => void written.push('closed'),
  };
  const trail = audit(history, clock(), (problem) => assert.fail(problem.message), 0);
  trail.passed(); // no events, so nothing to commit
  trail.note(event('task.completed', 'one'));
  trail.passed();
  for (const id of ['two', 'three']) {
    trail.note(event('task.completed', id));
    trail.passed();
  }
  assert.deepEqual(written, [], 'no call waited for a commit');
  const closed = trail.close();
  for (let i = 0; i < 50 && written.at(-1) !== 'closed'; i++) {
    release();
    await new Promise((resolve) => setImmediate(resolve));
  }
  await closed;
  assert.deepEqual(written, [
    'one: planner answered',
    '2 tasks: two (planner answered), three (planner answered)',
    'closed',
  ]);
});

test('a failing history is reported once, and the next commit has the missed events', async () => {
  const bodies: string[] = [];
  let broken = true;
  const history = {
    async commit(_: string, body: string) {
      if (broken) throw new ProblemError(problem('needs_human', 'a merge is under way'));
      bodies.push(body);
      return true;
    },
    hurry: () => undefined,
    close: async () => undefined,
  };
  const reported: Problem[] = [];
  const trail = audit(history, clock(), (problem) => reported.push(problem), 0);
  for (const id of ['one', 'two', 'three']) {
    if (id === 'three') broken = false;
    trail.note(event('task.completed', id));
    trail.passed();
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await trail.close();
  assert.deepEqual(
    reported.map(({ message }) => message),
    ['a merge is under way'],
  );
  assert.deepEqual(bodies, ['one @planner task.completed\ntwo @planner task.completed\nthree @planner task.completed']);
});

test('a commit message names task, agent and cause, is bounded, and has no control characters', () => {
  const one = commitMessage([
    event('task.claimed', 't'),
    event('model.answered', 't', { turn: 2, input_tokens: 10, output_tokens: 3 }),
    event('tool.ran', 't', { tool: 'read_file', cause: 'c1', ok: true }),
    event('task.created', 't.call-1', { agent: 'retriever', cause: 't' }),
    event('task.parked', 't', { waits: { tasks: ['t.call-1'] } }),
  ]);
  assert.equal(one.subject, 't: planner waits; 2 tasks moved');
  assert.deepEqual(one.body.split('\n'), [
    't @planner model.answered turn 2, 10+3 tokens',
    't @planner tool.ran read_file, because of c1',
    't.call-1 @retriever task.created, because of t',
    't @planner task.parked for t.call-1',
  ]);
  const hostile = commitMessage([event('tool.ran', 't', { tool: 'x\nSigned-off-by: you\u0000\u001b[2J' })]);
  assert.doesNotMatch(hostile.subject + hostile.body, /[\u0000-\u001f]/);
  const many = commitMessage(Array.from({ length: 5000 }, (_, i) => event('task.completed', `task-${i}`)));
  assert.ok(many.subject.length <= 100);
  assert.ok(many.body.length < 60 * 200 + 5000);
  assert.match(many.body, /and 4940 more\ntasks: task-0 /);
});

test('tasks with similar ids are counted separately', () => {
  const { subject } = commitMessage([
    event('task.completed', 'release'),
    event('task.claimed', 'release.notes', { root: 'release.notes' }),
    event('task.completed', 'release.notes'),
    event('task.completed', 'release.notes.work'),
  ]);
  assert.equal(subject, '2 tasks: release (planner answered), release.notes (planner answered)');
});

test('a task that no agent has yet waits for one', () => {
  const { subject } = commitMessage([event('task.parked', 'design', { agent: 'nobody' })]);
  assert.equal(subject, 'design: waits for an agent');
});
