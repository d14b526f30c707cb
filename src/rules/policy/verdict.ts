/**
 * Combines the built-in verdict on a command line with the allowlist, the policy rules and the
 * agent's own `approve:`. A built-in deny is final. A file may tighten any verdict, or allow a
 * command whose words are all known; an agent may only tighten. If two apply, the stricter one
 * wins.
 */
import type { Agent } from '../../domain/agent/agent.js';
import {
  stricter,
  type AllowEntry,
  type CommandVerdict,
  type Policy,
  type PolicyRule,
  type Supervision,
  type Verdict,
} from '../../domain/policy.js';
import { autoVerdict, inspect, type CommandContext, type Inspection, type Leaf } from './command.js';
import { applyingRules, type Action } from './rules.js';
import { protectedName } from './never/secrets.js';

interface Rules {
  policy: Policy;
  agent?: Pick<Agent, 'approve'>;
}

/** The verdict on a command line that the agent wants to run. */
export function judgeLine(line: string, judging: CommandContext & Rules): CommandVerdict {
  return judgeInspected(line, inspect(line, judging), judging);
}

/** Like `judgeLine`, for a line that was inspected before because several policies judge it. */
export function judgeInspected(line: string, inspection: Inspection, { policy, agent }: Rules): CommandVerdict {
  if (inspection.deny !== undefined) return { verdict: 'deny', reason: inspection.deny };
  const own = agent?.approve['execute_command'];
  if (own === 'deny') return { verdict: 'deny', reason: 'the agent file denies execute_command' };
  const ruled = rulesOnLine(line, inspection.leaves, policy.rules);
  if (ruled.verdict === 'deny') return { verdict: 'deny', reason: ruled.reason };
  if (policy.closed !== undefined) return { verdict: 'ask', reason: policy.closed };
  const restricted = restriction(line, inspection, policy.allow);
  if (restricted !== undefined) return { verdict: 'ask', reason: restricted };
  if (ruled.verdict === 'ask') return { verdict: 'ask', reason: ruled.reason };
  if (own === 'ask') return { verdict: 'ask', reason: 'the agent file requires approval for every command' };
  const verdict = granted(line, inspection, policy);
  if (verdict.verdict === 'auto' && ruled.verdict === 'notify')
    return { ...verdict, verdict: 'notify', reason: ruled.reason };
  return verdict;
}

/**
 * Finds an entry with `false` that matches the line or one of its commands. A text that is too long
 * for a pattern counts as a match.
 */
function restriction(line: string, { leaves }: Inspection, allow: AllowEntry[]): string | undefined {
  for (const entry of allow) {
    if (entry.approve) continue;
    const texts = entry.wholeLine || leaves.length === 0 ? [line] : leaves.flatMap(textsOf);
    if (leaves.some((leaf) => wordsFit(entry, leaf)) || texts.some((text) => patternFits(entry, text) !== false))
      return `the allowlist requires approval for ${entry.key} (line ${entry.line})`;
  }
  return undefined;
}

function granted(line: string, { unclear, whyAsk, leaves, plan }: Inspection, policy: Policy): CommandVerdict {
  if (unclear) return { verdict: 'ask', reason: whyAsk ?? 'it is not clear' };
  const entry = policy.allow.find((allowed) => allowed.approve && allowed.wholeLine && fitsWhole(allowed, line));
  if (entry) {
    const kept = protectedName(line);
    if (kept !== undefined) return { verdict: 'ask', reason: kept };
    const reason = `the allowlist allows ${entry.key} (line ${entry.line})`;
    return plan ? autoVerdict(reason, plan) : { verdict: 'auto', reason };
  }
  if (whyAsk !== undefined) return { verdict: 'ask', reason: whyAsk };
  let reason = 'every command only reads';
  for (const leaf of leaves) {
    if (leaf.whyAsk === undefined) continue;
    const widened = widen(leaf, policy);
    if (typeof widened !== 'string') return { verdict: 'ask', reason: widened?.not ?? leaf.whyAsk };
    reason = widened;
  }
  return plan ? autoVerdict(reason, plan) : { verdict: 'ask', reason: 'what it does is known only when it runs' };
}

/**
 * The entry or rule that allows this command, or what forbids that; undefined if there is neither.
 */
function widen(leaf: Leaf, policy: Policy): string | { not: string } | undefined {
  if (leaf.command === undefined || leaf.fixed !== undefined) return undefined;
  const entry = policy.allow.find(
    (allowed) =>
      allowed.approve &&
      !allowed.wholeLine &&
      (wordsFit(allowed, leaf) || patternFits(allowed, canonical(leaf)) === true),
  );
  const rule = entry ? undefined : widening(leaf, policy.rules);
  if (entry === undefined && rule === undefined) return undefined;
  for (const word of leaf.command.argv) {
    const kept = protectedName(word);
    if (kept !== undefined) return { not: kept };
  }
  return entry ? `the allowlist allows ${entry.key} (line ${entry.line})` : `policy rule ${rule!.name} allows it`;
}

/**
 * Only a rule with a condition on commands can allow one: a rule about the tool would allow every
 * command.
 */
function widening(leaf: Leaf, rules: PolicyRule[]): PolicyRule | undefined {
  const applying = applyingRules(rules, actionOf(leaf));
  const allow = applying.every((rule) => rule.supervision === 'automatic' || rule.supervision === 'notify');
  return allow ? applying.find((rule) => rule.conditions.some(({ kind }) => kind.startsWith('command_'))) : undefined;
}

/** The strictest verdict of the rules on the whole line and on each command in it. */
function rulesOnLine(line: string, leaves: Leaf[], rules: PolicyRule[]): { verdict: Verdict; reason: string } {
  let answer: { verdict: Verdict; reason: string } = { verdict: 'auto', reason: '' };
  if (rules.length === 0) return answer;
  const actions = [...leaves.map(actionOf), { tool: 'execute_command', commands: [line.trim()] }];
  for (const [n, action] of actions.entries()) {
    // A rule on the whole line may only tighten, because `ls; rm x` also starts with `ls`. It must
    // have a condition.
    const isWhole = n === leaves.length && leaves.length > 0;
    for (const rule of applyingRules(rules, action)) {
      if (isWhole && rule.conditions.length === 0) continue;
      const verdict = VERDICT[rule.supervision];
      if (stricter(verdict, answer.verdict) !== answer.verdict) {
        answer = { verdict, reason: `policy rule ${rule.name}: ${rule.supervision}` };
      }
    }
  }
  return answer;
}

export const VERDICT: Record<Supervision, Verdict> = {
  automatic: 'auto',
  notify: 'notify',
  confirm: 'ask',
  manual: 'ask',
  deny: 'deny',
};

function actionOf(leaf: Leaf): Action {
  return { tool: 'execute_command', commands: textsOf(leaf) };
}

/** As written, and in canonical form. */
function textsOf(leaf: Leaf): string[] {
  return leaf.command ? [leaf.text, canonical(leaf)] : [leaf.text];
}

/**
 * One spelling for each argv. Words are quoted if needed, so a blank inside a word does not
 * separate words.
 */
function canonical(leaf: Leaf): string {
  if (leaf.command === undefined) return leaf.text;
  return leaf.command.argv
    .map((word) => (/^[\w@%+=:,./~^-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`))
    .join(' ');
}

function wordsFit(entry: AllowEntry, leaf: Leaf): boolean {
  if (entry.match.kind !== 'words') return false;
  const { words } = entry.match;
  const argv = leaf.command?.argv ?? leaf.text.split(/\s+/);
  return words.length <= argv.length && words.every((word, n) => word === argv[n]);
}

/** Undefined if the text is too long for the pattern. */
function patternFits(entry: AllowEntry, text: string): boolean | undefined {
  if (entry.match.kind !== 'pattern') return false;
  const { regex, maxInput } = entry.match.pattern;
  return text.length > maxInput ? undefined : regex.test(text);
}

/**
 * The pattern must match the whole line: a line that only contains an approved command is not
 * approved.
 */
function fitsWhole({ match }: AllowEntry, line: string): boolean {
  if (match.kind !== 'pattern' || line.length > match.pattern.maxInput) return false;
  const matched = match.pattern.regex.exec(line.trim());
  return matched !== null && matched[0].length === line.trim().length;
}
