/** The data of all pages except tasks, requests and conversations; see `contract`. */
import type { AgentState } from '../../domain/agent/agent-state.js';
import type { Problem } from '../../domain/problem.js';
import type { Task, TaskState } from '../../domain/task/task.js';

export interface AgentRow {
  name: string;
  description: string;
  model: string;
  tools: string[];
  capabilities: string[];
  state: AgentState;
  why: string;
  paused?: string;
  isOnProbation?: boolean;
  file: string;
  microUsd: number;
  calls: number;
  /** Its own tasks that ended. */
  record: { done: number; failed: number };
  bids: { made: number; won: number };
  problem?: Problem;
}

export interface AgentList {
  agents: AgentRow[];
  edges: { from: string; to: string; pattern: string }[];
  /** Agents that talk in rounds, and how their rounds end. */
  teams: { lead: string; members: string[]; ends: string; rounds: number }[];
  problems: Problem[];
}

/** Offers of tasks and who bid for them, newest first. */
export interface Bids {
  offers: {
    task: { id: string; title: string };
    /** The run that it belongs to; the task itself if nothing is above it. */
    run: { id: string; title: string };
    at: string;
    /** Who got the task. */
    agent?: string;
    bids: BidRow[];
  }[];
}

export interface BidRow {
  agent: string;
  verdict: string;
  fitness?: number;
  /** Fitness times reliability. */
  score?: number;
  threshold: number;
  record: string;
  said: string;
}

export interface AgentChecked {
  problems: Problem[];
  warnings: Problem[];
}

/** For completion in the editor. */
export interface AgentSchema {
  keys: { key: string; description: string; values: string[] }[];
}

export interface AgentFile {
  name: string;
  file: string;
  text: string;
  seen: string;
  problems: Problem[];
  /** Only of a broken file: the version that the agent worked with last, and the lines since. */
  lastValid?: { text: string; at: string; changes: string[] };
}

export interface Waits {
  nodes: {
    id: string;
    kind: 'task' | 'agent' | 'resource' | 'conversation' | 'human' | 'budget';
    title: string;
    agent?: string;
    state?: TaskState;
  }[];
  edges: WaitEdge[];
  broken: BrokenCycle[];
}

export interface WaitEdge {
  from: string;
  to: string;
  inCycle: boolean;
  /** The need, or the relation between the two. */
  label: string;
  /** The agent's request, in its words. */
  need?: string;
  since?: string;
}

/** A deadlock that was found and resolved. */
export interface BrokenCycle {
  at: string;
  /** When the last of its waits appeared. */
  closedAt: string;
  /** Each waits for the next, the last for the first. */
  cycle: {
    id: string;
    title: string;
    agent?: string;
    label: string;
    need?: string;
    /** Absent if priorities had no part in the choice. */
    priority?: Task['priority'];
    gaveWay: boolean;
    since?: string;
  }[];
  rule: string;
}

export interface Costs {
  by: string;
  rows: CostRow[];
  total: CostRow;
  /** One value per key and day, in micro-dollars; the last key may be all others together. */
  keys: string[];
  days: { day: string; values: number[] }[];
  budgets: BudgetUse[];
}

/** A limit of an open task: the amount spent, and the amount that open children may still spend. */
export interface BudgetUse {
  task: { id: string; title: string };
  name: string;
  spent: number;
  reserved: number;
  limit: number;
  isMoney: boolean;
}

export interface CostRow {
  key: string;
  calls: number;
  toolCalls: number;
  tokens: number;
  microUsd: number;
  unpricedCalls: number;
  ms: number;
}

/** A process that works here. */
export interface Machine {
  id: string;
  host: string;
  pid: number;
  since: string;
  agents: string[];
  /** The tasks that it works on. */
  tasks: { id: string; title: string; agent?: string }[];
  isHere: boolean;
}

export interface Machines {
  machines: Machine[];
}

export interface Channels {
  channels: { channel: string; notes: number; at?: string; writers: string }[];
  channel?: string;
  notes: { at: string; from: string; text: string }[];
}

export interface Boards {
  boards: {
    file: string;
    lines: { text: string; box?: string; line: number }[];
    /** A line with an error is not a task until it is repaired; a warning changes nothing. */
    problems: (Problem & { severity: 'error' | 'warning' })[];
    seen: string;
  }[];
}

export interface HistoryPage {
  on: boolean;
  why?: string;
  /** `task`: the one whose id the subject began with; `subject` leaves it out. */
  commits: { id: string; at: string; subject: string; task?: { id: string; title: string } }[];
}

export interface UndoPreview {
  to: { id: string; at: string; subject: string };
  /** `lines`: of a diff; absent if the file is long or not text, or is not shown to guests. */
  files: { file: string; change: string; lines?: string[] }[];
}

/** The prompt that a model would get now. */
export interface Prompt {
  agent: string;
  model?: string;
  system: string;
  tools: { name: string; about: string; text: string }[];
  messages: { role: string; text: string }[];
  tokens: number;
}

/** One sentence about a moment of a demo, and the page on which to watch it. */
export interface StoryStep {
  text: string;
  page?: 'inbox' | 'waits' | 'agents' | 'replay';
  isOver?: true;
}

/** The words around a request, and the outside text that had influence on it. */
export interface RequestSource {
  /** The agent's words when it asked. */
  said?: string;
  turn?: number;
  untrusted: { source: string; text: string; at?: string; link?: { page: 'task' | 'conversation'; id: string } }[];
  /** Files that were handed to the agent with its task. */
  attached: string[];
  /** The line of its entry on the board of approvals, and whether the action was carried out. */
  line?: number;
  fate?: string;
}

/** A file that is handed to the model with a message. */
export interface ShownFile {
  name: string;
  mediaType: string;
  bytes: number;
}
