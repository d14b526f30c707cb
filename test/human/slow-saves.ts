/**
 * A person saves the ballot slowly, or from an editor that had it open while requests arrived.
 * Nothing is refused that nobody refused, and the person's notes survive.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import type { test as nodeTest } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { scripted, type Place } from '../kit/guild.js';
import { until } from '../kit/until.js';
import type { Seat, TakeSeat } from './seats.js';

const BALLOT = 'tasks/approvals.task.md';
const SCRIPT = `
- {agent: ana, turn: 1, call: [{execute_command: {command: "touch {{task}}"}}]}
- {agent: ana, turn: 2, when: /refused/, say: Refused.}
- {agent: ana, turn: 2, say: Done.}
`;
const FILES = {
  ...scripted(SCRIPT),
  'agents/ana.md': '---\ndescription: Does things\ntools: [execute_command]\nmaxConcurrentTasks: 50\n---\nDo it.\n',
};

const text = (workspace: Place): string =>
  workspace.list('tasks').includes('approvals.task.md') ? workspace.read(BALLOT) : '';
const asked = (workspace: Place): number => text(workspace).split('- [_]').length - 1;

function drop(workspace: Place, from: number, to: number): void {
  for (let n = from; n < to; n++) workspace.put(`tasks/pending/t${n}.json`, `{"description": "do it", "to": "ana"}`);
}

/** The buffer of a person who ticks the first `ticks` entries and writes notes. */
function edited(buffer: string, ticks: number): string {
  let count = 0;
  const marked = buffer.replaceAll(/^- \[_\]/gm, () => (++count <= ticks ? '- [x]' : '- [_]'));
  return marked.replace('\n## TODO', `\n${notes(count).join('\n')}\n\n## TODO`);
}

const notes = (count: number): string[] => Array.from({ length: count }, (_, n) => `My note ${n}: look at this later.`);

async function judge({ desk: workspace, work }: Seat, count: number, ticks: number, noted: number): Promise<void> {
  await until(() => workspace.list('tasks/completed').filter((name) => /^t\d+\.json$/.test(name)).length === ticks);
  await until(() => text(workspace).split('fate: done').length - 1 === ticks && asked(workspace) === count - ticks);
  const events = workspace
    .list('events')
    .map((day) => workspace.read(`events/${day}`))
    .join('');
  assert.doesNotMatch(events, /withdrew|"approved":false/);
  for (const note of notes(noted)) assert.ok(text(workspace).includes(`${note}\n`), note);
  assert.equal(work.list('.').filter((name) => /^t\d+$/.test(name)).length, ticks, 'each ticked command ran');
  assert.match(text(workspace), /\n<!-- end of approvals, version \d+; .*-->\n$/);
}

export function slowSaves(test: typeof nodeTest, take: TakeSeat): void {
  test('R5: an in-place save in pieces of 700 bytes every 20 ms', async (t) => {
    const seat = await take(t, FILES);
    const { desk: workspace, work } = seat;
    drop(workspace, 0, 24);
    const watch = work.spawn('watch');
    await until(() => asked(workspace) === 24);
    const bytes = Buffer.from(edited(text(workspace), 12));
    const fd = fs.openSync(path.join(workspace.root, BALLOT), 'w');
    for (let at = 0; at < bytes.length; at += 700) {
      fs.writeSync(fd, bytes.subarray(at, at + 700));
      await sleep(20); // the pace of the save is the case
    }
    fs.closeSync(fd);
    await judge(seat, 24, 12, 24);
    watch.child.kill('SIGTERM');
    await watch.ended;
    await seat.leave();
  });

  test('R5: an editor that had the file open for 1.2 s while requests arrived', async (t) => {
    const seat = await take(t, FILES);
    const { desk: workspace, work } = seat;
    drop(workspace, 0, 12);
    const watch = work.spawn('watch');
    await until(() => asked(workspace) === 12);
    const buffer = text(workspace);
    for (let n = 12; n < 24; n++) {
      drop(workspace, n, n + 1);
      await sleep(100); // requests arrive while the editor is open
    }
    fs.writeFileSync(path.join(workspace.root, BALLOT), edited(buffer, 6));
    await judge(seat, 24, 6, 12);
    watch.child.kill('SIGTERM');
    await watch.ended;
    await seat.leave();
  });
}
