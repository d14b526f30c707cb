/**
 * Scores agents as providers of a dependency: 10 points for each matching expertise (at most 50),
 * up to 30 for reliability, and up to 20 for free capacity. If the request names an expertise or a
 * kind of data, an agent that has none of it is not a candidate.
 */
import type { Agent } from '../../domain/agent/agent.js';
import type { Dependency } from '../../domain/coordination/dependency.js';
import { defined } from '../../domain/defined.js';
import { hash53 } from '../../domain/task/id.js';
import { compareText } from '../../domain/order.js';
import { stems } from '../staffing/similarity.js';

interface ProviderFacts {
  agent: Pick<Agent, 'name' | 'expertise' | 'capabilities' | 'maxConcurrentTasks'> &
    Partial<Pick<Agent, 'description'>>;
  /** The share of accepted tasks, from 0 to 1. */
  reliability: number;
  /** Tasks it has or is about to take. */
  busy: number;
}

export interface Candidate {
  agent: string;
  /** Its description, in one line. */
  about?: string;
  /** 0 to 100. */
  fitness: number;
  matches: number;
  why: string;
}

/**
 * Candidates, best first. `id`: of the dependency, so that every process breaks ties the same way.
 */
export function rank(id: string, dependency: Dependency, agents: readonly ProviderFacts[]): Candidate[] {
  return agents
    .flatMap((facts) => weigh(dependency, facts) ?? [])
    .sort((a, b) => b.fitness - a.fitness || compareText(lot(id, a.agent), lot(id, b.agent)));
}

/** Breaks ties: of two equally fit agents, the one with the lower lot goes first. */
export function lot(id: string, agent: string): string {
  return hash53(`${id}\n${agent}`);
}

function weigh(dependency: Dependency, { agent, reliability, busy }: ProviderFacts): Candidate | undefined {
  const matches = matching(dependency, agent);
  if (matches === 0 && wantedWords(dependency).length > 0) return undefined;
  const free = freeCapacity(agent.maxConcurrentTasks, busy);
  const fitness = Math.min(50, 10 * matches) + 30 * reliability + 20 * free;
  const percent = (share: number): string => `${Math.round(share * 100)} %`;
  return defined({
    agent: agent.name,
    about: agent.description ? agent.description.split('\n')[0]!.slice(0, 200) : undefined,
    fitness: Math.round(fitness * 10) / 10,
    matches,
    why: `${matches} matching expertise, ${percent(reliability)} reliable, ${percent(free)} of its capacity is free`,
  });
}

export function freeCapacity(capacity: number, busy: number): number {
  return capacity === Infinity ? 1 : Math.max(0, (capacity - busy) / capacity);
}

/** The expertise and the kind of data that the request names. */
function wantedWords({ type, expertise = [], dataType }: Dependency): string[] {
  return type === 'data' && dataType !== undefined ? [dataType, ...expertise] : expertise;
}

/**
 * How many of the named words the agent has, or, if none are named, how many of its fields the need
 * mentions.
 */
function matching(dependency: Dependency, agent: ProviderFacts['agent']): number {
  const fields = [...agent.expertise, ...agent.capabilities].map(normal);
  const wanted = wantedWords(dependency);
  if (wanted.length > 0) return new Set(wanted.map(normal).filter((word) => fields.includes(word))).size;
  const needStems = new Set(stems(dependency.need));
  const isMentioned = (field: string): boolean => field.split(' ').every((stem) => needStems.has(stem));
  return new Set(fields.filter((field) => field !== '' && isMentioned(field))).size;
}

function normal(phrase: string): string {
  return stems(phrase.replace(/[-_/]+/g, ' ')).join(' ');
}
