/**
 * The verdict on a tool call. Every tool has a built-in verdict. Policy rules may loosen or tighten
 * it; an agent may only tighten it. An unknown tool (of a plugin or a server) needs approval.
 */
import type { Agent } from '../../domain/agent/agent.js';
import {
  MADE_CHECKS,
  stricter,
  type MadeCheck,
  type Policy,
  type Risk,
  type Restriction,
  type SafetyCheck,
  type Verdict,
} from '../../domain/policy.js';
import { ASK_TOOL } from '../../domain/task/question.js';
import { VERDICT } from './verdict.js';
import { globFitsAnyCase } from '../../domain/wildcard.js';
import { applyingRules } from './rules.js';

interface ToolQuestion {
  tool: string;
  /** The path and its verdict, for tools that take a path. */
  path?: string;
  pathVerdict?: 'ok' | 'ask' | 'refuse';
  /** The size of the content to write. */
  bytes?: number;
  /** Makes a check and returns why it failed, or undefined. Without it, a human makes the check. */
  check?: (check: MadeCheck) => string | undefined;
  /** Its plugin declares that it needs no approval. */
  free?: boolean;
  policy: Policy;
  agent?: Pick<Agent, 'approve'>;
}

interface ToolVerdict {
  verdict: Verdict;
  reason: string;
  risk: Risk;
  safetyChecks: SafetyCheck[];
}

export function judgeTool(question: ToolQuestion): ToolVerdict {
  const verdict = judgeByRules(question);
  // A question to the human is not an action: to approve it first, the person would be asked twice.
  return question.tool === ASK_TOOL && verdict.verdict === 'ask' ? { ...verdict, verdict: 'auto' } : verdict;
}

function judgeByRules(question: ToolQuestion): ToolVerdict {
  const { tool, policy } = question;
  const rules = applyingRules(policy.rules, question);
  const about = {
    risk: worst(rules.map((rule) => rule.risk)),
    safetyChecks: rules.flatMap((rule) => rule.safetyChecks),
  };
  const own = question.agent && Object.hasOwn(question.agent.approve, tool) ? question.agent.approve[tool] : undefined;
  const broken = rules.flatMap((rule) => rule.restrictions).find((restriction) => isBroken(restriction, question));
  const least: Verdict = ALWAYS_ASK.has(tool) ? 'ask' : 'auto';
  const ruled = rules.map((rule) => VERDICT[rule.supervision]).reduce<Verdict>(stricter, least);
  const names = rules.map((rule) => rule.name).join(', ');
  if (question.pathVerdict === 'refuse') return { verdict: 'deny', reason: 'the path is refused', ...about };
  if (own === 'deny') return { verdict: 'deny', reason: `the agent file denies ${tool}`, ...about };
  if (ruled === 'deny') return { verdict: 'deny', reason: `policy rule ${names}: deny`, ...about };
  if (broken) return { verdict: 'deny', reason: `policy rule ${names}: ${broken.type}`, ...about };
  if (policy.closed !== undefined && !QUIET.has(tool)) return { verdict: 'ask', reason: policy.closed, ...about };
  if (own === 'ask') return { verdict: 'ask', reason: `the agent file requires approval for ${tool}`, ...about };
  if (question.pathVerdict === 'ask') return { verdict: 'ask', reason: 'the path needs approval', ...about };
  const unsafe = rules.length > 0 && ruled !== 'ask' ? checked(about.safetyChecks, question) : undefined;
  if (unsafe !== undefined) return { ...unsafe, reason: `policy rule ${names}: ${unsafe.reason}`, ...about };
  if (rules.length > 0) return { verdict: ruled, reason: `policy rule ${names}`, ...about };
  if (question.free) return { verdict: 'auto', reason: 'its plugin declares that it needs no approval', ...about };
  if (QUIET.has(tool)) return { verdict: 'auto', reason: 'it changes nothing outside the engine', ...about };
  if (question.pathVerdict === 'ok') return { verdict: 'auto', reason: "it stays in the agent's own folder", ...about };
  return { verdict: 'ask', reason: `${tool} needs approval`, ...about };
}

/** Undefined if every check that the rules require was made and passed. */
function checked(wanted: SafetyCheck[], { check }: ToolQuestion): Pick<ToolVerdict, 'verdict' | 'reason'> | undefined {
  const names = MADE_CHECKS.filter((name) => wanted.includes(name));
  if (names.length > 0 && check === undefined)
    return { verdict: 'ask', reason: `a human has to make these checks: ${names.join(', ')}` };
  for (const name of names) {
    const failure = check!(name);
    if (failure !== undefined) return { verdict: 'deny', reason: `${name}: ${failure}` };
  }
  return undefined;
}

/** Tools that only read, or that only submit something to the engine, which judges it again. */
const QUIET = new Set(
  `read_file get_file_info list_directory search_files system_status query_tasks create_task update_task reassign_task send_message broadcast list_active_sessions
  read_session load_skill slack_read delegate_to_agent route_to vote_conclude conclude_team give_verdict place_bid break_down name_duplicates draft_agent judge_trial request_help
  request_dependency give_back provide_dependency assign_provider final_report ask_human`.split(/\s+/),
);

/** No rule makes these free: an address can carry data out of the workspace. */
const ALWAYS_ASK = new Set(['web_fetch']);

function isBroken(restriction: Restriction, { path, bytes }: ToolQuestion): boolean {
  if (restriction.type === 'size_limit') return bytes !== undefined && bytes > restriction.maxBytes;
  if (path === undefined) return false;
  const names = [path, path.slice(path.lastIndexOf('/') + 1)];
  const matches = (globs: string[]): boolean => globs.some((glob) => names.some((name) => globFitsAnyCase(glob, name)));
  return matches(restriction.deny) || (restriction.allow.length > 0 && !matches(restriction.allow));
}

function worst(risks: Risk[]): Risk {
  const order: Risk[] = ['none', 'low', 'medium', 'high', 'critical'];
  return risks.reduce<Risk>((a, b) => (order.indexOf(b) > order.indexOf(a) ? b : a), 'none');
}
