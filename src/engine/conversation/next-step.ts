/**
 * Decides the next step of a conversation. This is a pure function: the same messages and facts
 * give the same step, so any process can continue a conversation. A fact that is expensive
 * to look up is learned only if no earlier rule applies, and is forgotten when the conversation
 * changes.
 */
import { finalAnswer, openCalls, reportedAnswer } from '../../domain/session/session.js';
import { allowance } from './allowance.js';
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
  const reminded = reminder(talk.task, talk.messages);
  if (reminded !== undefined) return reminded;
  return answerStep(talk, facts, background.open) ?? turnStep(talk, facts, planning.do === 'take_plan_turn');
}

/** Undefined while there is no answer. */
function answerStep({ task, messages }: Talk, facts: Facts, open: string[]): Step | undefined {
  const text = reportedAnswer(messages) ?? finalAnswer(messages);
  if (text === undefined) return undefined;
  if (open.length > 0) return { do: 'wait', tasks: open };
  // Notes about this work that arrive before its end belong to it.
  if (task.parent === undefined && !facts.areNotesHeard) return { do: 'hear_notes', isAnswered: true };
  return { do: 'answer', text };
}

/** An existing answer is always kept, so reasons to stop count only before the next model call. */
function turnStep(talk: Talk, { stop, isPaused, areNotesHeard, budget }: Facts, isPlanTurn: boolean): Step {
  if (stop === 'leaving') return { do: 'put_back', why: 'the process is stopping' };
  if (stop !== undefined) return { do: 'stop', problem: stop };
  if (isPaused) return { do: 'put_back', why: `${talk.agent.name} is paused` };
  if (!areNotesHeard) return { do: 'hear_notes', isAnswered: false };
  if (budget === undefined) return { do: 'look_up_budget' };
  const allowed = allowance(talk, budget);
  return allowed.do === 'take_turn' && isPlanTurn ? { ...allowed, withTools: false } : allowed;
}
