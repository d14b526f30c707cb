/**
 * Team: members deliberate in rounds. In each round all active members take a turn in parallel,
 * each in its own conversation, and see only what the others broadcast in the round before. The
 * team ends when all vote to conclude, the coordinator concludes, or the rounds are used up. Then
 * the coordinator works.
 */
import { parseMapping } from '../../domain/mapping.js';
import type { Agent } from '../../domain/agent/agent.js';
import { defined } from '../../domain/defined.js';
import { childId } from '../../domain/task/id.js';
import type { Message } from '../../domain/session/session.js';
import type { Placed, Task, WantedChild } from '../../domain/task/task.js';
import { fencedRequest } from './first-request.js';
import { errorText, fence, gather, type Children } from './gather.js';

/** A member's contribution in one round. Its task has this as its result, in JSON. */
interface Contribution {
  broadcasts: string[];
  votes: boolean;
  reason?: string;
}

export interface Note {
  round: number;
  from: string;
  type: 'update' | 'vote' | 'failure' | 'coordinator';
  message: string;
  at?: string;
}

/** `notes`: the statements of earlier rounds. */
type TeamStep =
  | { kind: 'ask'; children: WantedChild[]; notes: Note[] }
  | { kind: 'concluded'; children: WantedChild[]; notes: Note[]; why: string };

export function teamStep(task: Task, agent: Agent, request: string, children: Children): TeamStep {
  const { members, maxRounds, terminationMode } = agent.team!;
  const asked: WantedChild[] = [];
  const notes: Note[] = [];
  let active = [...members];
  for (let round = 1; round <= maxRounds && active.length > 0; round++) {
    const wanted = active.map((name) => member(task, agent, name, round, request, active, notes));
    asked.push(...wanted);
    const gathered = gather(wanted, children);
    if (!gathered.complete) return { kind: 'ask', children: asked, notes };
    const turns = gathered.ended.map((placed) => ({
      name: placed.task.to!,
      placed,
      contribution: contributionOf(placed),
    }));
    for (const { placed } of turns) notes.push(...notesOf(round, placed));
    active = turns.filter(({ placed }) => placed.state === 'completed').map(({ name }) => name);
    const allVote =
      active.length > 0 && turns.every(({ placed, contribution }) => placed.state === 'failed' || contribution.votes);
    if (terminationMode === 'consensus' && allVote)
      return { kind: 'concluded', children: asked, notes, why: `all voted to conclude in round ${round}` };
    if (terminationMode !== 'coordinatorDecides' || round === maxRounds || active.length === 0) continue;
    const asks = coordinator(task, agent, round, notes);
    asked.push(asks);
    const decided = gather([asks], children);
    if (!decided.complete) return { kind: 'ask', children: asked, notes };
    const verdict = contributionOf(decided.ended[0]!);
    notes.push(...coordinatorNotes(round, agent.name, decided.ended[0]!, verdict));
    if (verdict.votes)
      return { kind: 'concluded', children: asked, notes, why: `the coordinator concluded in round ${round}` };
  }
  return {
    kind: 'concluded',
    children: asked,
    notes,
    why: active.length === 0 ? 'no member is left' : `all ${maxRounds} rounds are over`,
  };
}

function member(
  task: Task,
  agent: Agent,
  name: string,
  round: number,
  request: string,
  active: string[],
  notes: Note[],
): WantedChild {
  const { terminationMode, maxRounds } = agent.team!;
  const others = active.filter((other) => other !== name);
  const first = [
    fencedRequest(task, request),
    `Discuss this${others.length === 0 ? '' : ` with ${listed(others)}`}. ${modeText(agent)}`,
  ].join('\n\n');
  const news = notes.filter((note) => note.round === round - 1 && note.from !== name);
  const later = news.length === 0 ? 'Nobody said anything.' : news.map((note) => fenced(task, note)).join('\n');
  return {
    id: childId(task.id, `member-${name}-${round}`),
    role: terminationMode === 'maxRounds' ? 'speaker' : 'member',
    to: name,
    session: childId(task.session ?? task.id, `member-${name}`),
    description:
      round === 1
        ? first
        : `Round ${round} of ${maxRounds}${others.length === 0 ? ' (you are the only member left)' : ''}:\n${later}`,
  };
}

function modeText({ name, team }: Agent): string {
  const { terminationMode, maxRounds } = team!;
  const then = `then ${name} answers.`;
  switch (terminationMode) {
    case 'consensus':
      return `Round 1 of at most ${maxRounds}; ${then} The discussion ends earlier if all members call vote_conclude in the same round; you can broadcast in the same turn.`;
    case 'maxRounds':
      return `Round 1 of ${maxRounds}; ${then}`;
    case 'coordinatorDecides':
      return `Round 1 of at most ${maxRounds}; ${then} After each round, ${name} decides whether to end the discussion; call vote_conclude if you think that it should end.`;
  }
}

/** `ann, ben and cyd`. */
function listed(names: readonly string[]): string {
  return names.join(', ').replace(/, ([^,]*)$/, ' and $1');
}

function coordinator(task: Task, agent: Agent, round: number, notes: Note[]): WantedChild {
  const news = notes.filter((note) => note.round === round).map((note) => fenced(task, note));
  return {
    id: childId(task.id, `coordinator-${round}`),
    role: 'coordinator',
    to: agent.name,
    session: childId(task.session ?? task.id, 'coordinator'),
    description: [
      // Later rounds continue the conversation, which has the request.
      ...(round === 1 ? [`You coordinate a team on this request:\n\n${fencedRequest(task)}`] : []),
      `Round ${round} of at most ${agent.team!.maxRounds} is over. The members said:\n\n${news.join('\n\n') || 'Nothing.'}`,
      'If this is enough to decide, call conclude_team. Otherwise broadcast what the members should look at next.',
    ].join('\n\n'),
  };
}

/** The request for the coordinator's own work: the whole discussion, with speakers. */
export function discussionRequest(task: Task, request: string, notes: readonly Note[], why: string): string {
  const said = (round: number): string[] =>
    notes.filter((note) => note.round === round).map((note) => fenced(task, note));
  const discussion = [...new Set(notes.map(({ round }) => round))].map((round) =>
    [`Round ${round}:`, ...said(round)].join('\n'),
  );
  return [
    fencedRequest(task, request),
    `Your team has discussed this: ${why}. In order, the members said:`,
    ...discussion,
    'Now give the final answer yourself.',
  ].join('\n\n');
}

/**
 * Sums up a member's round. A member that answers without broadcasting has broadcast its answer.
 */
export function contribution(messages: readonly Message[], answer: string): string {
  // A broadcast to a channel is not addressed to the team.
  const calls = messages
    .flatMap((message) => message.toolCalls ?? [])
    .filter((call) => typeof call.arguments['channel'] !== 'string');
  const words = (name: string, key: string): string[] =>
    calls.flatMap((call) =>
      call.name === name && typeof call.arguments[key] === 'string' ? [call.arguments[key]] : [],
    );
  const broadcasts = words('broadcast', 'message');
  const votes = calls.some((call) => call.name === 'vote_conclude' || call.name === 'conclude_team');
  const reason = [...words('vote_conclude', 'reason'), ...words('conclude_team', 'reason')].at(-1);
  const statements = broadcasts.length > 0 || answer.trim() === '' ? broadcasts : [answer];
  return JSON.stringify({ broadcasts: statements, votes, reason: reason || undefined } satisfies Contribution);
}

function contributionOf({ task, state }: Placed): Contribution {
  const result = parseMapping(task.result ?? '') as Partial<Contribution> | undefined;
  if (state === 'completed' && Array.isArray(result?.broadcasts)) return result as Contribution;
  // The text itself is the broadcast.
  return { broadcasts: task.result ? [task.result] : [], votes: false };
}

/** A member's round as the others see it. */
export function spoken(placed: Placed): string {
  const { broadcasts, votes, reason } = contributionOf(placed);
  return [...broadcasts, ...(votes ? [voteText(reason)] : [])].join('\n\n');
}

export function fenced(task: Task, { type, from, message }: Note): string {
  return fence(type, from, message, task.id);
}

/** The notes that a member's ended round adds to the discussion. */
export function notesOf(round: number, placed: Placed): Note[] {
  const { task, state } = placed;
  const by = defined({ round, from: task.to ?? 'nobody', at: task.ended_at });
  if (state === 'failed') {
    const message = `${by.from} failed and is no longer in the team: ${errorText(task.error)}`;
    return [{ ...by, type: 'failure', message }];
  }
  const { broadcasts, votes, reason } = contributionOf(placed);
  const notes: Note[] = broadcasts.map((message) => ({ ...by, type: 'update', message }));
  if (votes) notes.push({ ...by, type: 'vote', message: voteText(reason) });
  return notes;
}

function voteText(reason: string | undefined): string {
  return `votes to conclude${reason ? `: ${reason}` : ''}`;
}

/** A coordinator that fails in a round decides nothing; the members continue. */
function coordinatorNotes(round: number, from: string, { task, state }: Placed, verdict: Contribution): Note[] {
  if (state === 'completed')
    return verdict.broadcasts.map((message) => ({ round, from, type: 'coordinator', message }));
  return [
    { round, from, type: 'failure', message: `${from} could not decide whether to continue: ${errorText(task.error)}` },
  ];
}
