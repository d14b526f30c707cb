/** The agents: their files, what they do now, what they cost, and who works with whom. */
import fs from 'node:fs';
import path from 'node:path';
import { openRoster } from '../../app/readers/open-roster.js';
import { readPaused } from '../../app/pause.js';
import { packageFolder } from '../../app/starter.js';
import { defined } from '../../domain/defined.js';
import type { Event } from '../../domain/event.js';
import { noAgent } from '../../domain/nearest.js';
import { compareText } from '../../domain/order.js';
import { problem, ProblemError } from '../../domain/problem.js';
import { agentGraph } from '../../views/agent-graph.js';
import { summary } from '../../views/summary.js';
import type { AgentFile, AgentList, AgentRow, AgentSchema, BidRow, Bids, Row } from '../base/contract.js';
import { noSums } from '../base/agent-sums.js';
import type { Moment } from './moment.js';
import { titleOf } from '../base/title.js';
import { titled } from './rows.js';
import { seenOf, textOf } from './session.js';

export async function agentList(moment: Moment, env: Record<string, string | undefined>): Promise<AgentList> {
  const { feed, log } = moment;
  const { agents, problems, unreadable } = openRoster(feed.root, env);
  const { agents: states, open } = await moment.snapshot();
  const titles = new Map(open.map(({ task }) => [task.id, titleOf(summary(task))]));
  const { agents: paused } = await readPaused(feed.root, feed.states.store);
  const sums = log.agents();
  const activity = new Map(states.map((state) => [state.agent, state]));
  const rows = [...agents.values()].map((agent): AgentRow => {
    const { state = 'idle', why = '' } = activity.get(agent.name) ?? {};
    return {
      name: agent.name,
      description: agent.description ?? '',
      model: agent.models.join(', '),
      tools: [...agent.tools],
      capabilities: [...agent.capabilities],
      state,
      why: titled(why, (id) => titles.get(id)),
      paused: paused.get(agent.name),
      isOnProbation: agent.probation,
      file: agent.file,
      ...(sums.get(agent.name) ?? noSums()),
    };
  });
  const broken = [...unreadable].map(([name, fault]): AgentRow => ({
    name,
    description: '',
    model: '',
    tools: [],
    capabilities: [],
    state: 'error',
    why: fault.message,
    file: fault.where?.file ?? '',
    ...(sums.get(name) ?? noSums()),
    problem: fault,
  }));
  return {
    agents: [...rows, ...broken].sort((a, b) => compareText(a.name, b.name)),
    edges: agentGraph(agents.values()).edges.map(({ from, to, step }) => ({ from, to, pattern: step })),
    teams: [...agents.values()].flatMap(({ name, team }) =>
      team === undefined
        ? []
        : [{ lead: name, members: [...team.members], ends: TEAM_ENDS[team.terminationMode], rounds: team.maxRounds }],
    ),
    // The page of the boards shows theirs.
    problems: problems.filter(({ where }) => where?.file.startsWith('tasks/') !== true),
  };
}

const TEAM_ENDS = {
  consensus: 'until all agree',
  maxRounds: 'all rounds',
  coordinatorDecides: 'until its lead decides',
};

export function agentFile(root: string, name: string, env: Record<string, string | undefined>): AgentFile {
  const { agents, unreadable, problems } = openRoster(root, env);
  const file = agents.get(name)?.file ?? unreadable.get(name)?.where?.file;
  if (file === undefined) throw new ProblemError(problem('unknown_agent', noAgent(name, agents.keys())));
  const text = textOf(path.join(root, file));
  return { name, file, text, seen: seenOf(text), problems: problems.filter(({ where }) => where?.file === file) };
}

/** The keys of an agent file with what they mean, from the JSON Schema that editors use. */
export function agentSchema(): AgentSchema {
  const file = packageFolder('schemas', 'agent.json');
  const { properties } = JSON.parse(fs.readFileSync(file, 'utf8')) as { properties: Record<string, Property> };
  return {
    keys: Object.entries(properties).map(([key, { description = '', ...property }]) => ({
      key,
      description,
      values: valuesOf(property),
    })),
  };
}

interface Property {
  description?: string;
  enum?: unknown[];
  type?: string | string[];
  anyOf?: Property[];
  items?: Property;
}

function valuesOf({ enum: values, type, anyOf, items }: Property): string[] {
  const own = [...(values ?? []).map(String), ...(type === 'boolean' ? ['true', 'false'] : [])];
  const inside = [...(anyOf ?? []), ...(items === undefined ? [] : [items])].flatMap(valuesOf);
  return [...new Set([...own, ...inside])];
}

const OFFERS_SHOWN = 100;

/** From the events of awards, which have every score. Newest first. */
export async function bidsOf(moment: Moment): Promise<Bids> {
  const awarded = moment.log.events((name) => name === 'task.awarded').filter(hasScores);
  const tasks = new Map((await moment.tasks('')).map((row) => [row.id, row]));
  const named = (id: string): { id: string; title: string } => ({ id, title: tasks.get(id)?.title ?? id });
  return {
    offers: awarded
      .slice(-OFFERS_SHOWN)
      .reverse()
      .map((event) => {
        const id = event.task ?? '';
        const bids = (event['scores'] as Record<string, unknown>[]).map(bidOf);
        return defined({ task: named(id), run: named(runOf(id, tasks)), at: event.at, agent: event.agent, bids });
      }),
  };
}

/** The task above all others. Parents are editable and may form a cycle. */
function runOf(id: string, tasks: ReadonlyMap<string, Row>): string {
  const seen = new Set([id]);
  let top = id;
  for (let next = tasks.get(id)?.parent; next !== undefined && !seen.has(next); next = tasks.get(next)?.parent)
    seen.add((top = next));
  return top;
}

function hasScores(event: Event): boolean {
  const scores = event['scores'];
  return Array.isArray(scores) && scores.every((score) => typeof score === 'object' && score !== null);
}

function bidOf(score: Record<string, unknown>): BidRow {
  const text = (key: string): string => (typeof score[key] === 'string' ? score[key] : '');
  const amount = (key: string): number | undefined => (typeof score[key] === 'number' ? score[key] : undefined);
  return defined({
    agent: text('agent'),
    verdict: text('verdict'),
    fitness: amount('fitness'),
    score: amount('score'),
    threshold: amount('threshold') ?? 0,
    record: text('record'),
    said: text('said'),
  });
}
