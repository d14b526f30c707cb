/**
 * The contract of a tool. A tool turns a model's call into a reply: text, a task for another agent,
 * the end of the task, or a problem that the model can act on. It never touches the store; the
 * engine commits its reply.
 */
import type { Agent } from '../../domain/agent/agent.js';
import type { Breakdown, Part } from '../../domain/task/breakdown.js';
import type { NotePriority } from '../../domain/coordination/note.js';
import type { BoundBase, Walls } from '../../domain/task/approval.js';
import type { FileRef } from '../../domain/file-ref.js';
import type { Problem, ProblemCode } from '../../domain/problem.js';
import type { PlainPipeline } from '../../domain/policy.js';
import type { Question } from '../../domain/task/question.js';
import type { Task, WantedChild } from '../../domain/task/task.js';
import type { BoardTools } from '../../ports/board-tools.js';
import type { Machine } from '../../ports/reading/machine.js';
import type { Project } from '../../ports/reading/project.js';
import type { Web } from '../../ports/reading/web.js';
import type { WorkspaceFiles } from '../../ports/workspace-files.js';
import type { JsonSchema, ToolSpec } from '../../ports/model.js';
import type { PluginAction, Shell } from '../../ports/shell.js';

export interface ToolContext {
  agent: Agent;
  task: Task;
  callId: string;
  folder: WorkspaceFiles;
  /** A human approved this exact call. */
  approved: boolean;
  /** The file that an approved write may replace, in the state in which the human saw the diff. */
  base?: BoundBase;
  /** The least confinement under which an approved command may run. */
  walls?: Walls;
  /** For a command without approval: its words exactly as the gate judged them. */
  plan?: PlainPipeline[];
  /** The line runs an action of a plugin. */
  action?: PluginAction;
  shell: Shell;
  web: Web;
  machine: Machine;
  project: Project;
  boardTools: BoardTools;
  /** The human's answers to earlier questions of this call; undefined: they declined. */
  answers: readonly (string | undefined)[];
  /** Aborted when the task is cancelled or the process leaves. */
  signal?: AbortSignal;
  /** Reports how far a long call is, for people who watch. */
  progress(text: string): void;
  /** Replaces the text of a conversation. Returns a problem if the text is invalid. */
  replaceSession(id: string, text: string): Promise<Problem | undefined>;
  /** Writes the file of a new agent. Returns a problem if the source is invalid. */
  createAgent(name: string, source: string): Promise<Problem | undefined>;
  /**
   * Checks parts and drops those that repeat existing work. Returns a problem if they are invalid.
   */
  breakDown(parts: Part[]): Promise<Breakdown | Problem>;
  /** Returns the problem with an agent's draft; undefined if it is valid. */
  checkDraft(name: string, source: string): string | undefined;
  /** The task that asks the human this question. */
  askHuman(question: Question): WantedChild;
  /** All conversations, oldest first. */
  sessions(): SessionShown[];
  /** How much work is open in this workspace. */
  openWork(): OpenWork;
  /** Names and descriptions of the workspace's agents. */
  agents: ReadonlyMap<string, { name: string; description: string; variables?: Record<string, string> }>;
}

export interface SessionShown {
  session: string;
  agent: string;
  task: string;
  state: 'pending' | 'active' | 'waiting' | 'ended';
  waits_for?: string[];
}

export interface OpenWork {
  pending: number;
  active: number;
  waiting: number;
  /** Approvals and questions that a person has not answered. They are not counted as tasks. */
  requests: number;
  oldest?: { task: string; created: string };
}

/** An image or a PDF document. */
export interface ReplyFile {
  name: string;
  mediaType: string;
  data: Uint8Array;
}

/**
 * - text: the result, perhaps with files to look at; `kept`: the same, once the engine stored them.
 *   `shown`: the part that people see while it happens, if `text` begins with words for the model.
 *   `taint`: outside sources of what it shows.
 * - ask: another agent must act; its answer becomes the result.
 * - question: the call cannot continue without the human; it runs again with their answer.
 * - spawn: another agent acts, and the turn continues.
 * - tell: a message for another conversation.
 * - note: a note on a channel.
 * - assign: a task that has not started goes to another agent.
 * - give_back: a resource that the task holds becomes free.
 * - final: ends the task with an answer, or with the reason why it could not be done.
 * - problem: the call did not work; `message` tells the model what to do instead.
 */
export type ToolReply =
  | { kind: 'text'; text: string; shown?: string; files?: ReplyFile[]; kept?: FileRef[]; taint?: string[] }
  | { kind: 'ask'; child: WantedChild }
  | { kind: 'question'; question: Question }
  | { kind: 'spawn'; child: WantedChild; text: string }
  | { kind: 'tell'; task: string; message: string; text: string }
  | { kind: 'note'; channel: string; message: string; priority?: NotePriority; text: string }
  | { kind: 'assign'; task: string; to: string; text: string }
  | { kind: 'give_back'; resource: string; text: string }
  | { kind: 'final'; text: string; success?: false }
  | { kind: 'problem'; code: ProblemCode; message: string; shown?: string };

export interface Tool extends ToolSpec {
  /**
   * - pure: only reads, and may run again.
   * - effect: changes something outside the store. The engine records its start and its outcome.
   * - ask: only creates tasks.
   */
  kind: 'pure' | 'effect' | 'ask';
  /**
   * The schema that arguments are checked against, if `parameters` uses more of JSON Schema than
   * our check understands.
   */
  checked?: JsonSchema;
  /** The plugin it comes from; absent for built-in tools. */
  plugin?: string;
  /** Its reply may contain text from outside, which taints the conversation. */
  outside?: boolean;
  /** Its reply depends on the moment and the machine, so a recording stores it. */
  isVolatile?: boolean;
  /** Its arguments leave the machine. In a tainted task each call needs approval. */
  outward?: boolean;
  /** The arguments were checked against `checked ?? parameters`. A rejection is a bug. */
  run(args: Record<string, unknown>, context: ToolContext): Promise<ToolReply> | ToolReply;
}
