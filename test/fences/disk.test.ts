/**
 * When the disk fails, `watch` waits for it, says so once and continues (R11); a command ends with
 * one clear line. Errors of the system are explained in words (R20).
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { clock as realClock } from '../../src/adapters/clock/index.js';
import { disk as realDisk } from '../../src/adapters/disk/index.js';
import { openWorkspace, type Model, type Problem, type Workspace } from '../../src/app/index.js';
import { reopenOnStoreFailure } from '../../src/app/reopen.js';
import { INTERVALS } from '../../src/domain/intervals.js';
import { asProblem } from '../../src/domain/problem.js';
import type { Disk } from '../../src/ports/disk.js';
import { place, scripted, type Place } from '../kit/guild.js';
import { until } from '../kit/until.js';

function errno(code: string, file = '/w/x'): Error {
  return Object.assign(new Error(`${code}: injected`), { code, syscall: 'write', path: file });
}

interface FailingDisk extends Disk {
  /** Every write fails with this code; undefined: the disk works. */
  fault: string | undefined;
  /** The disk fails from the first append to a conversation on. */
  failsAtConversation: boolean;
}

function failingDisk(): FailingDisk {
  const disk = realDisk();
  const failing: FailingDisk = { ...disk, fault: undefined, failsAtConversation: false };
  const guard = (file: string): void => {
    if (failing.fault !== undefined) throw errno(failing.fault, file);
  };
  failing.create = (file, bytes) => (guard(file), disk.create(file, bytes));
  failing.append = (file, bytes) => {
    if (failing.failsAtConversation && file.endsWith('.session.yaml')) failing.fault = 'EACCES';
    guard(file);
    return disk.append(file, bytes);
  };
  failing.preallocate = (file, bytes) => (guard(file), disk.preallocate(file, bytes));
  failing.writeOwn = (file, offset, bytes) => (guard(file), disk.writeOwn(file, offset, bytes));
  failing.createSynced = async (file, bytes) => (guard(file), disk.createSynced(file, bytes));
  failing.sync = async (file) => (guard(file), disk.sync(file));
  failing.syncFolder = async (folder) => (guard(folder), disk.syncFolder(folder));
  return failing;
}

interface Watched {
  home: Place;
  workspace: Workspace;
  disk: FailingDisk;
  problems: Problem[];
  calls: () => number;
  /** How often it waited for the disk. */
  tries: () => number;
  /** Resolves the model call that is under way. */
  answer(): void;
  stop(): Promise<void>;
}

async function watched(t: TestContext): Promise<Watched> {
  const home = place(t, scripted('- {say: unused}'));
  const disk = failingDisk();
  const problems: Problem[] = [];
  const waiting: (() => void)[] = [];
  let calls = 0;
  let tries = 0;
  const model: Model = {
    async call() {
      calls++;
      await new Promise<void>((resolve) => waiting.push(resolve));
      const answer = { text: 'done', toolCalls: [], finish: 'stop' as const };
      return { ok: true, answer: { ...answer, inputTokens: 1, outputTokens: 1, cachedTokens: 0, microUsd: 0 } };
    },
  };
  const clock = realClock();
  const workspace = await openWorkspace(home.root, {
    disk,
    model,
    clock: {
      ...clock,
      sleep(ms, signal) {
        if (ms === INTERVALS.storeRetryMs) tries++;
        return clock.sleep(Math.min(ms, 20), signal);
      },
    },
    watchers: { problem: (problem) => void problems.push(problem) },
  });
  const stop = new AbortController();
  const running = workspace.watch(stop.signal);
  t.after(() => stop.abort());
  return {
    home,
    workspace,
    disk,
    problems,
    calls: () => calls,
    tries: () => tries,
    answer: () => waiting.splice(0).forEach((resolve) => resolve()),
    async stop() {
      stop.abort();
      waiting.splice(0).forEach((resolve) => resolve());
      await running;
      await workspace.close();
    },
  };
}

for (const code of ['ENOSPC', 'EIO', 'EACCES', 'EROFS'])
  test(`R11: watch waits for a disk that fails with ${code}, says so once, and continues`, async (t) => {
    const { home, workspace, disk, problems, calls, tries, answer, stop } = await watched(t);
    home.put('tasks/pending/t.json', '{"description": "T", "to": "boss"}');
    home.put('tasks/pending/u.json', '{"description": "U", "to": "boss"}');
    await until(() => calls() === 2);
    const before = workspace.store.presence.peer.id;
    disk.fault = code;
    answer();
    await until(() => problems.length > 0);
    await until(() => tries() > 5);
    assert.equal(problems.length, 1, JSON.stringify(problems));
    assert.equal(problems[0]!.code, 'disk_failed');
    assert.match(problems[0]!.message, /work stops here until this is resolved/);
    assert.equal(calls(), 2, 'no model is asked while the disk fails');
    disk.fault = undefined;
    await until(() => {
      answer();
      return home.list('tasks/completed').length === 2;
    });
    assert.notEqual(workspace.store.presence.peer.id, before, 'the store was opened again');
    for (const id of ['t', 'u']) {
      const task = JSON.parse(home.read(`tasks/completed/${id}.json`)) as { attempts: number; result: string };
      assert.deepEqual([task.attempts, task.result], [0, 'done'], 'the task is not to blame');
    }
    assert.ok(calls() <= 4, `${calls()} calls`);
    await stop();
    assert.deepEqual(home.list('agents/live'), [], 'nobody is left behind');
  });

test('R11: a disk that fails at a conversation is reported as the disk, not as that file', async (t) => {
  const { home, disk, problems, calls, answer, stop } = await watched(t);
  home.put('tasks/pending/t.json', '{"description": "T", "to": "boss"}');
  await until(() => calls() === 1 && home.list('sessions').length === 1);
  disk.failsAtConversation = true;
  answer();
  await until(() => problems.length > 0);
  assert.deepEqual(
    problems.map(({ code }) => code),
    ['disk_failed'],
  );
  disk.failsAtConversation = false;
  disk.fault = undefined;
  await until(() => {
    answer();
    return home.list('tasks/completed').length === 1;
  });
  await stop();
});

test('R11: a store that keeps failing is tried less and less often, and other errors end it', async () => {
  const slept: number[] = [];
  const reports: string[] = [];
  let works = 0;
  const run = reopenOnStoreFailure({
    clock: { monotonicMs: () => 0, sleep: async (ms) => void slept.push(ms) },
    signal: new AbortController().signal,
    async work() {
      if (++works > 4) throw new TypeError('a bug');
      throw errno('EIO');
    },
    probe: async () => undefined,
    reopen: async () => undefined,
    report: ({ message }) => void reports.push(message),
  });
  await assert.rejects(run, /a bug/);
  assert.deepEqual(slept, [2000, 4000, 8000, 16_000]);
  assert.equal(reports.length, 1);
});

test('R11: a command ends with one clear line', async (t) => {
  const home = place(t, scripted('- {say: done}', { 'tasks/pending/t.json': '{"description": "T", "to": "boss"}' }));
  fs.appendFileSync(path.join(home.root, 'guild.yaml'), 'git: false\n');
  home.put('tasks/active', 'a file where a folder should be');
  const { code, err } = await home.guild('pump');
  assert.equal(code, 1);
  assert.match(err, /tasks\/active: /);
  assert.ok(!err.includes('a bug in guild'), err);
});

for (const [code, words] of [
  ['EXDEV', /on another device/],
  ['ENOENT', /moved or deleted/],
  ['EMFILE', /too many open files/],
  ['ENFILE', /too many open files/],
  ['EDQUOT', /quota/],
  ['ENAMETOOLONG', /name is too long/],
] as const)
  test(`R20: ${code} is explained in words, with a next step`, () => {
    const problem = asProblem(errno(code));
    assert.equal(problem.code, 'disk_failed');
    assert.match(problem.message, words);
    assert.ok(problem.hint);
  });

test('R20: a workspace that is moved away under a watch is waited for', async (t) => {
  const { home, problems, calls, tries, answer, stop } = await watched(t);
  home.put('tasks/pending/t.json', '{"description": "T", "to": "boss"}');
  await until(() => calls() === 1);
  const away = `${home.root}-away`;
  fs.renameSync(home.root, away);
  answer();
  await until(() => problems.length > 0);
  await until(() => tries() > 5);
  assert.deepEqual([...new Set(problems.map(({ code }) => code))], ['disk_failed'], JSON.stringify(problems));
  fs.rmSync(home.root, { recursive: true, force: true });
  fs.renameSync(away, home.root);
  await until(() => {
    answer();
    return home.list('tasks/completed').length === 1;
  });
  await stop();
});
