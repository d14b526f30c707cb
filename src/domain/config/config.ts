/** The settings of `guild.yaml`, with all defaults filled in. */
import type { Budget } from '../budget/budget.js';
import type { Price } from '../budget/price.js';
import type { ModelSettings } from '../agent/agent.js';
import type { Schedule } from '../schedule.js';
import type { Task } from '../task/task.js';
import type { NotifyChannels, NotifyRules } from './notify.js';

/** The APIs a provider may speak. `scripted` plays a script file and needs no network. */
export const PROVIDER_KINDS = [
  'openai',
  'anthropic',
  'google',
  'mistral',
  'deepseek',
  'openrouter',
  'groq',
  'xai',
  'azure',
  'bedrock',
  'vertex',
  'openai-compatible',
  'scripted',
] as const;
export const OPENAI_APIS = ['chat', 'responses'] as const;

export interface Provider {
  kind: (typeof PROVIDER_KINDS)[number];
  baseUrl?: string;
  /** The environment variable with the key; the key itself is never in a file. */
  keyEnv?: string;
  /** For `scripted`: path of the script, relative to the workspace. */
  script?: string;
  headers?: Record<string, string>;
  /** For `openai` with a base URL: the API that the server there speaks. */
  api?: (typeof OPENAI_APIS)[number];
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
  /**
   * How many processes in a row may die with a task that makes no progress; then the task fails.
   */
  attempts: number;
  /** Turns of one task, if the agent sets none. */
  turns: number;
  maxTaskBytes: number;
  maxResultBytes: number;
  /** Children of one task. */
  children: number;
  /** Tasks that may be created under one root in a minute. */
  tasksPerMinute: number;
  calls: number;
  /** The arguments of one call, as JSON. */
  argumentBytes: number;
  /** Requests of one agent that wait for the human. */
  requests: number;
}

export interface ModelTimeouts {
  /** The whole call. */
  callMs: number;
  /** Silence inside a stream. */
  stallMs: number;
  /** The number of attempts, for failures that may be temporary. */
  tries: number;
}

/** How agents find each other (`coordination:` in guild.yaml). */
export interface Coordination {
  /**
   * hierarchical: a coordinator chooses the provider of a need; mesh: agents offer themselves and
   * the best wins.
   */
  mode: 'hierarchical' | 'mesh';
  /** The agent that chooses in hierarchical mode; without it the rule decides. */
  coordinator?: string;
  /** How long agents may take to offer themselves. */
  offerMs: number;
  /**
   * After this, a call for help without an answer goes to the coordinator, or else to the human.
   */
  helpMs: number;
  bidMs: number;
  /**
   * The time for a vote on completion. A process that stays silent is left out until it answers
   * again.
   */
  voteMs: number;
  /** A process on another machine that is silent for this time loses its tasks. */
  leaseMs: number;
}

/** A channel that people named (`channels:` in guild.yaml). */
export interface ChannelRules {
  /** Agents that may write; absent: all. `human` always may. */
  writers?: string[];
  /** Agents whose conversations get its notes; without it only people read them. */
  readers?: string[];
  /** How long a note is kept. */
  ttlMs?: number;
  maxBytes: number;
}

/** Whether commands need a sandbox. */
export const SANDBOX_SETTINGS = ['required', 'preferred', 'off'] as const;
export type SandboxSetting = (typeof SANDBOX_SETTINGS)[number];

/** A task that guild.yaml wants to be repeated. */
export interface ConfiguredSchedule extends Schedule {
  task: string;
  to?: string;
  priority?: Task['priority'];
}

/** A program that may send messages (`webhooks:` in guild.yaml). */
export interface Webhook {
  /** How its calls prove where they come from. */
  kind: (typeof WEBHOOK_KINDS)[number];
  /** The environment variable with its token or secret. */
  secretEnv: string;
  /** The agent that gets its messages; absent: as for all mail. */
  agent?: string;
}

export const WEBHOOK_KINDS = ['standard', 'github', 'token'] as const;

export interface Config {
  /** Model or alias for agents that name none. */
  model: string;
  aliases: Record<string, ModelAlias>;
  providers: Record<string, Provider>;
  prices: Record<string, Price>;
  /** Context windows of models in tokens, if the built-in number is wrong or missing. */
  windows: Record<string, number>;
  timeouts: ModelTimeouts;
  limits: Limits;
  budget: Budget;
  /** The agent that takes a task without `to` if several could. */
  defaultAgent?: string;
  search: 'lexical' | 'semantic';
  /** Tools that may send data out of a tainted task without asking. */
  allowOutward: string[];
  /** Absent: required if a command ran sandboxed here before, otherwise preferred. */
  sandbox?: SandboxSetting;
  /** How often `watch` scans everything, in case a file event was lost. */
  rescanMs: number;
  /** `files`, or the address of a store that several machines share. */
  store: string;
  /**
   * History in git. `author` is `Name <mail>`. `branch`: on the branch that is checked out, not in
   * a separate repository.
   */
  git: { enabled: boolean; author?: string; branch?: boolean };
  inbox: {
    /**
     * The agent for messages without an addressee; default: the planner, else the default agent.
     */
    agent?: string;
    /** `ask`: the human admits each message before an agent sees it. */
    admit: 'auto' | 'ask';
  };
  /** The agent for check-ins; default: `planner`, else an agent of that type. */
  planner?: string;
  /** Planner check-ins; absent: only if `storage/planner-checkin.yaml` exists. */
  checkins?: boolean;
  /** Plugins to load, with their settings. A plugin that is not named here does not run. */
  plugins: Record<string, Record<string, unknown>>;
  coordination: Coordination;
  channels: Record<string, ChannelRules>;
  schedules: Record<string, ConfiguredSchedule>;
  /** The time zone of schedules that name none; absent: the machine's own. */
  timezone?: string;
  /** Absent: nobody is notified. */
  notify?: NotifyRules;
  notifyBy: NotifyChannels;
  webhooks: Record<string, Webhook>;
}

export const DEFAULT_COORDINATION: Coordination = {
  mode: 'mesh',
  offerMs: 2000,
  helpMs: 300_000,
  bidMs: 60_000,
  voteMs: 10_000,
  leaseMs: 15_000,
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
  calls: 128,
  argumentBytes: 256 * 1024,
  requests: 30,
};
