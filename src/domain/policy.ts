/**
 * Verdicts, and the two files with which people change them, as plain data. There are four
 * verdicts, from mild to strict, and the strictest one wins. `text` parses the files;
 * `rules/policy` applies them.
 */

const VERDICTS = ['auto', 'notify', 'ask', 'deny'] as const;
/**
 * auto: runs at once · notify: runs, and the human is notified · ask: waits for a person · deny:
 * never runs.
 */
export type Verdict = (typeof VERDICTS)[number];

export function stricter(a: Verdict, b: Verdict): Verdict {
  return VERDICTS.indexOf(a) >= VERDICTS.indexOf(b) ? a : b;
}

/** A command that runs with exactly these words, without a shell. */
export interface PlainCommand {
  argv: string[];
  /** In the order written. `both` is standard output and standard error. */
  redirections: (
    | { kind: 'null'; from: 'stdout' | 'stderr' | 'both' }
    | { kind: 'join'; from: 'stdout' | 'stderr'; to: 'stdout' | 'stderr' }
    | { kind: 'input'; path: string }
  )[];
}

/** One pipeline of a list and the separator after it. With `|&`, stderr joins the pipe. */
export interface PlainPipeline {
  commands: PlainCommand[];
  pipes: ('|' | '|&')[];
  then: ';' | '&' | '&&' | '||';
}

export interface CommandVerdict {
  verdict: Verdict;
  /** Explains the verdict in one line, for the human and for the model. */
  reason: string;
  /** For auto and notify: the words of each command, exactly as judged. */
  argv?: string[][];
  /**
   * The commands with their pipes, separators and redirections. Absent if a person allowed a whole
   * line as a shell string.
   */
  plan?: PlainPipeline[];
}

/** A regular expression from a file, with the longest text that it may be applied to. */
export interface GuardedPattern {
  regex: RegExp;
  maxInput: number;
}

/** One line of `storage/terminal-cmd-allowlist.yaml`. */
export interface AllowEntry {
  key: string;
  match: { kind: 'words'; words: string[] } | { kind: 'pattern'; pattern: GuardedPattern };
  /** True allows the command, false requires approval. */
  approve: boolean;
  /** Applies to the whole line instead of each command in it. */
  wholeLine: boolean;
  line: number;
}

export const SUPERVISIONS = ['automatic', 'notify', 'confirm', 'manual', 'deny'] as const;
export type Supervision = (typeof SUPERVISIONS)[number];
export const RISKS = ['none', 'low', 'medium', 'high', 'critical'] as const;
export type Risk = (typeof RISKS)[number];
export const SAFETY_CHECKS = ['backup', 'disk_space', 'permission', 'sensitive_data'] as const;
export type SafetyCheck = (typeof SAFETY_CHECKS)[number];
/** The checks that the program makes itself, for the tools whose path and size it knows. */
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
  /** A glob on the name of the tool, ignoring case. */
  pattern: string;
  /** All conditions must be met. */
  conditions: Condition[];
  supervision: Supervision;
  risk: Risk;
  safetyChecks: SafetyCheck[];
  restrictions: Restriction[];
  priority: number;
}

export interface Policy {
  allow: AllowEntry[];
  rules: PolicyRule[];
  /**
   * Set if a file could not be read, and names it: nothing is auto then, and denies still apply.
   */
  closed?: string;
}

export const DEFAULT_POLICY: Policy = { allow: [], rules: [] };
