/**
 * The policy of a workspace, from its two optional files. A file that cannot be read or parsed
 * closes the gate: nothing runs automatically until a person fixes it, and denied commands stay
 * denied.
 */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { Agent } from '../../domain/agent/agent.js';
import { DEFAULT_POLICY, type CommandVerdict, type Policy } from '../../domain/policy.js';
import { problem, type Problem } from '../../domain/problem.js';
import { judgeLine } from '../../rules/policy/verdict.js';
import { readAllowlist } from '../../text/config/allowlist.js';
import { parseBash } from '../../text/bash/parse.js';
import { readPolicy } from '../../text/config/policy.js';

export const ALLOWLIST_FILE = 'storage/terminal-cmd-allowlist.yaml';
export const POLICY_FILE = 'storage/policy.yaml';

export interface LoadedPolicy {
  policy: Policy;
  problems: Problem[];
  /** The texts that it comes from, by file; without files that cannot be read. */
  texts: Record<string, string>;
}

export function loadPolicy(root: string): LoadedPolicy {
  return policyFrom((file) => readFile(root, file));
}

/** The policy of these texts by file, as a person has trusted them. */
export function policyOf(rules: Readonly<Record<string, string>>): Policy {
  return policyFrom((file) => (rules[file] === undefined ? {} : contentOf(file, rules[file]))).policy;
}

function policyFrom(read: (file: string) => RuleText): LoadedPolicy {
  const policy: Policy = { ...DEFAULT_POLICY };
  const problems: Problem[] = [];
  const close = (file: string, causes: Problem[]): void => {
    policy.closed ??= `${file} cannot be read, so nothing runs without approval`;
    problems.push(...causes);
  };
  const texts: Record<string, string> = {};
  const allow = read(ALLOWLIST_FILE);
  if (allow.text !== undefined) texts[ALLOWLIST_FILE] = allow.text;
  if (allow.problem) close(ALLOWLIST_FILE, [allow.problem]);
  else if (allow.text !== undefined) {
    const list = readAllowlist(ALLOWLIST_FILE, allow.text);
    if (list.ok) policy.allow = list.entries;
    else close(ALLOWLIST_FILE, list.problems);
  }
  const rules = read(POLICY_FILE);
  if (rules.text !== undefined) texts[POLICY_FILE] = rules.text;
  if (rules.problem) close(POLICY_FILE, [rules.problem]);
  else if (rules.text !== undefined) {
    const list = readPolicy(POLICY_FILE, rules.text);
    if (list.ok) policy.rules = list.rules;
    else close(POLICY_FILE, list.problems);
  }
  return { policy, problems, texts };
}

/** Why reading an operand needs a person's approval where no sandbox confines the command. */
export type Operand = (path: string, isDeep: boolean) => string | undefined;

export interface Gate {
  /** `cwd` is where the command would run. `operand`: only without a sandbox. */
  judge(
    line: string,
    more?: { agent?: Pick<Agent, 'approve'>; cwd?: string; operand?: Operand | undefined },
  ): CommandVerdict;
}

/** The home directory is the one the command would see. */
export function commandGate(policy: Policy, home: string = os.homedir()): Gate {
  return {
    judge: (line, more = {}) => judgeLine(line, { parse: parseBash, home, policy, ...more }),
  };
}

/** An editor or a crash may have cut the file, and with it the rule that forbade a command. */
function emptyFile(file: string): Problem {
  return problem('bad_file', `${file} is empty, so nothing runs without approval`, {
    where: { file },
    hint: 'put its rules back; to have none, delete the file or leave a comment in it',
  });
}

interface RuleText {
  text?: string;
  problem?: Problem;
}

function contentOf(file: string, text: string): RuleText {
  return text.trim() === '' ? { problem: emptyFile(file) } : { text };
}

function readFile(root: string, file: string): RuleText {
  try {
    const bytes = readRuleFile(path.join(root, file));
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return contentOf(file, text);
  } catch (thrown) {
    const { code, message } = thrown as { code?: string; message?: string };
    if (code === 'ENOENT') return {};
    const reason = code === 'ERR_ENCODING_INVALID_ENCODED_DATA' ? 'it is not UTF-8 text' : (message ?? String(thrown));
    return { problem: problem('bad_file', `the file cannot be read: ${reason}`, { where: { file } }) };
  }
}

const MAX_RULE_BYTES = 1024 * 1024;

/**
 * Follows a link, because people link their rules. In a stranger's folder it may lead to a device
 * or a FIFO, which would never end.
 */
export function readRuleFile(file: string, maxBytes = MAX_RULE_BYTES): Buffer {
  const fd = fs.openSync(file, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK);
  try {
    const stat = fs.fstatSync(fd);
    if (!stat.isFile()) throw new Error('it is not a regular file');
    if (stat.size > maxBytes) throw new Error(`it has ${stat.size} bytes, more than ${maxBytes}`);
    return fs.readFileSync(fd);
  } finally {
    fs.closeSync(fd);
  }
}
