/**
 * What it costs to find the right agent for 100 tasks among 20: model calls and prompt tokens of ours, against a scheme in which every idle agent
 * weighs every pending task at every poll with up to three calls (reflect, able, fit) and claims the first that it is fit for. Both play the same
 * script: who is able to do what, and how fit it is. Only the calls that choose are counted; the work itself costs both the same.
 */
import { openWorkspace } from '../src/app/open-workspace.js';
import type { Model, ModelRequest } from '../src/ports/model.js';
import { told, type Bench, type Row } from './table.js';
import { put } from './workspace.js';

const AGENTS = 20;
const TASKS = 100;
/** How many polls a task takes once it is claimed: seconds, at one poll a second. Real work takes longer, and every poll more is to our favour. */
const WORK_POLLS = 10;

interface Scripted {
  name: string;
  capabilities: string[];
  threshold: number;
}

interface Asked {
  id: string;
  description: string;
  requirements: string[];
  /** The field it is about; who knows that field is fit. */
  field: number;
}

/** A capability of its own for each, one of five kinds shared by four; the last one breaks things down. */
const agents: Scripted[] = Array.from({ length: AGENTS }, (_, i) => ({
  name: `agent-${i}`,
  capabilities: [`skill_${i}`, `kind_${i % 5}`],
  threshold: i === AGENTS - 1 ? 8 : 6,
}));

export const bids: Bench = {
  name: 'bids',
  async run(bed) {
    const rows: Row[] = [];
    for (const [mix, tasks, isPromised] of [
      ['as they come', tasksOf((i) => (i % 10 === 0 ? 'none' : i % 10 < 4 ? 'kind' : 'skill')), true],
      // The worst case for us: everybody fits everything.
      ['none says what it requires', tasksOf(() => 'none'), false],
    ] as const) {
      const ours = await offered(bed.folder('bids'), tasks);
      const polled = polling(tasks);
      const calls = `bids, ${mix}: model calls to choose`;
      rows.push(
        isPromised ? twentieth(calls, ours.calls, polled.calls) : told(calls, ours.calls, '', polled.calls),
        told(`bids, ${mix}: prompt tokens to choose`, ours.tokens, '', polled.tokens),
      );
    }
    return rows;
  },
};

function twentieth(name: string, ours: number, raw: number): Row {
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

/** Of which field a task is, is a matter of luck, and the same luck in every run. */
function tasksOf(requires: (i: number) => 'none' | 'kind' | 'skill'): Asked[] {
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

const isAble = (agent: Scripted, task: Asked): boolean =>
  task.requirements.every((need) => agent.capabilities.includes(need));
/** The one that knows the field 9, those of the same kind 5, others 2. */
const fitness = (agent: number, { field }: Asked): number => (agent === field ? 9 : agent % 5 === field % 5 ? 5 : 2);

interface Cost {
  calls: number;
  tokens: number;
}

async function offered(root: string, tasks: readonly Asked[]): Promise<Cost> {
  const cost: Cost = { calls: 0, tokens: 0 };
  put(root, 'guild.yaml', 'model: bench/x\ngit: false\nproviders:\n  bench: { kind: scripted }\n');
  for (const { name, capabilities, threshold } of agents)
    put(
      root,
      `agents/${name}.md`,
      `---\ndescription: Knows its field\ncapabilities: [${capabilities.join(', ')}]\nthreshold: ${threshold}\n---\nDo it.\n`,
    );
  for (const { id, description, requirements } of tasks)
    put(root, `tasks/pending/${id}.json`, JSON.stringify({ description, requirements }));
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
        request.system + request.messages.map((one) => one.content).join('') + JSON.stringify(request.tools),
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
  const right = done.filter(({ task }) => task.to === `agent-${byId.get(task.id)?.field}`).length;
  await workspace.close();
  if (right !== TASKS) throw new Error(`${right} of ${TASKS} tasks came to the agent that is fit for them`);
  return cost;
}

/** Every second: each agent that is idle goes through the pending tasks, in order, until it has claimed one. */
function polling(tasks: readonly Asked[]): Cost {
  const cost: Cost = { calls: 0, tokens: 0 };
  const ask = (prompt: string): void => {
    cost.calls++;
    cost.tokens += tokens(prompt);
  };
  const pending = [...tasks];
  const busy = agents.map(() => 0);
  for (let poll = 0; pending.length > 0; poll++) {
    for (const [at, agent] of agents.entries()) {
      if (busy[at]! > poll) continue;
      const found = pending.findIndex((task) => {
        ask(reflection(task, pending.slice(0, 8)));
        ask(ability(task, agent));
        if (!isAble(agent, task)) return false;
        ask(rating(task, agent));
        return fitness(at, task) >= agent.threshold;
      });
      if (found < 0) continue;
      pending.splice(found, 1);
      busy[at] = poll + WORK_POLLS;
    }
  }
  return cost;
}

const tokens = (text: string): number => Math.ceil(text.length / 4);
const reflection = (task: Asked, others: readonly Asked[]): string =>
  `I may take this task: ${task.description}. What I did lately: nothing. The workspace: ${others.map((one) => one.description).join('; ')}. Goal: ${task.description}. Did I do something like it, does it serve the goal, is it redundant, should I leave it to others? PROCEED or STEP_BACK`;
const ability = (task: Asked, agent: Scripted): string =>
  `Task: ${task.description}. Requirements: ${task.requirements.join(', ')}. My capabilities: ${agent.capabilities.join(', ')}. Can I execute it? YES or NO only.`;
const rating = (task: Asked, agent: Scripted): string =>
  `Task: ${task.description}. My workload: 0 tasks. My specialization: ${agent.name}. Rate my fitness from 1 to 10, the number only.`;
