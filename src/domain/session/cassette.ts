/**
 * A cassette: a complete recorded run, in order. It starts with the files at the start, continues
 * with all input (changes by people, new tasks, answers of models, commands and plugins, and their
 * times), and ends with the hashes of the final files. A replay computes everything else from
 * these.
 */
import type { Intent } from '../task/intent.js';
import type { Problem } from '../problem.js';
import type { Task } from '../task/task.js';

export const CASSETTE_VERSION = 1;

/**
 * The state of a file. Paths are relative, with `/`. A folder is listed only if it is empty or left
 * out.
 */
export interface FileState {
  file: string;
  text?: string;
  /** Replaces `text` if the bytes are not UTF-8. */
  base64?: string;
  link?: string;
  /**
   * The size, instead of `text`, if the content is left out; listings of its folder then stay the
   * same.
   */
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
  /** The program derives its ids from it. */
  seed: string;
  /** The names, never the values, of the variables that determine the default model. */
  variables: string[];
  model?: string;
  /** Files of the workspace that are not recorded, and why. */
  leftOut: LeftOut[];
}

export interface LeftOut {
  file: string;
  why: string;
}

/** A plugin's tool without its code. */
export interface KeptTool {
  name: string;
  description: string;
  parameters: unknown;
  effect: boolean;
  plugin: string;
  free: boolean;
  /** Absent on cassettes of earlier versions. */
  outside?: boolean;
}

/** One question to a model: the fingerprint of each part, and the texts that are new. */
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
  /** Changes that people made during the call. */
  changes?: FileState[];
  /** The process was asked to stop during the call. */
  stopped?: true;
}

/** `system prompt`, `tools`, `settings`, `message 3 (tool)`, with the fingerprint of its text. */
type QuestionPart = [name: string, fingerprint: string];

/** A run of a command or a plugin's tool: its request, its outcome and the files it changed. */
export interface DoneEntry {
  kind: 'command' | 'rollback' | 'tool';
  at: number;
  agent: string;
  task: string;
  /** The command line, the commit, or the tool and its arguments. */
  asked: string;
  outcome: unknown;
  changes: FileState[];
  stopped?: true;
}

export type CassetteStep =
  /** People changed files between two passes: an answer on the ballot, an edit, a new file. */
  | { kind: 'outside'; at: number; changes: FileState[] }
  | { kind: 'added'; at: number; task: Task }
  | { kind: 'intent'; at: number; intent: Intent }
  | { kind: 'pass'; at: number; ids: number; roots?: string[] };

export interface CassetteEnd {
  kind: 'end';
  at: number;
  /** The sha256 of every final file. */
  files: Record<string, string>;
}

export type CassetteEntry =
  | CassetteHead
  | ({ kind: 'file' } & FileState)
  | { kind: 'plugins'; tools: KeptTool[]; problems: Problem[] }
  | { kind: 'shell'; sandboxed: boolean; confinement: string; withNetwork: string }
  /** Absent on cassettes of earlier versions. */
  | { kind: 'surroundings'; timeZone: string; system: string; workspace: string }
  /** The seal of a request, which only the machine that made the recording can produce. */
  | { kind: 'seal'; task: string; digest: string; seal: string }
  | CassetteStep
  | AskedEntry
  | DoneEntry
  | CassetteEnd;

/** The first point at which a replay differs from the recorded run. */
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
