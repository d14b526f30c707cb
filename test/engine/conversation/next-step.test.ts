/** The agent loop without a disk: messages and a few facts determine the next step. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Agent } from '../../../src/domain/agent/agent.js';
import { problem } from '../../../src/domain/problem.js';
import type { Message, MessageKind, ToolCall } from '../../../src/domain/session/session.js';
import { makeTask, type Task } from '../../../src/domain/task/task.js';
import { nextStep } from '../../../src/engine/conversation/decide/next-step.js';
import type { Facts, Step, TurnBudget } from '../../../src/engine/conversation/decide/step.js';
import { agent } from '../../kit/rule-play.js';

const AMPLE: TurnBudget = { left: {}, lastMs: 0, isStopAsked: false, promptTokens: 100 };
const NO_TURNS: TurnBudget = { ...AMPLE, left: { turns: 0 } };
/** Nothing is left to look up: the next step is a turn or an end. */
const QUIET: Facts = {
  areMessagesHeard: true,
  background: { results: [], open: [] },
  areNotesHeard: true,
  budget: AMPLE,
};
const CANCELLED = problem('cancelled', 'stopped by human');

const call: ToolCall = { id: 'c1', name: 'read_file', arguments: { path: 'a.md' } };
const asked = user('Write a page');
const called = assistant('', call);
const result: Message = { role: 'tool', name: 'read_file', toolCallId: 'c1', content: 'text' };
const answered = assistant('Here it is');
const loop = [1, 2, 3].flatMap((n): Message[] => [
  assistant('', { ...call, id: `l${n}` }),
  { ...result, toolCallId: `l${n}` },
]);

interface Row {
  promise: string;
  messages: Message[];
  facts?: Facts;
  agent?: Partial<Agent>;
  task?: Partial<Task>;
  tools?: string[];
  /** The parts of a step that are compared. */
  step: Partial<Step> & { do: Step['do'] };
  says?: MessageKind;
}

const ORDER: Row[] = [
  { promise: 'messages from people are read first', messages: [asked], facts: {}, step: { do: 'hear_people' } },
  {
    promise: 'then background tasks are looked up',
    messages: [asked],
    facts: { areMessagesHeard: true },
    step: { do: 'look_up_background' },
  },
  {
    promise: 'then notes are read',
    messages: [asked],
    facts: { ...QUIET, areNotesHeard: undefined },
    step: { do: 'hear_notes', isAnswered: false },
  },
  {
    promise: 'then the budget is looked up',
    messages: [asked],
    facts: { ...QUIET, budget: undefined },
    step: { do: 'look_up_budget' },
  },
  {
    promise: 'then a turn is taken',
    messages: [asked],
    step: { do: 'take_turn', isLast: false, withTools: true },
  },
];

const CALLS: Row[] = [
  {
    promise: 'open calls are executed before new messages are read',
    messages: [asked, called],
    facts: {},
    step: { do: 'execute_calls', calls: [call] },
  },
  {
    promise: 'open calls are executed even if the process is stopping: a turn is never left half done',
    messages: [asked, called],
    facts: { stop: 'leaving' },
    step: { do: 'execute_calls' },
  },
  { promise: 'answered calls lead to the next turn', messages: [asked, called, result], step: { do: 'take_turn' } },
  {
    promise: 'a final tool result is the answer',
    messages: [asked, called, { ...result, final: true, content: 'the report' }],
    step: { do: 'answer', text: 'the report' },
  },
];

const ANSWERS: Row[] = [
  {
    promise: 'text without calls is the answer',
    messages: [asked, answered],
    step: { do: 'answer', text: 'Here it is' },
  },
  {
    promise: 'an answer waits for background tasks',
    messages: [asked, answered],
    facts: { ...QUIET, background: { results: [], open: ['t.call-1'] } },
    step: { do: 'wait', tasks: ['t.call-1'] },
  },
  {
    promise: 'the result of a background task is reported before the answer counts',
    messages: [asked, answered],
    facts: { ...QUIET, background: { results: [user('it ended')], open: [] } },
    step: { do: 'say', messages: [user('it ended')] },
  },
  {
    promise: 'a root reads notes about its work before it answers',
    messages: [asked, answered],
    facts: { ...QUIET, areNotesHeard: undefined },
    step: { do: 'hear_notes', isAnswered: true },
  },
  {
    promise: 'a child answers without reading notes',
    messages: [asked, answered],
    task: { parent: 'top' },
    facts: { ...QUIET, areNotesHeard: undefined },
    step: { do: 'answer' },
  },
  {
    promise: 'an answer counts even if the task was cancelled meanwhile',
    messages: [asked, answered],
    facts: { ...QUIET, stop: CANCELLED },
    step: { do: 'answer' },
  },
];

const STOPS: Row[] = [
  {
    promise: 'no turn is taken once the process is stopping',
    messages: [asked],
    facts: { ...QUIET, stop: 'leaving' },
    step: { do: 'put_back' },
  },
  {
    promise: 'a cancelled task stops before the next turn',
    messages: [asked],
    facts: { ...QUIET, stop: CANCELLED },
    step: { do: 'stop', problem: CANCELLED },
  },
  {
    promise: 'a paused agent takes no turn',
    messages: [asked],
    facts: { ...QUIET, isPaused: true },
    step: { do: 'put_back', why: 'ana is paused' },
  },
];

const BUDGETS: Row[] = [
  {
    promise: 'a used-up budget asks for a last answer',
    messages: [asked, called, result],
    facts: { ...QUIET, budget: NO_TURNS },
    step: { do: 'say' },
    says: 'last_turn',
  },
  {
    promise: 'the last turn has no tools',
    messages: [asked, called, result, user('Answer now', 'last_turn')],
    facts: { ...QUIET, budget: NO_TURNS },
    step: { do: 'take_turn', isLast: true, withTools: false },
  },
  {
    promise: 'a last turn that the budget does not cover fails the task',
    messages: [asked, user('Answer now', 'last_turn')],
    facts: { ...QUIET, budget: { ...AMPLE, left: { tokens: 50 } } },
    step: { do: 'fail' },
  },
  {
    promise: 'a request to stop asks for a last answer',
    messages: [asked],
    facts: { ...QUIET, budget: { ...AMPLE, isStopAsked: true } },
    step: { do: 'say' },
    says: 'last_turn',
  },
  {
    promise: 'a router without budget fails instead of answering in text',
    messages: [asked],
    agent: { router: { destinations: ['ben'] } },
    task: { role: 'work', parent: 'top' },
    facts: { ...QUIET, budget: NO_TURNS },
    step: { do: 'fail' },
  },
  {
    promise: 'an agent that repeats itself is warned',
    messages: [asked, ...loop],
    step: { do: 'say' },
    says: 'loop_warning',
  },
  {
    promise: 'a warned agent gets another turn',
    messages: [asked, ...loop, user('You are repeating yourself', 'loop_warning')],
    step: { do: 'take_turn' },
  },
  {
    promise: 'a warned agent that continues to repeat itself fails',
    messages: [asked, ...loop, user('You are repeating yourself', 'loop_warning'), ...loop.slice(0, 2)],
    step: { do: 'fail' },
  },
  {
    promise: 'the wording of a warning does not matter',
    messages: [asked, ...loop, user('Another language', 'loop_warning'), ...loop.slice(0, 2)],
    step: { do: 'fail' },
  },
];

const planner = { planApproval: true as const };
const request = user('Show your plan', 'plan_request');
const plan = assistant('First this, then that');
const PLANS: Row[] = [
  {
    promise: 'a plan is asked for before the first turn',
    messages: [asked],
    agent: planner,
    step: { do: 'say' },
    says: 'plan_request',
  },
  {
    promise: 'the turn for the plan has no tools',
    messages: [asked, request],
    agent: planner,
    step: { do: 'take_turn', isLast: false, withTools: false },
  },
  {
    promise: 'calls before the approval are refused',
    messages: [asked, request, called],
    agent: planner,
    step: {
      do: 'say',
      messages: [
        {
          role: 'tool',
          name: 'read_file',
          toolCallId: 'c1',
          content: 'not_allowed: your plan is not approved yet; nothing was done',
          isError: true,
          code: 'not_allowed',
        },
      ],
    },
  },
  {
    promise: 'a plan goes to the human',
    messages: [asked, request, plan],
    agent: planner,
    step: { do: 'submit_plan', plan: 'First this, then that', number: 1 },
  },
  {
    promise: 'an empty plan is asked for again',
    messages: [asked, request, assistant(' ')],
    agent: planner,
    step: { do: 'say' },
    says: 'plan_request',
  },
  {
    promise: 'a refused plan is asked for again',
    messages: [asked, request, plan],
    agent: planner,
    facts: { planVerdict: { approved: false, why: 'too vague' } },
    step: { do: 'say' },
    says: 'plan_request',
  },
  {
    promise: 'the third refusal fails the task',
    messages: [asked, request, plan, request, plan, request, plan],
    agent: planner,
    facts: { planVerdict: { approved: false, why: 'too vague' } },
    step: { do: 'fail' },
  },
  {
    promise: 'an approval is announced to the agent',
    messages: [asked, request, plan],
    agent: planner,
    facts: { planVerdict: { approved: true } },
    step: { do: 'say' },
    says: 'plan_approved',
  },
  {
    promise: 'an approved plan is followed with tools',
    messages: [asked, request, plan, user('Go', 'plan_approved')],
    agent: planner,
    step: { do: 'take_turn', withTools: true },
  },
  {
    promise: 'a last turn ends the planning',
    messages: [asked, request, user('Answer now', 'last_turn')],
    agent: planner,
    step: { do: 'take_turn', isLast: true, withTools: false },
  },
  {
    promise: 'a coordinator only chooses, so it needs no plan',
    messages: [asked],
    agent: planner,
    task: { role: 'coordinator', parent: 'top' },
    step: { do: 'take_turn' },
  },
];

const check = { role: 'check', parent: 'top' };
const REQUIRED: Row[] = [
  {
    promise: 'an answer in text gets a reminder to make the call',
    messages: [asked, assistant('looks fine')],
    task: check,
    step: { do: 'say' },
    says: 'required_call_reminder',
  },
  {
    promise: 'the second answer in text fails the task',
    messages: [asked, assistant('looks fine'), user('Call it', 'required_call_reminder'), assistant('still fine')],
    task: check,
    step: { do: 'say', failure: problem('model_failed', 'no give_verdict call in 2 turns, only text') },
    says: 'required_call_missing',
  },
  {
    promise: 'a retry restarts the count',
    messages: [asked, assistant('fine'), assistant('fine'), user('No answer', 'required_call_missing')],
    task: { ...check, retries: 1 },
    step: { do: 'take_turn' },
  },
  {
    promise: 'after a crash between the message and the record, the task fails without another call',
    messages: [asked, assistant('fine'), assistant('fine'), user('No answer', 'required_call_missing')],
    task: check,
    step: { do: 'fail', problem: problem('model_failed', 'no give_verdict call in 2 turns, only text') },
  },
  {
    promise: 'a readable verdict in text counts as the call',
    messages: [asked, assistant('{"advances": true, "reason": "done"}')],
    task: check,
    step: { do: 'answer' },
  },
];

const TABLE = { ORDER, CALLS, ANSWERS, STOPS, BUDGETS, PLANS, REQUIRED };
for (const [group, rows] of Object.entries(TABLE))
  for (const { promise, messages, facts = QUIET, agent: given, task, tools = ['read_file'], step, says } of rows)
    test(`${group.toLowerCase()}: ${promise}`, () => {
      const talk = {
        task: makeTask({ id: 't', description: 'x', created_at: '2026-01-01T00:00:00.000Z', ...task }),
        agent: agent('ana', given),
        messages,
        all: messages,
        tools,
        changes: () => false,
      };
      const before = JSON.stringify([talk, facts]);
      const next = nextStep(talk, facts);
      assert.deepEqual(pick(next, Object.keys(step)), step);
      if (says !== undefined) assert.equal(next.do === 'say' && next.messages[0]!.kind, says);
      assert.deepEqual(nextStep(talk, facts), next, 'the same input gives the same step');
      assert.equal(JSON.stringify([talk, facts]), before, 'the input is not changed');
    });

function pick(step: Step, keys: string[]): Record<string, unknown> {
  const fields: Record<string, unknown> = { ...step };
  return Object.fromEntries(keys.map((key) => [key, fields[key]]));
}

function user(content: string, kind?: MessageKind): Message {
  return { role: 'user', content, ...(kind ? { from: 'guildhall', kind } : {}) };
}

function assistant(content: string, ...toolCalls: ToolCall[]): Message {
  return { role: 'assistant', content, ...(toolCalls.length > 0 ? { toolCalls } : {}) };
}
