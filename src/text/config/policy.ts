/**
 * `storage/policy.yaml`: rules about tools, in categories.
 *
 *   filesystem:
 *     write_config:
 *       pattern: write_file                     # a glob on the tool's name
 *       conditions: [{ path_matches: ["config/*"] }]      # all must hold; also command_matches, command_starts_with
 *       supervision: confirm                    # automatic, notify, confirm, manual, deny
 *       risk: medium                            # none, low, medium, high, critical
 *       safety_checks: [disk_space]             # also permission; backup and sensitive_data are a human's, so the rule asks
 *       restrictions: [{ type: size_limit, max_bytes: 1000000 }, { type: path_pattern, deny: ["*.env"] }]
 *       priority: 10                            # higher wins
 *
 * A name that is not known is an error and makes the file unreadable: a check that is dropped in silence protects nobody.
 */
import {
  CHECKED_TOOLS,
  MADE_CHECKS,
  RISKS,
  SAFETY_CHECKS,
  SUPERVISIONS,
  type Condition,
  type PolicyRule,
  type Restriction,
  type SafetyCheck,
} from '../../domain/policy.js';
import type { Problem } from '../../domain/problem.js';
import { tooLarge } from './allowlist.js';
import { loadYaml, wholeFile, YamlPlaces } from '../yaml/parse.js';
import { Fields, type Found, type Report } from '../yaml/fields.js';

type PolicyRead = { ok: true; rules: PolicyRule[] } | { ok: false; problems: Problem[] };

export function readPolicy(file: string, text: string): PolicyRead {
  if (text.length > 256 * 1024) return tooLarge(file);
  const source = wholeFile(file, text);
  const loaded = loadYaml(source);
  if (!loaded.ok) return { ok: false, problems: [loaded.problem] };
  if (loaded.value === null || loaded.value === undefined) return { ok: true, rules: [] };
  const report: Report = { places: new YamlPlaces(source), problems: [], warnings: [] };
  const rules: PolicyRule[] = [];
  const isMapping = new Fields({ file: loaded.value }, [], report).mapping('file') !== undefined;
  const root = isMapping ? new Fields(loaded.value as Record<string, unknown>, [], report) : undefined;
  for (const [category, found] of root?.entries() ?? []) {
    for (const [name, rule] of root!.mappingOf(found)?.entries() ?? []) {
      const fields = root!.mappingOf(rule);
      const read = fields && readRule(`${category}.${name}`, rule, fields);
      if (read) rules.push(read);
    }
  }
  return report.problems.length > 0 ? { ok: false, problems: report.problems } : { ok: true, rules };
}

function readRule(name: string, found: Found, fields: Fields): PolicyRule | undefined {
  const pattern = fields.text('pattern');
  const enabled = fields.flag('enabled') ?? true;
  fields.text('description');
  const rule: PolicyRule = {
    name,
    pattern: pattern ?? '',
    conditions: readList(fields, 'conditions', readCondition),
    supervision: fields.choice('supervision', SUPERVISIONS) ?? 'confirm',
    risk: fields.choice('risk', RISKS) ?? 'medium',
    safetyChecks: readList(fields, 'safety_checks', readCheck),
    restrictions: readList(fields, 'restrictions', readRestriction),
    priority: fields.number('priority', { min: -1_000_000, max: 1_000_000 }) ?? 0,
    line: fields.report.places.key(found.path).line ?? 0,
  };
  fields.noMore();
  if (pattern === undefined) fields.error('bad_field', `"${name}" has no pattern`, found.path);
  return enabled ? checkedByHand(rule) : undefined;
}

/** Whoever asks for a check that the program does not make, for this tool, gets a human in its place. */
function checkedByHand(rule: PolicyRule): PolicyRule {
  const runs = rule.supervision === 'automatic' || rule.supervision === 'notify';
  const isMade = (check: SafetyCheck): boolean =>
    CHECKED_TOOLS.includes(rule.pattern) && (MADE_CHECKS as readonly string[]).includes(check);
  const left = rule.safetyChecks.filter((check) => !isMade(check));
  if (left.length === 0 || !runs) return rule;
  return { ...rule, name: `${rule.name} (a human does ${left.join(', ')})`, supervision: 'confirm' };
}

function readList<T>(fields: Fields, key: string, read: (item: Found, fields: Fields) => T | undefined): T[] {
  const found = fields.take(key);
  if (found === undefined) return [];
  if (!Array.isArray(found.value)) {
    fields.wrong(found, 'a list');
    return [];
  }
  return found.value.flatMap((value: unknown, n): T[] => {
    const one = read({ value, path: [...found.path, n] }, fields);
    return one === undefined ? [] : [one];
  });
}

function readCondition(item: Found, fields: Fields): Condition | undefined {
  const inner = fields.mappingOf(item);
  const [first, ...more] = inner?.entries() ?? [];
  if (first === undefined || more.length > 0) return fields.wrong(item, 'one condition with its values');
  const [kind, values] = first;
  const texts = Array.isArray(values.value) ? fields.textsOf(values) : [String(values.value)];
  if (texts === undefined || texts.length === 0 || texts.includes('')) return fields.wrong(values, 'at least one text');
  if (kind === 'path_matches' || kind === 'command_matches') return { kind, globs: texts };
  if (kind === 'command_starts_with') return { kind, starts: texts };
  const hint = 'known: path_matches, command_matches, command_starts_with';
  fields.error('unknown_key', `unknown condition "${kind}"`, values.path, 'key', hint);
  return undefined;
}

function readCheck(item: Found, fields: Fields): SafetyCheck | undefined {
  const known = SAFETY_CHECKS.find((name) => name === item.value);
  return known ?? fields.wrong(item, `one of: ${SAFETY_CHECKS.join(', ')}`);
}

function readRestriction(item: Found, fields: Fields): Restriction | undefined {
  const inner = fields.mappingOf(item);
  if (inner === undefined) return undefined;
  const type = inner.choice('type', ['size_limit', 'path_pattern']);
  if (type === undefined) return fields.wrong(item, 'a restriction of type size_limit or path_pattern');
  const restriction: Restriction =
    type === 'size_limit'
      ? { type, maxBytes: inner.whole('max_bytes') ?? -1 }
      : { type, allow: inner.texts('allow') ?? [], deny: inner.texts('deny') ?? [] };
  inner.noMore();
  if (restriction.type === 'size_limit' && restriction.maxBytes < 0)
    return fields.wrong(item, 'a size_limit with max_bytes');
  return restriction;
}
