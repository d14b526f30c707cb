/**
 * Plays the rules alone: no engine, no files, no model. A function answers the leaves; `decide`
 * moves the inner tasks. The state after every step is kept, and the play is continued from each of
 * them: a crash between any two steps must lead to the same tasks and results.
 */
import assert from 'node:assert/strict';
import type { Agent } from '../../src/domain/agent/agent.js';
import { problem } from '../../src/domain/problem.js';
import { isEnded, makeChild, makeTask, type Placed, type Task, type WantedChild } from '../../src/domain/task/task.js';
import { decide } from '../../src/rules/patterns/decide.js';
import type { Children } from '../../src/rules/patterns/gather.js';

const AT = '2026-01-01T00:00:00.000Z';

/** A text, a member's move in a round, a route, the verdict of a goal check, or a failure. */
export type Said =
  | string
  | { advances: boolean; reason: string }
  | { broadcasts?: string[]; votes?: boolean; reason?: string }
  | { route: string; message?: string }
  | { error: string };
export type AnswerOf = (task: Task) => Said;
type World = Map<string, Placed>;

interface Played {
  world: World;
  root: Placed;
  /** The requests to the leaves, in order. */
  asked: Task[];
  task(id: string): Placed;
}

export function agent(name: string, more: Partial<Agent> = {}): Agent {
  return {
    name,
    description: '',
    models: [],
    settings: {},
    tools: [],
    skills: [],
    agents: [],
    capabilities: [],
    expertise: [],
    priority: 'C',
    runsOn: [],
    maxConcurrentTasks: 1,
    advisors: [],
    budget: {},
    approve: {},
    context: 'last',
    session: 'per_task',
    variables: {},
    systemPrompt: 'x',
    format: 'markdown',
    file: `agents/${name}.md`,
    definition: 'd',
    ...more,
  };
}

export const advisors = (...names: string[]) => names.map((name) => ({ agent: name, required: false }));
export const team = (
  members: string[],
  terminationMode: 'consensus' | 'maxRounds' | 'coordinatorDecides' = 'consensus',
  maxRounds = 3,
) => ({ members, terminationMode, maxRounds });

/** The agents; the first gets the task. Agents that are named but not defined are plain. */
export function cast(...given: Agent[]): Map<string, Agent> {
  return new Map(given.map((one) => [one.name, one]));
}

interface PlayOptions {
  depth?: number;
  /** Also continues from every intermediate state. */
  crashes?: boolean;
  description?: string;
}

export function play(agents: Map<string, Agent>, answer: AnswerOf, options: PlayOptions = {}): Played {
  const { depth = 5, crashes = true, description = 'the request' } = options;
  const first = [...agents.values()][0]!;
  const root = makeTask({ id: 'top', description, to: first.name, created_at: AT });
  const worlds: World[] = [];
  const begin: World = new Map([['top', { task: root, state: 'pending' }]]);
  const played = run(begin, agents, answer, depth, worlds);
  if (crashes) {
    const end = shape(played.world);
    for (const world of worlds) assert.deepEqual(shape(run(new Map(world), agents, answer, depth).world), end);
  }
  return played;
}

/** Continues from tasks that exist. */
export function resume(world: World, agents: Map<string, Agent>, answer: AnswerOf): Played {
  return run(world, agents, answer, 5);
}

function run(world: World, agents: Map<string, Agent>, answer: AnswerOf, depth: number, kept?: World[]): Played {
  const asked: Task[] = [];
  const wanted = new Map<string, WantedChild>();
  for (let steps = 0; ; steps++) {
    assert.ok(steps < 5000, 'the play comes to an end');
    kept?.push(new Map(world));
    // Continues with the newest move first: another order must lead to the same end.
    const all = [...world.values()];
    if (kept === undefined) all.reverse();
    const strict = kept !== undefined;
    const moved = all.some((placed) => step(placed, world, agents, answer, depth, asked, strict ? wanted : undefined));
    if (!moved) break;
  }
  const found = (id: string): Placed => {
    const placed = world.get(id);
    assert.ok(placed, `there is no ${id}; there are ${[...world.keys()].join(', ')}`);
    return placed;
  };
  return { world, root: found('top'), asked, task: found };
}

/** One change: one task created, or one ended. False if nothing can move. */
function step(
  { task, state }: Placed,
  world: World,
  agents: Map<string, Agent>,
  answer: AnswerOf,
  depth: number,
  asked: Task[],
  wanted: Map<string, WantedChild> | undefined,
): boolean {
  if (isEnded(state)) return false;
  const who = agents.get(task.to!) ?? agent(task.to!);
  const seen = world as Children;
  const decision = decide(task, who, seen, { depth });
  if (wanted) assert.deepEqual(decide(task, who, seen, { depth }), decision, 'asked again, the rule says the same');
  if (decision.do === 'run') {
    asked.push(task);
    return end(world, task, answer(task));
  }
  if (decision.do === 'resolve') return put(world, { task: { ...task, result: decision.result }, state: 'completed' });
  if (decision.do === 'fail') return put(world, { task: { ...task, error: decision.error }, state: 'failed' });
  const ids = decision.children.map((child) => child.id);
  assert.equal(new Set(ids).size, ids.length, `no id twice: ${ids.join(', ')}`);
  for (const placed of world.values())
    if (placed.task.parent === task.id) assert.ok(ids.includes(placed.task.id), `${placed.task.id} is still wanted`);
  for (const child of wanted ? decision.children : []) {
    assert.deepEqual(child, wanted!.get(child.id) ?? child, `${child.id} is wanted as it was`);
    wanted!.set(child.id, child);
  }
  const missing = decision.children.find((child) => !world.has(child.id));
  if (missing === undefined) return false;
  return put(world, { task: makeChild(task, missing, AT), state: 'pending' });
}

function end(world: World, task: Task, said: Said): boolean {
  if (typeof said === 'object' && 'error' in said)
    return put(world, { task: { ...task, error: problem('model_failed', said.error) }, state: 'failed' });
  return put(world, { task: { ...task, result: resultOf(said) }, state: 'completed' });
}

function resultOf(said: Exclude<Said, { error: string }>): string {
  if (typeof said === 'string') return said;
  if ('route' in said) return JSON.stringify({ route_to: said.route, message: said.message });
  if ('advances' in said) return JSON.stringify(said);
  return JSON.stringify({ broadcasts: [], votes: false, ...said });
}

function put(world: World, placed: Placed): true {
  world.set(placed.task.id, placed);
  return true;
}

/** Crashes must not change the tasks, the requests and the results. */
function shape(world: World): unknown[] {
  return [...world.values()]
    .map(({ task, state }) => [
      task.id,
      task.role,
      task.to,
      task.session,
      task.description,
      state,
      task.result,
      task.error,
    ])
    .sort((a, b) => (String(a[0]) < String(b[0]) ? -1 : 1));
}
