/**
 * Selects the rules of `storage/policy.yaml` that apply to an action: of those that match, the ones
 * with the highest priority.
 */
import type { Condition, PolicyRule } from '../../domain/policy.js';
import { globFitsAnyCase } from '../../domain/wildcard.js';

export interface Action {
  tool: string;
  /** Spellings of the command, if the action is a command. */
  commands?: string[];
  path?: string;
}

export function applyingRules(rules: PolicyRule[], action: Action): PolicyRule[] {
  const matching = rules.filter(
    (rule) =>
      globFitsAnyCase(rule.pattern, action.tool) && rule.conditions.every((condition) => isMet(condition, action)),
  );
  const highest = Math.max(...matching.map((rule) => rule.priority));
  return matching.filter((rule) => rule.priority === highest);
}

function isMet(condition: Condition, { commands, path }: Action): boolean {
  switch (condition.kind) {
    case 'path_matches':
      return path !== undefined && condition.globs.some((glob) => globFitsAnyCase(glob, path));
    case 'command_matches':
      return (commands ?? []).some((command) => condition.globs.some((glob) => globFitsAnyCase(glob, command)));
    case 'command_starts_with':
      return (commands ?? []).some((command) => condition.starts.some((start) => startsWith(command, start)));
  }
}

/** Compares whole words. */
function startsWith(command: string, start: string): boolean {
  const text = start.trim();
  return command === text || (command.startsWith(text) && /\s/.test(command[text.length] ?? ''));
}
