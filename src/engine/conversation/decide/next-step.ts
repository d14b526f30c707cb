/**
 * Decides the next step of a conversation. This is a pure function: the same messages and facts
 * give the same step, so any process can continue a conversation. A fact that is expensive
 * to look up is learned only if no earlier rule applies, and is forgotten when the conversation
 * changes.
 */
import { problem, type Problem } from '../../../domain/problem.js';
import { finalAnswer, openCalls, reported } from '../../../domain/session/session.js';
import { roleFacts } from '../../../domain/task/role.js';
import { unknownPrice } from '../../approvals/ask-price.js';
import { readAnswer } from '../../../tools/core/answer.js';
import { allowance } from './allowance.js';
import { failure } from './failure.js';
import { plainAnswerStep } from './plain-answer.js';
import { planStep } from './plan.js';
import { reminder } from './required-call.js';
import type { Facts, Step, Talk } from './step.js';

export function nextStep(talk: Talk, facts: Facts): Step {
  // A plan comes before everything else: nothing may be called until it is approved.
  const planning = planStep(talk, facts.planVerdict);
  if (planning.do !== 'go_on' && planning.do !== 'take_plan_turn') return planning;
  // Calls come before new messages: a provider accepts nothing between a call and its result.
  const calls = openCalls(talk.messages);
  if (calls.length > 0) return { do: 'execute_calls', calls };
  if (!facts.areMessagesHeard) return { do: 'hear_people' };
  const { background } = facts;
  if (background === undefined) return { do: 'look_up_background' };
  if (background.results.length > 0) return { do: 'say', messages: background.results };
  const reminded = reminder(talk);
  if (reminded !== undefined) return reminded;
  return answerStep(talk, facts, background.open) ?? turnStep(talk, facts, planning.do === 'take_plan_turn');
}

/** Undefined while there is no answer. */
function answerStep(talk: Talk, facts: Facts, open: string[]): Step | undefined {
  const { task, agent, messages } = talk;
  const report = reported(messages);
  const text = report?.text ?? finalAnswer(messages) ?? roundAnswer(talk);
  if (text === undefined) return undefined;
  if (open.length > 0) return { do: 'wait', tasks: open };
  const isPlain = report === undefined && finalAnswer(messages) !== undefined;
  const refused = isPlain ? plainAnswerStep(talk, text) : undefined;
  if (refused !== undefined) return refused;
  // Notes about this work that arrive before its end belong to it.
  if (task.parent === undefined && !facts.areNotesHeard) return { do: 'hear_notes', isAnswered: true };
  if (report?.success === false) return failure(talk, gaveUp(agent.name, text), text);
  return { do: 'answer', text: isPlain ? asDeclared(agent, text) : text };
}

/** JSON without the code block that models like to put around it. */
function asDeclared({ output }: Talk['agent'], text: string): string {
  const answer = output === undefined ? undefined : readAnswer(output, text);
  return answer !== undefined && 'json' in answer ? answer.json : text;
}

/** In a round of a team, a turn that only broadcasts and votes is the member's contribution. */
function roundAnswer({ task, messages }: Talk): string | undefined {
  if (!roleFacts(task.role).isRound) return undefined;
  const at = messages.findLastIndex((message) => message.role === 'assistant');
  const { toolCalls = [], content } = messages[at] ?? { content: '' };
  const results = messages.slice(at + 1);
  const isSaid =
    toolCalls.length > 0 &&
    toolCalls.every((call) => TEAM_WORDS.has(call.name) && call.arguments['channel'] === undefined);
  return isSaid && results.every(({ role, isError }) => role === 'tool' && isError !== true) ? content : undefined;
}

const TEAM_WORDS: ReadonlySet<string> = new Set(['broadcast', 'vote_conclude']);

function gaveUp(agent: string, report: string): Problem {
  const line = report.replace(/\s+/g, ' ').trim();
  return problem('gave_up', `${agent} could not do it: ${line.length > 300 ? `${line.slice(0, 299)}…` : line}`);
}

/** An existing answer is always kept, so reasons to stop count only before the next model call. */
function turnStep(talk: Talk, facts: Facts, isPlanTurn: boolean): Step {
  const { stop, isPaused, areNotesHeard, news = [], budget } = facts;
  if (stop === 'leaving') return { do: 'put_back', why: 'it was stopped' };
  if (stop !== undefined) return { do: 'stop', problem: stop };
  if (isPaused) return { do: 'put_back', why: `${talk.agent.name} is paused` };
  if (!areNotesHeard) return { do: 'hear_notes', isAnswered: false };
  if (news.length > 0) return { do: 'say', messages: news };
  if (budget === undefined) return { do: 'look_up_budget' };
  const allowed = allowance(talk, budget);
  const { unpriced = [], left } = budget;
  if (allowed.do === 'take_turn' && left.microUsd !== undefined && unpriced.length > 0) {
    if (facts.priceVerdict === undefined) return { do: 'ask_price', models: unpriced };
    if (facts.priceVerdict === 'no') return { do: 'fail', problem: unknownPrice(unpriced) };
  }
  return allowed.do === 'take_turn' && isPlanTurn ? { ...allowed, withTools: false } : allowed;
}
