/** The how-to about an agent that keeps watch, followed word for word on a clock of the test. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { test } from 'node:test';
import { systemStatus } from '../../src/tools/machine/system-status.js';
import type { ToolContext } from '../../src/tools/core/tool.js';
import { cluster, ROOT, untilQuiet } from '../kit/cluster.js';
import { simDisk } from '../kit/sim-disk.js';

const PAGE = fs.readFileSync(new URL('../../../docs/how-to/let-an-agent-keep-watch.md', import.meta.url), 'utf8');
const block = (language: string): string => new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``).exec(PAGE)![1]!;

const SCRIPT = `
- {agent: watcher, turn: 1, call: [{system_status: {}}]}
- {agent: watcher, turn: 2, when: "Disk of the workspace: ", call: [{broadcast: {channel: ops, priority: high, message: The disk is nearly full}}]}
- {agent: watcher, turn: 3, call: [{final_report: {report: I spoke up.}}]}
`;

test('the agent looks when it is due, reads the figures and speaks up on its channel', async () => {
  const disk = simDisk();
  for (const folder of ['agents', 'tasks/pending']) disk.makeFolder(`${ROOT}/${folder}`);
  disk.save(`${ROOT}/guild.yaml`, block('yaml'));
  disk.save(`${ROOT}/agents/watcher.md`, block('markdown').replace(/^<!--.*-->\n/, ''));
  for (const reader of ['planner', 'executor'])
    disk.save(`${ROOT}/agents/${reader}.md`, '---\ndescription: Works\n---\nWork.\n');
  const problems: unknown[] = [];
  const proc = cluster(SCRIPT).start(disk, { watchers: { problem: (problem) => void problems.push(problem) } });
  await untilQuiet(proc);
  assert.deepEqual(disk.list(`${ROOT}/tasks/completed`), [], 'nothing is due yet');
  await proc.ports.clock.sleep(15 * 60_000);
  await untilQuiet(proc);
  assert.deepEqual(disk.list(`${ROOT}/tasks/completed`), ['schedule-keep-watch-20260101T0015Z.json']);
  assert.deepEqual(problems, []);
  const notes = proc.ports.bus.read('ops').map(({ from, priority, body }) => ({ from, priority, ...body }));
  assert.deepEqual(notes, [{ from: 'watcher', priority: 'high', type: 'said', text: 'The disk is nearly full' }]);
});

test('the tool reports the machine and the open work, and leaves out what is unknown', async () => {
  const context = {
    machine: {
      look: () => ({
        system: 'Linux',
        processors: 4,
        upMs: 50 * 3_600_000,
        memory: { freeBytes: 1.5e9, totalBytes: 8e9 },
        process: { memoryBytes: 9e7, upMs: 61 * 60_000 },
      }),
    },
    openWork: () => ({
      pending: 1,
      active: 2,
      waiting: 3,
      requests: 4,
      oldest: { task: 't1', created: '2026-01-01T00:00:00.000Z' },
    }),
  } as Partial<ToolContext> as ToolContext;
  assert.deepEqual(await systemStatus.run({}, context), {
    kind: 'text',
    text: [
      'Machine: Linux, 4 processors, up 2 d 2 h',
      'Memory: 1.50 GB of 8.00 GB free (19 %)',
      'Disk of the workspace: unknown',
      'This process: 0.09 GB of memory, up 1 h 1 min',
      'Open tasks: 1 pending, 2 active, 3 waiting; the oldest is t1, created 2026-01-01T00:00:00.000Z',
      'Requests that wait for a person: 4',
    ].join('\n'),
  });
});
