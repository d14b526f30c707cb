/**
 * Who is fit to give what a task needs, in points: 10 for each expertise that matches, at most 50; up to 30 for how much of its work came to
 * a good end; up to 20 for the room it has. Where the request names what it wants, an agent that has none of it is no candidate at all.
 */
import type { Agent } from '../../domain/agent/agent.js';
import type { Dependency } from '../../domain/coordination/dependency.js';
import { hash53 } from '../../domain/task/id.js';
import { compareText } from '../../domain/order.js';
import { stems } from '../staffing/similarity.js';

export interface Standing {
  agent: Pick<Agent, 'name' | 'expertise' | 'capabilities' | 'maxConcurrentTasks'>;
  /** 0 to 1: how much of what it took on came to a good end. */
  reliability: number;
  /** Tasks that it has, or is about to take. */
  busy: number;
}

export interface Candidate {
  agent: string;
  /** 0 to 100. */
  fitness: number;
  matches: number;
  why: string;
}

/** The best first; those that cannot are left out. `id`: of the dependency, so that a tie falls out the same for everybody who looks. */
export function rank(id: string, dependency: Dependency, standings: readonly Standing[]): Candidate[] {
  return standings
    .flatMap((standing) => weigh(dependency, standing) ?? [])
    .sort((a, b) => b.fitness - a.fitness || compareText(lot(id, a.agent), lot(id, b.agent)));
}

/** Of two that are equally fit, the one with the lower lot goes first. */
export function lot(id: string, agent: string): string {
  return hash53(`${id}\n${agent}`);
}

export function weigh(dependency: Dependency, { agent, reliability, busy }: Standing): Candidate | undefined {
  const matches = matching(dependency, agent);
  if (matches === 0 && wantedWords(dependency).length > 0) return undefined;
  const free = freeCapacity(agent.maxConcurrentTasks, busy);
  const fitness = Math.min(50, 10 * matches) + 30 * reliability + 20 * free;
  const percent = (part: number): string => `${Math.round(part * 100)} %`;
  return {
    agent: agent.name,
    fitness: Math.round(fitness * 10) / 10,
    matches,
    why: `${matches} of its expertise match, ${percent(reliability)} of its work came to a good end, ${percent(free)} of its capacity is free`,
  };
}

export function freeCapacity(most: number, busy: number): number {
  return most === Infinity ? 1 : Math.max(0, (most - busy) / most);
}

/** What the request names outright. */
function wantedWords({ type, expertise = [], dataType }: Dependency): string[] {
  return type === 'data' && dataType !== undefined ? [dataType, ...expertise] : expertise;
}

/** How many of the words asked for the agent has; where none is asked for, how many of its fields the request speaks of. */
function matching(dependency: Dependency, agent: Standing['agent']): number {
  const fields = [...agent.expertise, ...agent.capabilities].map(normal);
  const wanted = wantedWords(dependency);
  if (wanted.length > 0) return new Set(wanted.map(normal).filter((word) => fields.includes(word))).size;
  const said = new Set(stems(dependency.need));
  const spoken = new Set(fields.filter((field) => field !== '' && field.split(' ').every((stem) => said.has(stem))));
  return spoken.size;
}

function normal(words: string): string {
  return stems(words.replace(/[-_/]+/g, ' ')).join(' ');
}
