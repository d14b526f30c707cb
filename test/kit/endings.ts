/** Checks the ends of stories from the files alone. Returns the problems, one line each. */
import path from 'node:path';
import { isMove, type AgentState } from '../../src/domain/agent/agent-state.js';
import type { Note } from '../../src/domain/coordination/note.js';
import type { Disk } from '../../src/ports/disk.js';
import { ROOT } from './cluster.js';
import type { SimDisk } from './sim-disk.js';

export const BOARD = `# Plan <!-- mine -->

## TODO

- [ ] A @ana #docs "Ship it"
  id: ship
  note: kept

  - [ ] @ana "Write the guide"
    description: |
      With examples.
      - [ ] this is text
  - [ ] @ben "Find the runtime"
- [ ] @ben "Look at the whole"
  id: review
  depends_on: ship
- [ ] @human call Sarah

Prose stays.
`;

export function textOf(disk: Disk, file: string): string {
  const read = disk.read(path.join(ROOT, file));
  return read.kind === 'file' ? read.bytes.toString('utf8') : '';
}

/** Every box of a task is ticked, every task appears once, and all other text is unchanged. */
export function boardEnd(disk: SimDisk): string[] {
  const text = textOf(disk, 'tasks/plan.task.md');
  const wrong: string[] = [];
  const ticks = text.match(/^ *- \[x\]/gm)?.length ?? 0;
  if (ticks !== 4) wrong.push(`${ticks} boxes are ticked`);
  if (text.match(/^ *id: /gm)?.length !== 4) wrong.push('not every task has its id once');
  const others = text.replace(/\n *(id: board-|completed_at: )[^\n]*/g, '').replaceAll('[x]', '[ ]');
  if (others !== BOARD) wrong.push(`the board reads ${JSON.stringify(text)}`);
  return wrong;
}

/** The published states of each agent are legal transitions that end in the agent's final state. */
export function historyEnd(disk: SimDisk): string[] {
  const wrong: string[] = [];
  const state = new Map<string, AgentState>();
  const seen = new Set<string>();
  for (const line of textOf(disk, 'bus/state.jsonl').split('\n')) {
    const note = noteIn(line);
    if (note?.body.type !== 'state_change' || seen.has(note.id)) continue;
    seen.add(note.id);
    const { agent: who, fromState, toState } = note.body;
    const before = state.get(who) ?? fromState;
    if (before !== fromState || !isMove(fromState, toState))
      wrong.push(`${who} was ${before} and moved from ${fromState} to ${toState}`);
    state.set(who, toState);
  }
  // An agent without a published state before the crash is unknown: ended tasks are not searched.
  for (const [who, at] of state) if (at !== 'complete') wrong.push(`${who} is ${at} at the end`);
  return wrong;
}

/** Each need is provided by exactly one task. */
export function onceAwarded(disk: SimDisk): string[] {
  const awards = new Map<string, Set<string>>();
  for (const line of textOf(disk, 'bus/dependency.jsonl').split('\n')) {
    const body = noteIn(line)?.body;
    if (body?.type === 'dependency_award')
      awards.set(body.dependency, (awards.get(body.dependency) ?? new Set()).add(body.provider));
  }
  return [...awards].flatMap(([id, to]) => (to.size > 1 ? [`${id} was given to ${[...to].join(' and ')}`] : []));
}

/** A line that a crash or a power cut tore does not count. */
function noteIn(line: string): Note | undefined {
  try {
    return JSON.parse(line) as Note;
  } catch {
    return undefined;
  }
}
