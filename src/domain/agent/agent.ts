/**
 * An agent as its file defines it. Every file format is read into this type; `format` records which
 * one it was, because strictness depends on it.
 */
import type { Budget } from '../budget/budget.js';
import type { AnswerSchema } from './answer-schema.js';

export type AgentFormat = 'markdown' | 'agent-yaml' | 'claude' | 'ai';

/** Whether the file was written for another program, so that strict checks would be wrong. */
export function isForeignFormat(format: AgentFormat): boolean {
  return format === 'claude' || format === 'ai';
}

export interface Advisor {
  agent: string;
  required: boolean;
  timeoutMs?: number;
}

/** The lowest score at which an agent takes an offered task, if its file sets none. */
export const DEFAULT_THRESHOLD = 6;

export const DEFAULT_TEAM_ROUNDS = 10;

export interface Team {
  members: string[];
  terminationMode: 'consensus' | 'maxRounds' | 'coordinatorDecides';
  maxRounds: number;
}

export interface ModelSettings {
  temperature?: number;
  maxTokens?: number;
  topP?: number;
  topK?: number;
  reasoning?: 'none' | 'minimal' | 'low' | 'medium' | 'high';
}

/**
 * Another model of an agent, with its own prompt and settings. An absent field has the same value
 * as for the agent's own work.
 */
export interface Mind {
  model?: string;
  /** Replaces the agent's own prompt. */
  prompt?: string;
  temperature?: number;
  maxTokens?: number;
}

export interface Agent {
  name: string;
  description: string;
  /** Model names or aliases, tried in order; empty: the workspace's default. */
  models: string[];
  settings: ModelSettings;
  /** Names of the tools that this agent may call. `lab_*` stands for tools of plugins. */
  tools: string[];
  /** Skills whose text is part of its prompt. */
  skills: string[];
  /** The agents it may delegate or route to. */
  agents: string[];
  capabilities: string[];
  expertise: string[];
  priority: 'A' | 'B' | 'C' | 'D';
  /** Labels that a machine must have to run it; empty: any machine. */
  runsOn: string[];
  maxConcurrentTasks: number;
  /** The lowest score at which it takes an offered task; `never`: only tasks that name it. */
  threshold?: number | 'never';
  advisors: Advisor[];
  router?: { destinations: string[]; fallback?: string };
  team?: Team;
  handoff?: string;
  /** Bids for offered tasks. */
  evaluator?: Mind;
  /** Judges whether a result advances the goal. */
  metacognition?: Mind;
  budget: Budget;
  /** By tool name: a stricter verdict than the policy's. */
  approve: Record<string, 'ask' | 'deny'>;
  /** It is on probation: its results are checked, and it is retired if they are rejected. */
  probation?: boolean;
  /** Its plan must be approved by the human before it may call tools. */
  planApproval?: boolean;
  context: 'none' | 'last' | 'summary' | 'full';
  session: 'per_task' | 'shared';
  /** Its result is JSON that fits this schema. */
  output?: AnswerSchema;
  /** The input that it expects of the agent that hands off to it. */
  input?: AnswerSchema;
  /** Names that `{{name}}` in the prompt may stand for, with their defaults. */
  variables: Record<string, string>;
  systemPrompt: string;
  userPromptTemplate?: string;
  type?: string;
  version?: string;
  format: AgentFormat;
  /** Path of the file, relative to the workspace. */
  file: string;
  /** sha256 of the file's bytes, in hex. A session is pinned to it. */
  definition: string;
}

/**
 * An agent whose work is wrapped by a pattern; its own turn-taking is then a child with role
 * `work`.
 */
export function hasPattern(agent: Agent): boolean {
  return (
    agent.advisors.length > 0 ||
    agent.router !== undefined ||
    agent.team !== undefined ||
    agent.handoff !== undefined ||
    agent.metacognition !== undefined
  );
}

/** A terminal agent gives the final answer itself. */
export function isTerminal(agent: Agent): boolean {
  return agent.router === undefined && agent.handoff === undefined;
}
