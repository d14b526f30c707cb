/**
 * What a dependency still needs: a pure function of what is asked, of its children and of a few facts that the engine looked up. Nobody does
 * a dependency: it waits, asks somebody to provide, and passes on what they gave. A deadline that has passed ends it, whatever it waits for.
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
import { provideId, provision } from './providers.js';

export type NeedStep =
  /** It must be there, and has not ended. */
  | { do: 'ask'; child: WantedChild; why: string; until?: string }
  /** Looked at again when one of these has ended, or that time has come. */
  | { do: 'wait'; tasks?: string[]; until?: string }
  /** Its time is over, and these are still at it: they are called off first. */
  | { do: 'call-off'; children: string[]; why: string }
  | { do: 'resolve'; resolution: Resolution }
  | { do: 'fail'; error: Problem };

/** What the human said. */
export type HumanSaid =
  | { kind: 'open' }
  | { kind: 'no'; message: string }
  | { kind: 'yes'; edited?: Record<string, unknown> };

export interface NeedFacts {
  /** resource: whether the asker has it now, and who has it if not. */
  held?: boolean;
  holder?: string;
  /** sequence: the task that must end first. */
  after?: Placed | undefined;
  /** approval: what is put to the human, and what was said to it. */
  human?: { child: WantedChild; said: HumanSaid };
  /** data, expertise: who could provide, the best first. */
  candidates?: Candidate[];
  /** mesh: whom the offers chose; until: it is too early, and then it is looked at again; nobody: time is up. */
  offered?: { agent: string } | { until: string } | { nobody: string };
  /** hierarchical: the agent that is asked who shall provide. */
  coordinator?: string;
}

interface NeedGiven {
  task: Task;
  dependency: Dependency;
  children: Children;
  facts: NeedFacts;
  now: string;
}

export function needStep(given: NeedGiven): NeedStep {
  const step = stepOf(given);
  const { deadline } = given.dependency;
  if (deadline === undefined || step.do === 'resolve') return step;
  if (deadline > given.now && (step.do === 'wait' || step.do === 'ask'))
    return { ...step, until: sooner(step.until, deadline) };
  if (deadline > given.now) return step;
  const open = [...given.children].flatMap(([id, child]) => (child && !isEnded(child.state) ? [id] : []));
  if (open.length > 0) return { do: 'call-off', children: open, why: `it was needed by ${deadline}` };
  return { do: 'fail', error: late(given) };
}

function stepOf(given: NeedGiven): NeedStep {
  const { dependency } = given;
  if (dependency.type === 'resource') return resourceStep(given);
  if (dependency.type === 'sequence') return sequenceStep(given);
  if (dependency.type === 'approval') return dependency.reviewer === undefined ? humanStep(given) : reviewStep(given);
  return providerStep(given);
}

function resourceStep({ dependency, facts }: NeedGiven): NeedStep {
  if (!facts.held) return facts.holder === undefined ? { do: 'wait' } : { do: 'wait', tasks: [facts.holder] };
  const data = `you hold ${dependency.resource} until your task ends or you call give_back; nobody else has it meanwhile`;
  return { do: 'resolve', resolution: { status: 'resolved', provider: ENGINE, data } };
}

function sequenceStep({ dependency, facts: { after } }: NeedGiven): NeedStep {
  const name = dependency.after!;
  if (after === undefined) return { do: 'fail', error: problem('not_found', `there is no task ${name} to wait for`) };
  if (!isEnded(after.state)) return { do: 'wait', tasks: [name] };
  if (after.state === 'failed' && after.task.error?.code !== 'by_hand') {
    const why = `${name} had to end first, and failed: ${errorText(after.task.error)}`;
    return { do: 'fail', error: problem('dependency_failed', why, { hint: `retry ${name}, or go on without it` }) };
  }
  const data = after.task.result ?? `${name} is done`;
  return { do: 'resolve', resolution: { status: 'resolved', provider: after.task.to ?? 'nobody', data } };
}

function humanStep({ facts }: NeedGiven): NeedStep {
  const { child, said } = facts.human!;
  if (said.kind === 'open') return { do: 'ask', child, why: 'the human decides' };
  if (said.kind === 'no') return { do: 'fail', error: problem('not_allowed', said.message) };
  const edited = said.edited?.['need'];
  const data = typeof edited === 'string' ? `approved, as the human changed it: ${edited}` : 'approved';
  return { do: 'resolve', resolution: { status: 'resolved', provider: HUMAN, data } };
}

/** No words are taken for a yes: whoever reviews says it with `provide_dependency`, or is only quoted. */
function reviewStep(given: NeedGiven): NeedStep {
  const { task, dependency, children } = given;
  const by = provision(task, children, 1);
  if (by.kind === 'open') return { do: 'wait', tasks: [by.child] };
  if (by.kind === 'none')
    return { do: 'ask', child: wantedProvider(given, by.next, dependency.reviewer!), why: 'it reviews' };
  if (by.kind === 'spent') return { do: 'fail', error: problem('not_allowed', by.why) };
  const isVerdict = readProvided(children.get(provideId(task, 1))?.task.result ?? '') !== undefined;
  return { do: 'resolve', resolution: isVerdict ? by.resolution : { ...by.resolution, status: 'partial' } };
}

function providerStep(given: NeedGiven): NeedStep {
  const { task, children, facts } = given;
  const by = provision(task, children);
  if (by.kind === 'given') return { do: 'resolve', resolution: by.resolution };
  if (by.kind === 'open') return { do: 'wait', tasks: [by.child] };
  if (by.kind === 'spent') return { do: 'fail', error: problem('dependency_failed', by.why, { hint: ALONE }) };
  const left = (facts.candidates ?? []).filter(({ agent }) => !by.tried.includes(agent));
  if (left.length === 0 && by.why !== undefined)
    return { do: 'fail', error: problem('dependency_failed', by.why, { hint: ALONE }) };
  if (left.length === 0) return { do: 'fail', error: nobodyFit(given.dependency) };
  const chosen = choice(given, left, by.tried);
  if ('do' in chosen) return chosen;
  return { do: 'ask', child: wantedProvider(given, by.next, chosen.agent), why: chosen.why };
}

export const ALONE = 'go on without it, or find another way';

/** Who is asked: whom the coordinator names, whom the offers chose, else the rule's best. */
function choice(
  given: NeedGiven,
  left: readonly Candidate[],
  tried: readonly string[],
): { agent: string; why: string } | NeedStep {
  const { task, children, facts } = given;
  const best = left[0]!;
  if (facts.offered !== undefined) {
    if ('until' in facts.offered) return { do: 'wait', until: facts.offered.until };
    if ('nobody' in facts.offered)
      return { do: 'fail', error: problem('nobody_fit', facts.offered.nobody, { hint: ALONE }) };
    const { agent } = facts.offered;
    const why = left.find((one) => one.agent === agent)?.why;
    return { agent, why: `it made the best offer${why === undefined ? '' : `: ${why}`}` };
  }
  if (facts.coordinator === undefined || tried.length > 0) return { agent: best.agent, why: best.why };
  const match = wantedMatch(given, left, facts.coordinator);
  const placed = children.get(match.id);
  if (placed === undefined) return { do: 'ask', child: match, why: 'the coordinator matches' };
  if (!isEnded(placed.state)) return { do: 'wait', tasks: [match.id] };
  const said = placed.state === 'completed' ? readAssignment(placed.task.result ?? '') : undefined;
  const isChoice = said !== undefined && said.agent !== task.from && said.agent !== HUMAN;
  if (!isChoice) return { agent: best.agent, why: `the coordinator chose nobody; by the rule: ${best.why}` };
  return { agent: said.agent, why: `${facts.coordinator} chose it${said.reason ? `: ${said.reason}` : ''}` };
}

function wantedMatch({ task, dependency }: NeedGiven, left: readonly Candidate[], coordinator: string): WantedChild {
  const asker = task.from ?? 'somebody';
  const rows = left.map(({ agent, fitness, why }) => `- ${agent}: ${fitness} of 100 (${why})`);
  const id = childId(task.id, 'match');
  return {
    id,
    role: MATCH_ROLE,
    to: coordinator,
    from: asker,
    // A conversation of its own: one that it shares may be in the middle of what waits for this.
    session: id,
    description: [
      `${asker} cannot go on without ${wordOf(dependency)}. Say with assign_provider who shall provide it.`,
      needText(task, dependency),
      `By expertise, record and room:\n${rows.join('\n')}`,
      'You may choose another agent if you know better. Choose now; you have no other tool here.',
    ].join('\n\n'),
    budget: { turns: 2 },
  };
}

function wantedProvider({ task, dependency }: NeedGiven, id: string, agent: string): WantedChild {
  const asker = task.from ?? 'somebody';
  const isReview = dependency.type === 'approval';
  return {
    id,
    role: PROVIDE_ROLE,
    to: agent,
    from: asker,
    type: dependency.type,
    description: [
      isReview
        ? `${asker} waits for your approval before it goes on.`
        : `${asker} cannot go on without ${wordOf(dependency)}, and you are asked to provide it.`,
      needText(task, dependency),
      isReview
        ? 'Judge it, then call provide_dependency: status resolved if you approve, failed if you do not, with the reason as data. Words alone are no approval.'
        : 'Answer with what is needed, complete in itself. With provide_dependency you can also say that it is only a part, or that you cannot give it.',
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
  return type === 'expertise' ? 'expertise of another' : 'data of another';
}

function nobodyFit({ expertise, dataType }: Dependency): Problem {
  const what = [...(dataType ? [dataType] : []), ...(expertise ?? [])].join(', ');
  return problem('nobody_fit', what === '' ? 'there is no other agent to ask' : `no other agent has ${what}`, {
    hint:
      what === '' ? ALONE : `${ALONE}; an agent has what stands under \`expertise\` or \`capabilities\` in its file`,
  });
}

function late({ dependency }: NeedGiven): Problem {
  return problem('timed_out', `nobody gave it by ${dependency.deadline}`, { hint: ALONE });
}

function sooner(a: string | undefined, b: string): string {
  return a !== undefined && a < b ? a : b;
}
