/** `guild why`: the chain of reasons a task is where it is, who asked for it, and the steps that brought it there. */
import { holdUps, type HoldUps } from '../app/hold-ups.js';
import { openReader } from '../app/open-reader.js';
import { pausedAgents } from '../app/pause-agent.js';
import { approvalOf } from '../domain/approval.js';
import { ProblemError, problemText } from '../domain/problem.js';
import { HUMAN, isEnded, type Placed } from '../domain/task.js';
import { EXIT, type Command } from './command.js';
import { idOf, unknownTask } from './task-id.js';
import { oneLine, printable } from './terminal.js';
import { costOf, originOf, storyOf } from './why-story.js';

export const command: Command = {
  help: `guild why <task>

Tells why a task is where it is: for what it waits, down to the last one in the chain, you included; who asked for it, from the first message
on; and what happened: turns, tools, what others were asked, approvals, and what it cost. --json has every event too.`,
  most: 1,
  async run({ words, root, terminal, json }) {
    const id = idOf({ words }, 'why');
    const store = openReader(root);
    await store.scan(true);
    const found = await store.read(id);
    if (found === undefined) throw new ProblemError(unknownTask(id));
    const chain = await waitChain(store, found, pausedAgents(root), holdUps(root, store));
    for (const event of store.events({ task: id }).filter((one) => one.name === 'work.stuck'))
      chain.push(printable(`stuck: ${String(event['why'])}`));
    const origin = (await originOf(store, found)).map(printable);
    const story = storyOf(store, found);
    const cost = costOf(found);
    if (json) {
      const events = store.events({ task: id });
      terminal.json({ id, state: found.state, chain, origin, story, ...(cost ? { cost } : {}), events });
      return EXIT.done;
    }
    for (const [i, line] of chain.entries()) terminal.out(`${'  '.repeat(i)}${i > 0 ? '→ ' : ''}${line}`);
    if (found.task.error) terminal.out(`\n${problemText(found.task.error)}`);
    terminal.out('');
    for (const [i, line] of origin.entries())
      terminal.out(`${'  '.repeat(i)}${i > 0 ? '→ ' : ''}${oneLine(line, terminal.width - 2 * i - 2)}`);
    terminal.out('');
    for (const { at, text } of story) {
      const indent = text.length - text.trimStart().length;
      const line = ' '.repeat(indent) + oneLine(text, terminal.width - 13 - indent);
      terminal.out(`${terminal.dim(at.slice(11, 23))} ${line}`);
    }
    if (cost !== undefined) terminal.out(`\ncost, with everything under it: ${cost}`);
    return EXIT.done;
  },
};

type Store = ReturnType<typeof openReader>;

/** From this task to whoever holds everything up. */
async function waitChain(
  store: Store,
  start: Placed,
  paused: ReadonlyMap<string, string>,
  held: HoldUps,
): Promise<string[]> {
  const lines: string[] = [];
  const seen = new Set<string>();
  let at: Placed | undefined = start;
  while (at !== undefined && !seen.has(at.task.id) && lines.length < 50) {
    seen.add(at.task.id);
    const { next, line } = await reason(store, at, held);
    lines.push(printable((next === undefined && pausedLine(at, paused)) || line));
    at = next;
  }
  if (at !== undefined && seen.has(at.task.id))
    lines.push(printable(`${at.task.id}, and so on: they wait in a circle, which the next pass breaks`));
  return lines;
}

function pausedLine({ task, state }: Placed, paused: ReadonlyMap<string, string>): string | undefined {
  const why = state === 'pending' || state === 'waiting' ? paused.get(task.to ?? '') : undefined;
  if (why === undefined) return undefined;
  return `${task.id} waits: ${task.to} is paused${why && ` (${why})`}; guild agent resume ${task.to} lets it go on`;
}

async function reason(
  store: Store,
  { task, state, owner }: Placed,
  held: HoldUps,
): Promise<{ line: string; next?: Placed }> {
  const name = `${task.id} (@${task.to ?? 'nobody yet'})`;
  if (state === 'completed') return { line: `${name} is completed` };
  if (state === 'failed') return { line: `${name} failed: ${task.error?.message ?? 'without saying why'}` };
  if (state === 'active') {
    const alive = store.peers().some((peer) => peer.id === owner?.peer);
    const vote = alive && task.parent === undefined ? held.vote(task) : undefined;
    if (vote !== undefined) return { line: `${name}: ${vote}` };
    return {
      line: alive
        ? `${name} is being worked on by process ${owner?.peer}`
        : `${name} lost its process; the next pump takes it up`,
    };
  }
  if (task.to === HUMAN) {
    const how = approvalOf(task) === undefined ? '' : `: guild approve ${task.id}, or guild reject ${task.id}`;
    return { line: `${name} waits for you${how}` };
  }
  const first = async (ids: string[]): Promise<{ placed?: Placed; missing?: string }> => {
    for (const id of ids) {
      const placed = await store.read(id);
      if (placed === undefined) return { missing: id };
      if (!isEnded(placed.state)) return { placed };
    }
    return {};
  };
  const ids = state === 'pending' ? task.dependencies : (task.waits?.tasks ?? []);
  const { placed, missing } = await first(ids);
  if (missing !== undefined) return { line: `${name} waits for ${missing}, which does not exist` };
  if (placed !== undefined)
    return { line: `${name} waits for ${ids.length > 1 ? `${ids.length} tasks, first` : 'a task'}:`, next: placed };
  if (task.waits?.until !== undefined && state === 'waiting')
    return { line: `${name} ${WAITS[task.role] ?? 'is left alone'} until ${task.waits.until}` };
  const turn = held.turn(task);
  const holder = turn && (await store.read(turn.holder));
  if (turn !== undefined && holder !== undefined)
    return { line: `${name} waits for ${turn.of}, which another task has until it ends:`, next: holder };
  const full = held.full(task);
  if (full !== undefined) return { line: `${name} waits for room: ${full}` };
  return { line: `${name} is ready; guild pump or guild watch takes it up` };
}

/** What those wait for who wait for nobody in particular. */
const WAITS: Record<string, string> = {
  dependency: 'waits for offers',
  help: 'waits for somebody who is free to help',
};
