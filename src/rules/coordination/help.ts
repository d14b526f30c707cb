/**
 * Decides the next step of a call for help. It asks agents that are free, have every capability and
 * are relevant to the request, by priority and then by relevance. If none helps by the deadline, or
 * two fail, the call is escalated to the coordinator, or else to the human.
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
import { ALONE, type HumanAnswer, type NeedStep } from './needs.js';
import { freeCapacity } from './provider-fitness.js';
import { providerProgress, resolutionOf } from './providers.js';
import { relevance, RELEVANT } from './relevance.js';

export interface Bystander {
  agent: Agent;
  state: AgentState;
  /** Tasks it has or is about to take. */
  busy: number;
}

export interface Volunteer {
  agent: string;
  relevance: number;
  why: string;
}

/** Agents that can be asked now, best first. Agents that wait for work come before idle ones. */
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
    why: `it is ${state}, relevance ${close.toFixed(2)}`,
  }));
}

const FREE: readonly AgentState[] = ['waiting', 'complete', 'idle'];

export interface HelpInput {
  task: Task;
  help: Help;
  children: Children;
  /** When it is escalated. */
  deadline: string;
  volunteers: readonly Volunteer[];
  coordinator?: string;
  /** The question for the human, and the answer so far. */
  human: { child: WantedChild; said: HumanAnswer };
  now: string;
}

export function helpStep(input: HelpInput): NeedStep & { escalated?: string } {
  const { task, children, deadline, now } = input;
  const progress = providerProgress(task, children);
  if (progress.kind === 'provided') return { do: 'resolve', resolution: progress.resolution };
  if (progress.kind === 'open') return { do: 'wait', tasks: [progress.child] };
  const isEscalated = children.get(escalatedId(task)) !== undefined || children.get(input.human.child.id) !== undefined;
  const next = input.volunteers.find(({ agent }) => !progress.tried.includes(agent));
  if (progress.kind === 'next' && !isEscalated && next !== undefined)
    return { do: 'ask', child: wantedHelp(input, progress.next, next.agent), why: next.why };
  if (progress.kind === 'next' && !isEscalated && deadline > now) return { do: 'wait', until: deadline };
  return escalation(input, progress.why ?? `no agent that could help was free by ${deadline}`);
}

function escalatedId(task: Task): string {
  return childId(task.id, 'escalated');
}

function escalation(input: HelpInput, why: string): NeedStep & { escalated?: string } {
  const { task, children, coordinator, human } = input;
  const id = escalatedId(task);
  const placed = children.get(id);
  const goesUp = coordinator !== undefined && coordinator !== task.from && children.get(human.child.id) === undefined;
  if (placed === undefined && goesUp)
    return { do: 'ask', child: wantedHelp(input, id, coordinator), why, escalated: coordinator };
  if (placed !== undefined && !isEnded(placed.state)) return { do: 'wait', tasks: [id] };
  if (placed !== undefined) {
    const resolution = resolutionOf(placed);
    if (resolution.status !== 'failed') return { do: 'resolve', resolution };
    const failure = `${resolution.provider} could not help: ${resolution.data}`;
    return { do: 'fail', error: problem('nobody_fit', failure, { hint: ALONE }) };
  }
  if (children.get(human.child.id) === undefined) return { do: 'ask', child: human.child, why, escalated: HUMAN };
  return humanStep(human.said, human.child.id);
}

/**
 * The human answers in the field `answer`. A tick without an answer only confirms that the question
 * was read.
 */
function humanStep(said: HumanAnswer, id: string): NeedStep {
  if (said.kind === 'open') return { do: 'wait', tasks: [id] };
  if (said.kind === 'no') return { do: 'fail', error: problem('nobody_fit', said.message, { hint: ALONE }) };
  const answer = said.edited?.['answer'];
  const data = typeof answer === 'string' ? answer : 'the human read it and gave no answer';
  const status = typeof answer === 'string' ? 'resolved' : 'partial';
  return { do: 'resolve', resolution: { status, provider: HUMAN, data } };
}

function wantedHelp({ task, help }: HelpInput, id: string, agent: string): WantedChild {
  const asker = task.from ?? 'An agent';
  return {
    id,
    role: PROVIDE_ROLE,
    to: agent,
    from: asker,
    type: 'help',
    description: [
      `${asker} asks for your ${REQUESTS[help.kind]}`,
      fence('help', asker, help.context, task.id),
      ...(help.estimate ? [`Estimated effort: ${help.estimate}`] : []),
      `${asker} sees only your final answer. If you cannot help, call provide_dependency with status failed and the reason as data.`,
    ].join('\n\n'),
  };
}

const REQUESTS: Record<Help['kind'], string> = {
  work: 'help.',
  review: 'review. Say what is right, what is wrong, and how to improve it.',
  question: 'knowledge. Answer what you know, and say where you are not sure.',
};
