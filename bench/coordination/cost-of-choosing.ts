/**
 * The cost of choosing an agent for each of 100 tasks among 20 agents, in model calls and prompt
 * tokens. The baseline is a scheme in which every idle agent weighs every pending task at every
 * poll with up to three calls (reflect, able, fit) and claims the first task that it fits. Only the
 * calls that choose are counted.
 */
import { openWorkspace } from '../../src/app/open-workspace.js';
import type { Model, ModelRequest } from '../../src/ports/model.js';
import { figure, type Bench, type Row } from '../harness/rows.js';
import { writeFile } from '../harness/workspace.js';

const AGENTS = 20;
const TASKS = 100;
/**
 * Polls (one per second) that a claimed task takes. Real work takes longer, which would favour us.
 */
const WORK_POLLS = 10;

interface ScriptedAgent {
  name: string;
  capabilities: string[];
  threshold: number;
}

interface ScriptedTask {
  id: string;
  description: string;
  requirements: string[];
  /** The task's field; only the agent of the same number is fit for it. */
  field: number;
}

/** Each agent has its own skill and one of five kinds; four agents share a kind. */
const agents: ScriptedAgent[] = Array.from({ length: AGENTS }, (_, i) => ({
  name: `agent-${i}`,
  capabilities: [`skill_${i}`, `kind_${i % 5}`],
  threshold: i === AGENTS - 1 ? 8 : 6,
}));

export const costOfChoosing: Bench = {
  name: 'bids',
  async run(testbed) {
    const rows: Row[] = [];
    for (const [mix, tasks, isPromised] of [
      ['as they come', tasksOf((i) => (i % 10 === 0 ? 'none' : i % 10 < 4 ? 'kind' : 'skill')), true],
      // The worst case for us: every agent qualifies for every task.
      ['no task states requirements', tasksOf(() => 'none'), false],
    ] as const) {
      const ours = await offer(testbed.folder('bids'), tasks);
      const polled = poll(tasks);
      const calls = `bids, ${mix}: model calls to choose`;
      rows.push(
        isPromised ? atMostOneTwentieth(calls, ours.calls, polled.calls) : figure(calls, ours.calls, '', polled.calls),
        figure(`bids, ${mix}: prompt tokens to choose`, ours.tokens, '', polled.tokens),
      );
    }
    return rows;
  },
};

function atMostOneTwentieth(name: string, ours: number, raw: number): Row {
  return {
    name,
    ours,
    raw,
    unit: '',
    compared: `1/${Math.round(raw / Math.max(1, ours))}`,
    target: '≤ 1/20',
    met: ours * 20 <= raw,
  };
}

/** Fields are drawn with a fixed seed, so every run has the same tasks. */
function tasksOf(requires: (i: number) => 'none' | 'kind' | 'skill'): ScriptedTask[] {
  let seed = 7;
  const random = (): number => (seed = (seed * 16807) % 2147483647) / 2147483647;
  return Array.from({ length: TASKS }, (_, i) => {
    const field = Math.floor(random() * AGENTS);
    const kind = requires(i);
    const requirements = kind === 'none' ? [] : [kind === 'skill' ? `skill_${field}` : `kind_${field % 5}`];
    return {
      id: `t-${String(i).padStart(3, '0')}`,
      description: `Work number ${i} of field ${field}`,
      requirements,
      field,
    };
  });
}

const isAble = (agent: ScriptedAgent, task: ScriptedTask): boolean =>
  task.requirements.every((need) => agent.capabilities.includes(need));
/** 9 for the agent of the task's field, 5 for agents of the same kind, 2 for all others. */
const fitness = (agent: number, { field }: ScriptedTask): number =>
  agent === field ? 9 : agent % 5 === field % 5 ? 5 : 2;

interface Cost {
  calls: number;
  tokens: number;
}

/** Our scheme: the engine offers each task to the qualified agents, and each of them bids once. */
async function offer(root: string, tasks: readonly ScriptedTask[]): Promise<Cost> {
  const cost: Cost = { calls: 0, tokens: 0 };
  writeFile(root, 'guild.yaml', 'model: bench/x\ngit: false\nproviders:\n  bench: { kind: scripted }\n');
  for (const { name, capabilities, threshold } of agents)
    writeFile(
      root,
      `agents/${name}.md`,
      `---\ndescription: Knows its field\ncapabilities: [${capabilities.join(', ')}]\nthreshold: ${threshold}\n---\nDo it.\n`,
    );
  for (const { id, description, requirements } of tasks)
    writeFile(root, `tasks/pending/${id}.json`, JSON.stringify({ description, requirements }));
  const byId = new Map(tasks.map((task) => [task.id, task]));
  const answer = {
    text: 'done',
    toolCalls: [],
    finish: 'stop' as const,
    inputTokens: 1,
    outputTokens: 1,
    cachedTokens: 0,
    microUsd: 0,
  };
  const model: Model = {
    async call(request: ModelRequest) {
      const task = byId.get(request.task.split('.')[0]!)!;
      if (!request.task.includes('.bid-')) return { ok: true, answer };
      cost.calls++;
      cost.tokens += tokens(
        request.system + request.messages.map(({ content }) => content).join('') + JSON.stringify(request.tools),
      );
      const args = {
        proceed: true,
        able: true,
        fitness: fitness(Number(request.agent.split('-')[1]), task),
        reason: 'as scripted',
      };
      return {
        ok: true,
        answer: { ...answer, text: '', toolCalls: [{ id: 'c', name: 'place_bid', arguments: args }] },
      };
    },
  };
  const workspace = await openWorkspace(root, { model, history: false });
  await workspace.pumpUntilQuiet();
  const done = await workspace.endedTasks({ state: 'completed' });
  const matched = done.filter(({ task }) => task.to === `agent-${byId.get(task.id)?.field}`).length;
  await workspace.close();
  if (matched !== TASKS) throw new Error(`only ${matched} of ${TASKS} tasks went to the agent that is fit for them`);
  return cost;
}

/**
 * The baseline: at each poll, each idle agent goes through the pending tasks until it claims one.
 */
function poll(tasks: readonly ScriptedTask[]): Cost {
  const cost: Cost = { calls: 0, tokens: 0 };
  const ask = (prompt: string): void => {
    cost.calls++;
    cost.tokens += tokens(prompt);
  };
  const pending = [...tasks];
  const busyUntil = agents.map(() => 0);
  for (let now = 0; pending.length > 0; now++) {
    for (const [at, agent] of agents.entries()) {
      if (busyUntil[at]! > now) continue;
      const taken = pending.findIndex((task) => {
        ask(reflection(task, pending.slice(0, 8)));
        ask(ability(task, agent));
        if (!isAble(agent, task)) return false;
        ask(rating(task, agent));
        return fitness(at, task) >= agent.threshold;
      });
      if (taken < 0) continue;
      pending.splice(taken, 1);
      busyUntil[at] = now + WORK_POLLS;
    }
  }
  return cost;
}

const tokens = (text: string): number => Math.ceil(text.length / 4);
const reflection = (task: ScriptedTask, others: readonly ScriptedTask[]): string =>
  `I may take this task: ${task.description}. What I did lately: nothing. The workspace: ${others.map(({ description }) => description).join('; ')}. Goal: ${task.description}. Did I do something like it, does it serve the goal, is it redundant, should I leave it to others? PROCEED or STEP_BACK`;
const ability = (task: ScriptedTask, agent: ScriptedAgent): string =>
  `Task: ${task.description}. Requirements: ${task.requirements.join(', ')}. My capabilities: ${agent.capabilities.join(', ')}. Can I execute it? YES or NO only.`;
const rating = (task: ScriptedTask, agent: ScriptedAgent): string =>
  `Task: ${task.description}. My workload: 0 tasks. My specialization: ${agent.name}. Rate my fitness from 1 to 10, the number only.`;
