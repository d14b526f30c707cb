/** Which rules of `storage/policy.yaml` speak about an action: among those that fit, only the highest priority is heard. */
import type { Condition, PolicyRule } from '../../domain/policy.js';
import { globFitsAnyCase } from '../../domain/wildcard.js';

export interface Action {
  tool: string;
  /** Spellings of the command, if it is one. */
  commands?: string[];
  path?: string;
}

export function applyingRules(rules: PolicyRule[], action: Action): PolicyRule[] {
  const fitting = rules.filter(
    (rule) =>
      globFitsAnyCase(rule.pattern, action.tool) && rule.conditions.every((condition) => holds(condition, action)),
  );
  const highest = Math.max(...fitting.map((rule) => rule.priority));
  return fitting.filter((rule) => rule.priority === highest);
}

function holds(condition: Condition, { commands, path }: Action): boolean {
  switch (condition.kind) {
    case 'path_matches':
      return path !== undefined && condition.globs.some((glob) => globFitsAnyCase(glob, path));
    case 'command_matches':
      return (commands ?? []).some((command) => condition.globs.some((glob) => globFitsAnyCase(glob, command)));
    case 'command_starts_with':
      return (commands ?? []).some((command) => condition.starts.some((start) => startsWith(command, start)));
  }
}

/** By whole words. */
function startsWith(command: string, start: string): boolean {
  const text = start.trim();
  return command === text || (command.startsWith(text) && /\s/.test(command[text.length] ?? ''));
}
