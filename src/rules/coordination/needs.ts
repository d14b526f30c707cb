/**
 * Decides the next step of a dependency from the request, its children and facts that the engine
 * looked up. No agent works on a dependency itself: it waits, asks an agent to provide, and passes
 * the result on. When its deadline passes, it ends.
 */
import {
  MATCH_ROLE,
  PROVIDE_ROLE,
  readAssignment,
  readProvided,
  type Dependency,
  type Resolution,
} from '../../domain/coordination/dependency.js';
import { childId } from '../../domain/task/id.js';
import { problem, type Problem } from '../../domain/problem.js';
import { ENGINE, HUMAN, isEnded, type Placed, type Task, type WantedChild } from '../../domain/task/task.js';
import { errorText, fence, type Children } from '../patterns/gather.js';
import type { Candidate } from './provider-fitness.js';
import { providerProgress, provideId } from './providers.js';

export type NeedStep =
  /** The child is needed and has not ended; create it if it is missing. */
  | { do: 'ask'; child: WantedChild; why: string; until?: string }
  /** Decide again when one of these tasks has ended, or at `until`. */
  | { do: 'wait'; tasks?: string[]; until?: string }
  /** The deadline has passed: cancel these open children before failing. */
  | { do: 'cancel'; children: string[]; why: string }
  | { do: 'resolve'; resolution: Resolution }
  | { do: 'fail'; error: Problem };

export type HumanAnswer =
  | { kind: 'open' }
  | { kind: 'no'; message: string }
  | { kind: 'yes'; edited?: Record<string, unknown> };

export interface NeedFacts {
  /** resource: whether the asker has it now, and the task that has it otherwise. */
  held?: boolean;
  holder?: string;
  /** sequence: the task that must end first. */
  after?: Placed | undefined;
  /** approval: the question for the human, and the answer so far. */
  human?: { child: WantedChild; said: HumanAnswer };
  /** data, expertise: the possible providers, best first. */
  candidates?: Candidate[];
  /** mesh: the winner of the offers, or the time to decide again, or why no agent offered. */
  offered?: { agent: string } | { until: string } | { nobody: string };
  /** hierarchical: the agent that chooses the provider. */
  coordinator?: string;
}

interface NeedInput {
  task: Task;
  dependency: Dependency;
  children: Children;
  facts: NeedFacts;
  now: string;
}

export function needStep(input: NeedInput): NeedStep {
  const step = stepOf(input);
  const { deadline } = input.dependency;
  if (deadline === undefined || step.do === 'resolve') return step;
  if (deadline > input.now && (step.do === 'wait' || step.do === 'ask'))
    return { ...step, until: step.until !== undefined && step.until < deadline ? step.until : deadline };
  if (deadline > input.now) return step;
  const open = [...input.children].flatMap(([id, child]) => (child && !isEnded(child.state) ? [id] : []));
  if (open.length > 0) return { do: 'cancel', children: open, why: `it was needed by ${deadline}` };
  return {
    do: 'fail',
    error: problem('timed_out', `it was not provided by ${input.dependency.deadline}`, { hint: ALONE }),
  };
}

function stepOf(input: NeedInput): NeedStep {
  const { dependency } = input;
  if (dependency.type === 'resource') return resourceStep(input);
  if (dependency.type === 'sequence') return sequenceStep(input);
  if (dependency.type === 'approval') return dependency.reviewer === undefined ? humanStep(input) : reviewStep(input);
  return providerStep(input);
}

function resourceStep({ dependency, facts }: NeedInput): NeedStep {
  if (!facts.held) return facts.holder === undefined ? { do: 'wait' } : { do: 'wait', tasks: [facts.holder] };
  const data = `you hold ${dependency.resource} exclusively until your task ends or you call give_back`;
  return { do: 'resolve', resolution: { status: 'resolved', provider: ENGINE, data } };
}

function sequenceStep({ dependency, facts: { after } }: NeedInput): NeedStep {
  const name = dependency.after!;
  if (after === undefined) return { do: 'fail', error: problem('not_found', `there is no task ${name} to wait for`) };
  if (!isEnded(after.state)) return { do: 'wait', tasks: [name] };
  if (after.state === 'failed' && after.task.error?.code !== 'by_hand') {
    const why = `${name} had to complete first, but failed: ${errorText(after.task.error)}`;
    return { do: 'fail', error: problem('dependency_failed', why, { hint: `retry ${name}, or continue without it` }) };
  }
  const data = after.task.result ?? `${name} is done`;
  return { do: 'resolve', resolution: { status: 'resolved', provider: after.task.to ?? 'nobody', data } };
}

function humanStep({ facts }: NeedInput): NeedStep {
  const { child, said } = facts.human!;
  if (said.kind === 'open') return { do: 'ask', child, why: 'the human decides' };
  if (said.kind === 'no') return { do: 'fail', error: problem('not_allowed', said.message) };
  const edited = said.edited?.['need'];
  const data = typeof edited === 'string' ? `approved with changes by the human: ${edited}` : 'approved';
  return { do: 'resolve', resolution: { status: 'resolved', provider: HUMAN, data } };
}

/** Only `provide_dependency` approves. An answer in plain text is passed on as partial. */
function reviewStep(input: NeedInput): NeedStep {
  const { task, dependency, children } = input;
  const progress = providerProgress(task, children, 1);
  if (progress.kind === 'open') return { do: 'wait', tasks: [progress.child] };
  if (progress.kind === 'next')
    return { do: 'ask', child: wantedProvider(input, progress.next, dependency.reviewer!), why: 'it reviews' };
  if (progress.kind === 'failed') return { do: 'fail', error: problem('not_allowed', progress.why) };
  const { resolution } = progress;
  const isVerdict = readProvided(children.get(provideId(task, 1))?.task.result ?? '') !== undefined;
  return { do: 'resolve', resolution: isVerdict ? resolution : { ...resolution, status: 'partial' } };
}

function providerStep(input: NeedInput): NeedStep {
  const { task, children, facts } = input;
  const progress = providerProgress(task, children);
  if (progress.kind === 'provided') return { do: 'resolve', resolution: progress.resolution };
  if (progress.kind === 'open') return { do: 'wait', tasks: [progress.child] };
  const { why, tried } = progress;
  if (progress.kind === 'failed')
    return { do: 'fail', error: problem('dependency_failed', progress.why, { hint: ALONE }) };
  const left = (facts.candidates ?? []).filter(({ agent }) => !tried.includes(agent));
  if (left.length === 0 && why !== undefined)
    return { do: 'fail', error: problem('dependency_failed', why, { hint: ALONE }) };
  if (left.length === 0) return { do: 'fail', error: nobodyFit(input.dependency) };
  const chosen = choice(input, left, tried);
  if ('do' in chosen) return chosen;
  return { do: 'ask', child: wantedProvider(input, progress.next, chosen.agent), why: chosen.why };
}

export const ALONE = 'continue without it, or find another way';

/** The coordinator's choice, or the winner of the offers, or the best candidate. */
function choice(
  input: NeedInput,
  left: readonly Candidate[],
  tried: readonly string[],
): { agent: string; why: string } | NeedStep {
  const { task, children, facts } = input;
  const best = left[0]!;
  if (facts.offered !== undefined) {
    if ('until' in facts.offered) return { do: 'wait', until: facts.offered.until };
    if ('nobody' in facts.offered)
      return { do: 'fail', error: problem('nobody_fit', facts.offered.nobody, { hint: ALONE }) };
    const { agent } = facts.offered;
    const why = left.find((candidate) => candidate.agent === agent)?.why;
    return { agent, why: `it made the best offer${why === undefined ? '' : `: ${why}`}` };
  }
  if (facts.coordinator === undefined || tried.length > 0) return { agent: best.agent, why: best.why };
  const match = wantedMatch(input, left, facts.coordinator);
  const placed = children.get(match.id);
  if (placed === undefined) return { do: 'ask', child: match, why: 'the coordinator chooses the provider' };
  if (!isEnded(placed.state)) return { do: 'wait', tasks: [match.id] };
  const assignment = placed.state === 'completed' ? readAssignment(placed.task.result ?? '') : undefined;
  const isValid = assignment !== undefined && assignment.agent !== task.from && assignment.agent !== HUMAN;
  if (!isValid) return { agent: best.agent, why: `the coordinator made no valid choice; best candidate: ${best.why}` };
  const { agent, reason } = assignment;
  return { agent, why: `${facts.coordinator} chose it${reason ? `: ${reason}` : ''}` };
}

function wantedMatch({ task, dependency }: NeedInput, left: readonly Candidate[], coordinator: string): WantedChild {
  const asker = task.from ?? 'An agent';
  const rows = left.map(
    ({ agent, about, fitness, why }) => `- ${agent}${about ? `: ${about}` : ''} (${fitness} of 100: ${why})`,
  );
  const id = childId(task.id, 'match');
  return {
    id,
    role: MATCH_ROLE,
    to: coordinator,
    from: asker,
    // A shared conversation may itself wait for this, so the match gets another conversation.
    session: id,
    description: [
      `${asker} needs ${wordOf(dependency)} from another agent before it can continue. Choose the provider with assign_provider.`,
      needText(task, dependency),
      `Candidates by expertise, track record and free capacity:\n${rows.join('\n')}`,
      'You may choose another of the agents that assign_provider names, if you know that it fits better. Say why, then choose.',
    ].join('\n\n'),
    budget: { turns: 2 },
  };
}

function wantedProvider({ task, dependency }: NeedInput, id: string, agent: string): WantedChild {
  const asker = task.from ?? 'An agent';
  const isReview = dependency.type === 'approval';
  return {
    id,
    role: PROVIDE_ROLE,
    to: agent,
    from: asker,
    type: dependency.type,
    description: [
      isReview
        ? `${asker} waits for your approval before it continues.`
        : `${asker} needs ${wordOf(dependency)} from you before it can continue.`,
      needText(task, dependency),
      isReview
        ? 'Review it, then call provide_dependency: status resolved to approve, failed to refuse, with the reason as data. An answer in plain text does not approve it.'
        : `Give a complete answer; ${asker} sees nothing else of your work. If you can provide only part of it, or none of it, call provide_dependency with status partial or failed.`,
    ].join('\n\n'),
  };
}

function needText(task: Task, { need, dataType, expertise, urgency, deadline }: Dependency): string {
  const lines = [
    fence('need', task.from ?? 'nobody', need, task.id),
    ...(dataType ? [`Kind of data: ${dataType}`] : []),
    ...(expertise ? [`Expertise: ${expertise.join(', ')}`] : []),
    ...(urgency === 'normal' ? [] : [`Urgency: ${urgency}`]),
    ...(deadline ? [`Needed by: ${deadline}`] : []),
  ];
  return lines.join('\n');
}

function wordOf({ type }: Dependency): string {
  return type === 'expertise' ? 'expertise' : 'data';
}

function nobodyFit({ expertise, dataType }: Dependency): Problem {
  const wanted = [...(dataType ? [dataType] : []), ...(expertise ?? [])].join(', ');
  if (wanted === '') return problem('nobody_fit', 'there is no other agent to ask', { hint: ALONE });
  return problem('nobody_fit', `no other agent has ${wanted}`, {
    hint: `${ALONE}; agents list \`expertise\` and \`capabilities\` in their files`,
  });
}
