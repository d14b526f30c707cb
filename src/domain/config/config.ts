/** What `guild.yaml` says, with every default filled in. */
import type { Budget } from '../budget/budget.js';
import type { Price } from '../budget/price.js';
import type { ModelSettings } from '../agent/agent.js';

/** The APIs a provider may speak. `scripted` plays a script file and needs no network. */
export const PROVIDER_KINDS = ['openai', 'anthropic', 'google', 'openai-compatible', 'scripted'] as const;

export interface Provider {
  kind: (typeof PROVIDER_KINDS)[number];
  baseUrl?: string;
  /** Name of the environment variable that holds the key; the key itself is never in a file. */
  keyEnv?: string;
  /** For `scripted`: path of the script, relative to the workspace. */
  script?: string;
  headers?: Record<string, string>;
}

export interface ModelAlias {
  /** `provider/model`, or another alias; a list is tried in order. */
  models: string[];
  settings: ModelSettings;
}

interface Limits {
  /** Tasks that advance at the same time in one process. */
  parallel: number;
  depth: number;
  /** How many takers in a row may die with a task that comes no further; with the last of them it fails, with its history. */
  attempts: number;
  /** Turns of one task where the agent sets none. */
  turns: number;
  maxTaskBytes: number;
  maxResultBytes: number;
  /** Children of one task. */
  children: number;
  /** Tasks that may be made under one root in a minute. */
  tasksPerMinute: number;
}

export interface ModelTimeouts {
  /** The whole call. */
  callMs: number;
  /** Silence inside a stream. */
  stallMs: number;
  /** Tries in all, for failures that may pass. */
  tries: number;
}

/** How agents find each other (`coordination:` in guild.yaml). */
export interface Coordination {
  /** hierarchical: a coordinator agent matches who needs with who has; mesh: peers offer themselves and the best offer wins. */
  mode: 'hierarchical' | 'mesh';
  /** The agent that is asked in hierarchical mode; absent: the rule alone decides. */
  coordinator?: string;
  /** How long peers may take to offer themselves. */
  offerMs: number;
  /** After this, help that nobody gave goes to the coordinator, else to the human. */
  helpMs: number;
  /** How long an agent may take to bid for a task that is offered. */
  bidMs: number;
  /** How long a process may take to agree that a root is over; then it is left out until it is heard again. */
  voteMs: number;
}

/** A channel that people named (`channels:` in guild.yaml). */
export interface ChannelRules {
  /** Agents that may write; absent: all. `human` always may. */
  writers?: string[];
  /** Agents to whose conversations its notes are added; absent: none, people read it. */
  readers?: string[];
  /** How long a note is kept. */
  ttlMs?: number;
  maxBytes: number;
}

export interface Config {
  /** Model or alias for agents that name none. */
  model: string;
  aliases: Record<string, ModelAlias>;
  providers: Record<string, Provider>;
  prices: Record<string, Price>;
  /** Tokens that a model takes in at once, where ours is wrong or unknown. */
  windows: Record<string, number>;
  timeouts: ModelTimeouts;
  limits: Limits;
  budget: Budget;
  /** Who takes a task that is addressed to nobody when several could. */
  defaultAgent?: string;
  search: 'lexical' | 'semantic';
  /** How often `watch` looks at everything, whatever the doorbell says. */
  rescanMs: number;
  store: 'files';
  /** History in git. `author` is `Name <mail>`. */
  git: { enabled: boolean; author?: string };
  inbox: {
    /** Who gets messages that name nobody; default: the planner, else the default agent. */
    agent?: string;
    /** `ask`: the human lets each message in before an agent sees it. */
    admit: 'auto' | 'ask';
  };
  /** Who is asked to check in; default: `planner`, else an agent of that type. */
  planner?: string;
  /** Planner check-ins; absent: only where `storage/planner-checkin.yaml` exists. */
  checkins?: boolean;
  /** Plugins to load, by name, with what the file says to each. Nothing under `plugins/` runs unless it is named here. */
  plugins: Record<string, Record<string, unknown>>;
  coordination: Coordination;
  channels: Record<string, ChannelRules>;
}

export const DEFAULT_COORDINATION: Coordination = {
  mode: 'mesh',
  offerMs: 2000,
  helpMs: 300_000,
  bidMs: 60_000,
  voteMs: 10_000,
};
export const DEFAULT_NOTE_BYTES = 64 * 1024;

export const DEFAULT_LIMITS: Limits = {
  parallel: 16,
  depth: 5,
  attempts: 3,
  turns: 50,
  maxTaskBytes: 1024 * 1024,
  maxResultBytes: 16 * 1024,
  children: 100,
  tasksPerMinute: 300,
};
