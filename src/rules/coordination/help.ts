/**
 * What a call for help still needs. Asked are agents that have nothing to do, have all capabilities and room, and whose field has to do with
 * it; the most urgent agent first, then the most relevant. When nobody helped by the deadline, or two tried in vain, it goes to the
 * coordinator, else to the human.
 */
import type { Agent } from '../../domain/agent/agent.js';
import type { AgentState } from '../../domain/agent/agent-state.js';
import { PROVIDE_ROLE } from '../../domain/coordination/dependency.js';
import type { Help } from '../../domain/coordination/help.js';
import { childId } from '../../domain/task/id.js';
import { compareText } from '../../domain/order.js';
import { problem } from '../../domain/problem.js';
import { HUMAN, isEnded, type Task, type WantedChild } from '../../domain/task/task.js';
import { fence, type Children } from '../patterns/gather.js';
import { ALONE, type HumanSaid, type NeedStep } from './needs.js';
import { freeCapacity } from './provider-fitness.js';
import { given, provision } from './providers.js';
import { relevance, RELEVANT } from './relevance.js';

export interface Bystander {
  agent: Agent;
  state: AgentState;
  /** Tasks that it has, or is about to take. */
  busy: number;
}

export interface Volunteer {
  agent: string;
  relevance: number;
  why: string;
}

/** Who can be asked now, best first. Those that wait for work come before those that never had any. */
export function volunteers(help: Help, asker: string, all: readonly Bystander[]): Volunteer[] {
  const profiles = all.map(({ agent }) => agent);
  const fit = all.flatMap(({ agent, state, busy }) => {
    const isFree = FREE.includes(state) && freeCapacity(agent.maxConcurrentTasks, busy) > 0;
    const can = help.capabilities.every((need) => agent.capabilities.includes(need));
    if (agent.name === asker || !isFree || !can) return [];
    const close = relevance(agent, help.context, profiles);
    return close > RELEVANT ? [{ agent, state, close }] : [];
  });
  const before = (a: (typeof fit)[number], b: (typeof fit)[number]): number =>
    Number(a.state === 'idle') - Number(b.state === 'idle') ||
    compareText(a.agent.priority, b.agent.priority) ||
    b.close - a.close ||
    compareText(a.agent.name, b.agent.name);
  return fit.sort(before).map(({ agent, state, close }) => ({
    agent: agent.name,
    relevance: Math.round(close * 100) / 100,
    why: `it is ${state} and has ${close.toFixed(2)} to do with it`,
  }));
}

/** An agent that is done with its work waits, and is complete when nothing is left at all; one that is idle never had any. */
const FREE: readonly AgentState[] = ['waiting', 'complete', 'idle'];

export interface HelpGiven {
  task: Task;
  help: Help;
  children: Children;
  /** When it is escalated. */
  deadline: string;
  volunteers: readonly Volunteer[];
  coordinator?: string;
  /** What would be put to the human, and what was said to it. */
  human: { child: WantedChild; said: HumanSaid };
  now: string;
}

export function helpStep(asked: HelpGiven): NeedStep & { escalated?: string } {
  const { task, children, deadline, now } = asked;
  const by = provision(task, children);
  if (by.kind === 'given') return { do: 'resolve', resolution: by.resolution };
  if (by.kind === 'open') return { do: 'wait', tasks: [by.child] };
  const isEscalated = children.get(escalatedId(task)) !== undefined || children.get(asked.human.child.id) !== undefined;
  const next = asked.volunteers.find(({ agent }) => !by.tried.includes(agent));
  if (by.kind === 'none' && !isEscalated && next !== undefined)
    return { do: 'ask', child: wantedHelp(asked, by.next, next.agent), why: next.why };
  if (by.kind === 'none' && !isEscalated && deadline > now) return { do: 'wait', until: deadline };
  return escalation(asked, by.why ?? `nobody who could help was free by ${deadline}`);
}

function escalatedId(task: Task): string {
  return childId(task.id, 'escalated');
}

function escalation(asked: HelpGiven, why: string): NeedStep & { escalated?: string } {
  const { task, children, coordinator, human } = asked;
  const id = escalatedId(task);
  const placed = children.get(id);
  const goesUp = coordinator !== undefined && coordinator !== task.from && children.get(human.child.id) === undefined;
  if (placed === undefined && goesUp)
    return { do: 'ask', child: wantedHelp(asked, id, coordinator), why, escalated: coordinator };
  if (placed !== undefined && !isEnded(placed.state)) return { do: 'wait', tasks: [id] };
  if (placed !== undefined) {
    const said = given(placed);
    if (said.status !== 'failed') return { do: 'resolve', resolution: said };
    return { do: 'fail', error: problem('nobody_fit', `${said.provider} could not: ${said.data}`, { hint: ALONE }) };
  }
  if (children.get(human.child.id) === undefined) return { do: 'ask', child: human.child, why, escalated: HUMAN };
  return humanStep(human.said, human.child.id);
}

/** The human answers in the field that is there for it; a tick alone says that it was read. */
function humanStep(said: HumanSaid, id: string): NeedStep {
  if (said.kind === 'open') return { do: 'wait', tasks: [id] };
  if (said.kind === 'no') return { do: 'fail', error: problem('nobody_fit', said.message, { hint: ALONE }) };
  const answer = said.edited?.['answer'];
  const data = typeof answer === 'string' ? answer : 'the human has read it, and wrote no answer';
  const status = typeof answer === 'string' ? 'resolved' : 'partial';
  return { do: 'resolve', resolution: { status, provider: HUMAN, data } };
}

function wantedHelp({ task, help }: HelpGiven, id: string, agent: string): WantedChild {
  const asker = task.from ?? 'somebody';
  return {
    id,
    role: PROVIDE_ROLE,
    to: agent,
    from: asker,
    type: 'help',
    description: [
      `${asker} asks for your ${WORDS[help.kind]}.`,
      fence('help', asker, help.context, task.id),
      ...(help.estimate ? [`${asker} thinks it takes ${help.estimate}.`] : []),
      'Your answer is all it gets. If you cannot help, say so with provide_dependency: status failed, with the reason as data.',
    ].join('\n\n'),
  };
}

const WORDS: Record<Help['kind'], string> = {
  work: 'help',
  review: 'review: say what is right, what is wrong, and what would make it better',
  question: 'knowledge: answer what you know, and say where you are not sure',
};
