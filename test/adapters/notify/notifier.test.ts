/** Which ends of tasks are worth a notice. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { notifier } from '../../../src/adapters/notify/notifier.js';
import type { NoticeMessage, NotifyRules } from '../../../src/domain/config/notify.js';
import { makeTask, type Placed } from '../../../src/domain/task/task.js';

const AT = '2026-01-15T09:00:00.000Z';
const SOON = '2026-01-15T09:00:00.100Z';
const LATER = '2026-01-15T09:05:00.000Z';
const RULES: NotifyRules = { on: ['waits', 'failed', 'ended'], gatherMs: 10_000, bell: false, desktop: false };

function placed(id: string, endedAt: string, context: Record<string, unknown> = {}): Placed {
  const task = makeTask({ id, description: id, to: 'ana', context, created_at: AT });
  return { task: { ...task, ended_at: endedAt }, state: 'failed' };
}

test('a failure is reported if the person cannot have seen it: after a while, or of a schedule', async () => {
  const all = [
    placed('at-once', SOON),
    placed('after-a-while', LATER),
    placed('of-a-schedule', SOON, { scheduled: { by: 'daily', at: AT } }),
  ];
  const sent: NoticeMessage[] = [];
  const notices = notifier({
    rules: () => RULES,
    workspace: 'office',
    store: {
      tasks: { read: (id: string) => Promise.resolve(all.find(({ task }) => task.id === id)) },
      presence: { peers: () => Promise.resolve([]), peer: { id: 'p1' } },
    } as never,
    announce: ({ description }) => ({ title: description }),
    notices: () => ({ claim: () => true, sent: () => undefined }) as never,
    ring: () => undefined,
    send: (message) => Promise.resolve((sent.push(message), [])),
    report: (problem) => assert.fail(problem.message),
  });
  for (const { task } of all) notices.event({ at: SOON, name: 'task.failed', task: task.id });
  await notices.close();
  assert.deepEqual(
    sent.map(({ text }) => text),
    ['ana failed: after-a-while\nana failed: of-a-schedule'],
  );
});
