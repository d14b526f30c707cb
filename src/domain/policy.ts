/**
 * What the gates say, and the two files people change it with. A verdict is one of four, mild to strict; parts are put
 * together by taking the strictest. The files become plain data here; how they are read is `text`'s business, what they
 * mean is decided in `rules`.
 */

const VERDICTS = ['auto', 'notify', 'ask', 'deny'] as const;
/** auto: runs at once · notify: runs, and the human is told · ask: waits for a person · deny: never runs. */
export type Verdict = (typeof VERDICTS)[number];

export function stricter(a: Verdict, b: Verdict): Verdict {
  return VERDICTS.indexOf(a) >= VERDICTS.indexOf(b) ? a : b;
}

/** A command that runs by its words, without a shell. */
export interface PlainCommand {
  argv: string[];
  /** In the order written. `both` is standard output and standard error. */
  redirections: (
    | { kind: 'null'; from: 'stdout' | 'stderr' | 'both' }
    | { kind: 'join'; from: 'stdout' | 'stderr'; to: 'stdout' | 'stderr' }
    | { kind: 'input'; path: string }
  )[];
}

/** One pipeline of a list, and what stands after it. `stderr` of a stage joins the pipe where `|&` says so. */
export interface PlainPipeline {
  commands: PlainCommand[];
  pipes: ('|' | '|&')[];
  then: ';' | '&' | '&&' | '||';
}

export interface CommandVerdict {
  verdict: Verdict;
  /** One line, for the human and for the model. */
  reason: string;
  /** For auto and notify: the words of each command, exactly as judged. */
  argv?: string[][];
  /** The same with pipes, separators and harmless redirections. Absent where a person let a whole line run as a shell string. */
  plan?: PlainPipeline[];
}

/** A regular expression from a file, with the longest text it may be tried on. */
export interface GuardedPattern {
  source: string;
  regex: RegExp;
  maxInput: number;
}

/** One line of `storage/terminal-cmd-allowlist.yaml`. */
export interface AllowEntry {
  key: string;
  match: { kind: 'words'; words: string[] } | { kind: 'pattern'; pattern: GuardedPattern };
  /** true widens to auto, false asks for approval. */
  approve: boolean;
  /** Tried on the whole line instead of each command in it. */
  wholeLine: boolean;
  line: number;
}

export const SUPERVISIONS = ['automatic', 'notify', 'confirm', 'manual', 'deny'] as const;
export type Supervision = (typeof SUPERVISIONS)[number];
export const RISKS = ['none', 'low', 'medium', 'high', 'critical'] as const;
export type Risk = (typeof RISKS)[number];
export const SAFETY_CHECKS = ['backup', 'disk_space', 'permission', 'sensitive_data'] as const;
export type SafetyCheck = (typeof SAFETY_CHECKS)[number];
/** Those that the program makes itself, and for which tools: the path and the size are known there. */
export const MADE_CHECKS = ['disk_space', 'permission'] as const satisfies readonly SafetyCheck[];
export type MadeCheck = (typeof MADE_CHECKS)[number];
export const CHECKED_TOOLS: readonly string[] = ['write_file', 'create_directory'];

export type Condition =
  | { kind: 'path_matches'; globs: string[] }
  | { kind: 'command_matches'; globs: string[] }
  | { kind: 'command_starts_with'; starts: string[] };

export type Restriction =
  | { type: 'size_limit'; maxBytes: number }
  | { type: 'path_pattern'; allow: string[]; deny: string[] };

/** One rule of `storage/policy.yaml`, named `category.rule`. */
export interface PolicyRule {
  name: string;
  /** A glob on the tool's name, folded case. */
  pattern: string;
  /** All must hold. */
  conditions: Condition[];
  supervision: Supervision;
  risk: Risk;
  safetyChecks: SafetyCheck[];
  restrictions: Restriction[];
  priority: number;
  line: number;
}

export interface Policy {
  allow: AllowEntry[];
  rules: PolicyRule[];
  /** A file could not be read: nothing is auto, denies still deny. The text says which file. */
  closed?: string;
}

export const DEFAULT_POLICY: Policy = { allow: [], rules: [] };
