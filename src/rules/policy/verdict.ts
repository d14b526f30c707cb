/**
 * One verdict from all that has a say: the built-in gate, the allowlist, the policy rules, and the agent's own `approve:`. The
 * built-in deny stands above all of them. A file may widen what is asked to auto, for commands whose every word is known, or tighten
 * anything; an agent may only tighten. Of two that speak about the same, the stricter is heard.
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
import { autoVerdict, lookAt, type CommandContext, type Leaf, type LookedAt } from './command.js';
import { applyingRules, type Action } from './rules.js';
import { protectedName } from './never/secrets.js';

interface Judging extends CommandContext {
  policy: Policy;
  agent?: Pick<Agent, 'approve'>;
}

/** The verdict on a command line that the agent wants to run. */
export function judgeLine(line: string, judging: Judging): CommandVerdict {
  const { policy } = judging;
  const looked = lookAt(line, judging);
  if (looked.deny !== undefined) return { verdict: 'deny', reason: looked.deny };
  const own = judging.agent?.approve['execute_command'];
  if (own === 'deny') return { verdict: 'deny', reason: 'the agent file denies execute_command' };
  const ruled = rulesOnLine(line, looked.leaves, policy.rules);
  if (ruled.verdict === 'deny') return { verdict: 'deny', reason: ruled.reason };
  if (policy.closed !== undefined) return { verdict: 'ask', reason: policy.closed };
  const held = heldBack(line, looked, policy.allow);
  if (held !== undefined) return { verdict: 'ask', reason: held };
  if (ruled.verdict === 'ask') return { verdict: 'ask', reason: ruled.reason };
  if (own === 'ask') return { verdict: 'ask', reason: 'the agent file asks for every command' };
  const given = granted(line, looked, policy);
  if (given.verdict === 'auto' && ruled.verdict === 'notify')
    return { ...given, verdict: 'notify', reason: ruled.reason };
  return given;
}

/** A false entry that speaks about the line or one of its commands. A pattern that may not be tried on so long a text counts as speaking. */
function heldBack(line: string, looked: LookedAt, allow: AllowEntry[]): string | undefined {
  for (const entry of allow) {
    if (entry.approve) continue;
    const texts = entry.wholeLine || looked.leaves.length === 0 ? [line] : looked.leaves.flatMap(textsOf);
    if (
      looked.leaves.some((leaf) => wordsFit(entry, leaf)) ||
      texts.some((text) => patternFits(entry, text) !== false)
    ) {
      return `the allowlist asks for ${entry.key} (line ${entry.line})`;
    }
  }
  return undefined;
}

function granted(line: string, looked: LookedAt, policy: Policy): CommandVerdict {
  if (looked.unclear) return { verdict: 'ask', reason: looked.whyAsk ?? 'it is not clear' };
  const whole = policy.allow.find((entry) => entry.approve && entry.wholeLine && fitsWhole(entry, line));
  if (whole) {
    const kept = protectedName(line);
    if (kept !== undefined) return { verdict: 'ask', reason: kept };
    const reason = `the allowlist lets ${whole.key} run (line ${whole.line})`;
    return looked.plan ? autoVerdict(reason, looked.plan) : { verdict: 'auto', reason };
  }
  if (looked.whyAsk !== undefined) return { verdict: 'ask', reason: looked.whyAsk };
  let reason = 'every part only reads';
  for (const leaf of looked.leaves) {
    if (leaf.whyAsk === undefined) continue;
    const widened = widen(leaf, policy);
    if (typeof widened !== 'string') return { verdict: 'ask', reason: widened?.not ?? leaf.whyAsk };
    reason = widened;
  }
  return looked.plan ? autoVerdict(reason, looked.plan) : { verdict: 'ask', reason: 'it is known only when it runs' };
}

/** Which line of a file lets this command run; what forbids that; or nothing. */
function widen(leaf: Leaf, policy: Policy): string | { not: string } | undefined {
  if (leaf.command === undefined || leaf.fixed !== undefined) return undefined;
  const entry = policy.allow.find(
    (one) => one.approve && !one.wholeLine && (wordsFit(one, leaf) || patternFits(one, canonical(leaf)) === true),
  );
  const rule = entry ? undefined : widening(leaf, policy.rules);
  if (entry === undefined && rule === undefined) return undefined;
  for (const word of leaf.command.argv) {
    const kept = protectedName(word);
    if (kept !== undefined) return { not: kept };
  }
  return entry ? `the allowlist lets ${entry.key} run (line ${entry.line})` : `policy rule ${rule!.name} lets it run`;
}

/** A rule widens only if it speaks about commands: one about the tool as a whole would let everything run. */
function widening(leaf: Leaf, rules: PolicyRule[]): PolicyRule | undefined {
  const found = applyingRules(rules, actionOf(leaf));
  const all =
    found.length > 0 && found.every((rule) => rule.supervision === 'automatic' || rule.supervision === 'notify');
  return all ? found.find((rule) => rule.conditions.some((one) => one.kind.startsWith('command_'))) : undefined;
}

/** What the rules say about the line as written and about each command in it; the strictest counts. */
function rulesOnLine(line: string, leaves: Leaf[], rules: PolicyRule[]): { verdict: Verdict; reason: string } {
  let answer: { verdict: Verdict; reason: string } = { verdict: 'auto', reason: '' };
  if (rules.length === 0) return answer;
  const actions = [...leaves.map(actionOf), { tool: 'execute_command', commands: [line.trim()] }];
  for (const [n, action] of actions.entries()) {
    const found = applyingRules(rules, action);
    // The line as a whole may only tighten, by a rule about commands: `ls; rm x` also begins with `ls`.
    const isWhole = n === leaves.length && leaves.length > 0;
    for (const rule of found) {
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

/** As written, and as the words it comes to. */
function textsOf(leaf: Leaf): string[] {
  return leaf.command ? [leaf.text, canonical(leaf)] : [leaf.text];
}

/** One spelling for each argv: words that need quotes get them, so that a blank inside a word is not one between words. */
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

/** Undefined: the text is too long to be tried. */
function patternFits(entry: AllowEntry, text: string): boolean | undefined {
  if (entry.match.kind !== 'pattern') return false;
  const { regex, maxInput } = entry.match.pattern;
  return text.length > maxInput ? undefined : regex.test(text);
}

/** For a whole line the pattern must fit all of it: a line that merely holds something approved is not approved. */
function fitsWhole(entry: AllowEntry, line: string): boolean {
  if (entry.match.kind !== 'pattern' || line.length > entry.match.pattern.maxInput) return false;
  const found = entry.match.pattern.regex.exec(line.trim());
  return found !== null && found[0].length === line.trim().length;
}
