/**
 * `storage/policy.yaml`: rules about tools. An unknown name makes the file unreadable, because a
 * silently ignored check would not protect anything.
 */
import {
  CHECKED_TOOLS,
  MADE_CHECKS,
  type Condition,
  type PolicyRule,
  type Restriction,
  type SafetyCheck,
} from '../../domain/policy.js';
import type { Problem } from '../../domain/problem.js';
import { count } from '../../schemas/amounts.js';
import { policyYaml, type PolicyRuleFile } from '../../schemas/policy.js';
import { readYaml } from '../schema/read-yaml.js';
import { textList } from '../schema/values.js';
import { tooLarge } from './allowlist.js';

type PolicyRead = { ok: true; rules: PolicyRule[] } | { ok: false; problems: Problem[] };

export function readPolicy(file: string, text: string): PolicyRead {
  const large = tooLarge(file, text);
  if (large !== undefined) return { ok: false, problems: [large] };
  const { value = {}, problems } = readYaml(policyYaml, file, text);
  if (problems.length > 0) return { ok: false, problems };
  const rules: PolicyRule[] = [];
  for (const [category, named] of Object.entries(value)) {
    for (const [name, rule] of Object.entries(named)) {
      if (rule.enabled ?? true) rules.push(checkedByHand(toRule(`${category}.${name}`, rule)));
    }
  }
  return { ok: true, rules };
}

function toRule(name: string, rule: PolicyRuleFile): PolicyRule {
  return {
    name,
    pattern: String(rule.pattern),
    conditions: (rule.conditions ?? []).map(toCondition),
    supervision: rule.supervision ?? 'confirm',
    risk: rule.risk ?? 'medium',
    safetyChecks: rule.safety_checks ?? [],
    restrictions: (rule.restrictions ?? []).map(toRestriction),
    priority: rule.priority ?? 0,
  };
}

/** If the program cannot make a check for this tool, a human makes it. */
function checkedByHand(rule: PolicyRule): PolicyRule {
  const runs = rule.supervision === 'automatic' || rule.supervision === 'notify';
  const isMade = (check: SafetyCheck): boolean =>
    CHECKED_TOOLS.includes(rule.pattern) && (MADE_CHECKS as readonly string[]).includes(check);
  const left = rule.safetyChecks.filter((check) => !isMade(check));
  if (left.length === 0 || !runs) return rule;
  return {
    ...rule,
    name: `${rule.name} (a human has to make these checks: ${left.join(', ')})`,
    supervision: 'confirm',
  };
}

/** The schema lets exactly one condition through. */
function toCondition(file: NonNullable<PolicyRuleFile['conditions']>[number]): Condition {
  const texts = (value: string | string[]): string[] => (typeof value === 'string' ? [value] : value);
  if (file.path_matches !== undefined) return { kind: 'path_matches', globs: texts(file.path_matches) };
  if (file.command_matches !== undefined) return { kind: 'command_matches', globs: texts(file.command_matches) };
  return { kind: 'command_starts_with', starts: texts(file.command_starts_with!) };
}

function toRestriction(file: NonNullable<PolicyRuleFile['restrictions']>[number]): Restriction {
  if (file.type === 'size_limit') return { type: file.type, maxBytes: count(file.max_bytes)! };
  return { type: file.type, allow: textList(file.allow) ?? [], deny: textList(file.deny) ?? [] };
}
