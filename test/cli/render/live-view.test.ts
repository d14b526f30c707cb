/** The tree that `guild watch` draws, event by event. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { liveView } from '../../../src/cli/render/live-view.js';
import type { Terminal } from '../../../src/cli/render/terminal.js';
import type { Event } from '../../../src/domain/event.js';

/** The last frame after these events, and the lines that scrolled away above it. */
function after(events: (Pick<Event, 'name'> & Partial<Event>)[]): { frame: string[]; printed: string[] } {
  const shown = { frame: [] as string[], printed: [] as string[] };
  const plain = (text: string): string => text;
  const terminal = {
    width: 80,
    height: 40,
    draw: (_up: number, lines: string[]) => void (shown.frame = lines.map((line) => line.trimEnd())),
    dock: (lines: string[]) => void (lines.length > 0 && (shown.frame = lines.map((line) => line.trimEnd()))),
    say: (line: string) => void shown.printed.push(line),
    bold: plain,
    dim: plain,
    colour: (_name: string, text: string) => text,
  } as unknown as Terminal;
  const view = liveView(terminal);
  for (const event of events) view.event?.({ at: '2026-05-04T10:00:00.000Z', ...event });
  view.footer([]); // draws at once
  view.close();
  return shown;
}

const created = (task: string, agent = 'boss'): { name: 'task.created'; task: string; agent: string } => ({
  name: 'task.created',
  task,
  agent,
});

test('a cancelled task leaves nothing behind', () => {
  const { frame, printed } = after([
    created('a'),
    { name: 'task.claimed', task: 'a', agent: 'boss' },
    { name: 'task.failed', task: 'a', agent: 'boss', error: { message: 'cancelled' } },
    { name: 'intent.taken', task: 'a', kind: 'cancel' },
    { name: 'intent.refused', task: 'cancelled-before-this-started' },
    { name: 'tool.ran', task: 'a', tool: 'read_file' },
  ]);
  assert.deepEqual(frame, []);
  assert.deepEqual(printed, ['✗ boss 0 s · a: cancelled']);
});

test('a child that ends after its root is not shown', () => {
  const { frame } = after([
    created('a'),
    created('a.call-1', 'hand'),
    { name: 'task.failed', task: 'a', agent: 'boss' },
    { name: 'task.failed', task: 'a.call-1', agent: 'hand' },
  ]);
  assert.deepEqual(frame, []);
});

test('tasks are ordered by creation, not by name', () => {
  const { frame } = after(['many-1', 'many-2', 'many-10', 'a-late-one'].map((id) => created(id)));
  assert.deepEqual(
    frame.map((line) => line.split(' ')[2]),
    ['many-1', 'many-2', 'many-10', 'a-late-one'],
  );
});

test('a question whose asker is not shown is a line of its own and says that it waits for you', () => {
  const { frame } = after([created('t1.call-1', 'human'), created('t2', 'boss'), created('t2.call-2', 'human')]);
  assert.match(frame[0]!, /^○ human call-1 · waits for you/);
  assert.match(frame[1]!, /^○ boss t2/);
  assert.match(frame[2]!, /^ {2}○ human call-2 · waits for you/);
});
