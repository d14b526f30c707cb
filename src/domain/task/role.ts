/**
 * Why a task exists in its parent's eyes, and what follows from it: a row for each role, so that a new one is thought through in one place. A role
 * that has no row (a person's own word, or one of a later version) is something that somebody asked for, and nothing else.
 */
export type Role = string;

interface Facts {
  /** A part that agent files or the program ask for. Circles of them are refused and their number is bounded, so it is as deep as its parent. */
  isPart?: true;
  /** A stage of a pattern: whoever asked for it looks again only when all have ended, and nobody else, and no clock, waits for it. */
  isStage?: true;
  /** Work that people or agents asked for, in words of their own. */
  isWork?: true;
  /** The agent speaks for itself in it, whatever patterns it has. */
  isLeaf?: true;
  /** What it comes to is no work of its taker's, or is counted with the task it is part of: no record is kept of it. */
  isUncounted?: true;
  /** Whoever asked for it is told when it fails, and goes on without it. */
  isSpare?: true;
  /** It owes one call of this tool, and nothing else. */
  owes?: string;
  /** With which mind of the agent it is done; absent: its own. */
  mind?: 'metacognition' | 'evaluator';
}

const ROLES: Readonly<Record<Role, Facts>> = {
  root: { isWork: true },
  subtask: { isWork: true },
  call: { isWork: true, isSpare: true },
  task: { isWork: true, isSpare: true },
  part: { isWork: true },
  approval: { isUncounted: true },
  dependency: { isUncounted: true },
  help: { isUncounted: true },
  // Patterns
  work: { isPart: true, isStage: true, isLeaf: true, isUncounted: true },
  seat: { isPart: true, isStage: true, isLeaf: true, isUncounted: true },
  coordinator: { isPart: true, isStage: true, isLeaf: true, isUncounted: true },
  check: { isPart: true, isStage: true, isLeaf: true, isUncounted: true, owes: 'give_verdict', mind: 'metacognition' },
  // An advisor that its agent requires is the one that cannot be spared.
  advisor: { isPart: true, isStage: true, isSpare: true },
  member: { isPart: true, isStage: true, isSpare: true },
  route: { isPart: true, isStage: true },
  handoff: { isPart: true, isStage: true },
  // Finding a taker, or who provides. Who provides is as deep as what is provided.
  bid: { isPart: true, isLeaf: true, isUncounted: true, isSpare: true, owes: 'place_bid', mind: 'evaluator' },
  match: { isPart: true, isLeaf: true, isUncounted: true, isSpare: true, owes: 'assign_provider' },
  provide: { isPart: true, isSpare: true },
  // Breaking down: only ever resolved by its rule
  breakdown: { isPart: true, isUncounted: true },
  same: {
    isPart: true,
    isLeaf: true,
    isUncounted: true,
    isSpare: true,
    owes: 'name_duplicates',
    mind: 'metacognition',
  },
  // Making a new agent
  research: { isPart: true },
  draft: { isPart: true, isLeaf: true, owes: 'draft_agent' },
  trial: { isPart: true, isLeaf: true, isUncounted: true, isSpare: true },
  judge: { isPart: true, isLeaf: true, isUncounted: true, isSpare: true, owes: 'judge_trial', mind: 'metacognition' },
};

export const ROLE_NAMES: readonly Role[] = Object.keys(ROLES);

const ANY: Facts = {};

export function roleFacts(role: Role): Facts {
  return Object.hasOwn(ROLES, role) ? ROLES[role]! : ANY;
}
