/** The steps of a conversation, and the facts from which `nextStep` decides. */
import type { Agent } from '../../../domain/agent/agent.js';
import type { Budget } from '../../../domain/budget/budget.js';
import type { Price } from '../../../domain/budget/price.js';
import type { Problem } from '../../../domain/problem.js';
import type { Message, MessageKind, ToolCall } from '../../../domain/session/session.js';
import type { Task } from '../../../domain/task/task.js';

/** A conversation as the rules see it. */
export interface Talk {
  task: Task;
  /** The agent as it was when the conversation started. */
  agent: Agent;
  messages: readonly Message[];
  /** All messages of the conversation, which several tasks may share. */
  all: readonly Message[];
  /** The tools that the agent may call in this task. */
  tools: readonly string[];
  changes(tool: string): boolean;
}

export interface Facts {
  /** The task was cancelled, or the process is stopping. */
  stop?: Problem | 'leaving' | undefined;
  isPaused?: boolean;
  /** The human's answer to the last plan. */
  planVerdict?: PlanVerdict;
  /** Every message from people and other agents to this task is in the conversation. */
  areMessagesHeard?: true;
  background?: BackgroundTasks;
  /** Every note that the agent should read now is in the conversation. */
  areNotesHeard?: true;
  budget?: TurnBudget;
  /** Changes that the agent has not been told about; looked up with the notes, before a turn. */
  news?: Draft[];
  /** The human's answer to spending an unknown amount. */
  priceVerdict?: 'yes' | 'no';
}

/** `plan`: the human's edited version. */
export type PlanVerdict = { approved: true; plan?: string } | { approved: false; why: string };

/** Tasks that the agent created without waiting for them. */
export interface BackgroundTasks {
  /** Messages about ended tasks that are not in the conversation yet. */
  results: Draft[];
  open: string[];
}

/** The limits of the next model call. */
export interface TurnBudget {
  left: Budget;
  /** Time to reserve for a last answer. */
  lastMs: number;
  isStopAsked: boolean;
  promptTokens: number;
  /** The agent's limit for one answer. */
  maxTokens?: number | undefined;
  /** Price of the most expensive model that may be asked. */
  price?: Price | undefined;
  /** Models that may be asked and whose price is not known. */
  unpriced?: readonly string[];
}

/** A message before it is stamped with the time. */
export type Draft = Omit<Message, 'timestamp'>;

/** A message from the engine. The rules read its kind; the model reads only its text. */
export function controlMessage(kind: MessageKind, content: string): Draft {
  return { role: 'user', from: 'guildhall', kind, content };
}

export type Step = Action | Ending;

export type Action =
  | SayStep
  | { do: 'submit_plan'; plan: string; number: number }
  | { do: 'execute_calls'; calls: ToolCall[] }
  | { do: 'hear_people' }
  | { do: 'look_up_background' }
  /** `isAnswered`: only notes about this work still matter. */
  | { do: 'hear_notes'; isAnswered: boolean }
  | { do: 'look_up_budget' }
  /** The budget of money cannot be kept: ask the human. */
  | { do: 'ask_price'; models: readonly string[] }
  | TurnStep;

/** `failure`: the task fails once the messages are written. */
export interface SayStep {
  do: 'say';
  messages: Draft[];
  failure?: Problem;
}

/** `isLast`: the turn must end with an answer. */
export interface TurnStep {
  do: 'take_turn';
  isLast: boolean;
  withTools: boolean;
  left: Budget;
  /** Limit for the answer that keeps the turn within the budget. */
  maxTokens?: number;
}

/** The task leaves this process. */
export type Ending =
  | { do: 'answer'; text: string }
  | FailStep
  /** The task was cancelled. */
  | { do: 'stop'; problem: Problem }
  | { do: 'put_back'; why: string }
  | { do: 'wait'; tasks: string[] };

export interface FailStep {
  do: 'fail';
  problem: Problem;
  /** The agent's last words; the record keeps them. */
  said?: string;
}
