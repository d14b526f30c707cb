/**
 * A cassette: one run, whole, in the order in which it happened. It begins with the files that were there, goes on with what came
 * from outside (files that people changed, tasks they added, what models, commands and plugins answered, and when), and ends with
 * what the files were in the end. All the rest follows from these, so it is not in here: a replay works it out again.
 */
import type { Intent } from '../task/intent.js';
import type { Problem } from '../problem.js';
import type { Task } from '../task/task.js';

export const CASSETTE_VERSION = 1;

/** A file as it lies there, or that it is gone. Paths are relative, with `/`. A folder is only told where it is empty, or left out. */
export interface FileState {
  file: string;
  text?: string;
  /** Instead of `text` where the bytes are no UTF-8. */
  base64?: string;
  link?: string;
  /** Instead of `text` where what it says is left out: only its size, so that agents who list its folder see the same. */
  bytes?: number;
  folder?: true;
  executable?: true;
  gone?: true;
}

export interface CassetteHead {
  kind: 'head';
  cassette: number;
  /** The version of the program that recorded it. */
  guild: string;
  /** The command that was recorded, for people. */
  command: string[];
  at: number;
  /** Ids follow from it. */
  seed: string;
  /** Names, never values, of the variables that decide which model is the default one. */
  variables: string[];
  /** `--model` of the recorded command. */
  model?: string;
  /** Files of the workspace that are not kept here, and why. */
  leftOut: LeftOut[];
}

export interface LeftOut {
  file: string;
  why: string;
}

/** What a plugin's tool is, without its code. */
export interface KeptTool {
  name: string;
  description: string;
  parameters: unknown;
  effect: boolean;
  plugin: string;
  free: boolean;
  /** Absent on cassettes of earlier versions, which did not ask. */
  outside?: boolean;
}

/** One question to a model: each part by its fingerprint, its text told where it is new. */
export interface AskedEntry {
  kind: 'model';
  at: number;
  agent: string;
  task: string;
  turn: number;
  model: string;
  question: QuestionPart[];
  texts: Record<string, string>;
  reply: unknown;
  /** What people changed while the model was asked. */
  changes?: FileState[];
  /** The process was told to stop while the model was asked. */
  stopped?: true;
}

/** `system prompt`, `tools`, `settings`, `message 3 (tool)`, with the fingerprint of its text. */
type QuestionPart = [name: string, fingerprint: string];

/** What a command or a plugin's tool was asked and answered, and which files it changed. */
export interface DoneEntry {
  kind: 'command' | 'rollback' | 'tool';
  at: number;
  agent: string;
  task: string;
  /** What was asked for: the line, the commit, or the tool and its arguments. */
  asked: string;
  outcome: unknown;
  changes: FileState[];
  stopped?: true;
}

export type CassetteStep =
  /** Somebody changed files between two passes: an answer on the ballot, an edit, a new file. */
  | { kind: 'outside'; at: number; changes: FileState[] }
  | { kind: 'added'; at: number; task: Task }
  | { kind: 'intent'; at: number; intent: Intent }
  | { kind: 'pass'; at: number; ids: number; roots?: string[] };

export interface CassetteEnd {
  kind: 'end';
  at: number;
  /** Every file in the end, by the sha256 of its bytes. */
  files: Record<string, string>;
}

export type CassetteEntry =
  | CassetteHead
  | ({ kind: 'file' } & FileState)
  | { kind: 'plugins'; tools: KeptTool[]; problems: Problem[] }
  | { kind: 'shell'; sandboxed: boolean; confinement: string; withNetwork: string }
  | CassetteStep
  | AskedEntry
  | DoneEntry
  | CassetteEnd;

/** Where a replay stopped being the run that was recorded. */
export interface Difference {
  /** One sentence. */
  message: string;
  agent?: string;
  task?: string;
  turn?: number;
  /** Which part of the question, or which file. */
  what?: string;
  /** `-` was recorded, `+` is now. */
  diff?: string;
}
