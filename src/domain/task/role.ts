/**
 * A role states the purpose of a task for its parent. Everything that follows from a role is a
 * fact in this table, and no other file compares role names. A role without a row (a person's own
 * word, or one of a later version) is ordinary requested work.
 */
export type Role = string;

interface RoleFacts {
  // Accounting
  /**
   * It is one level deeper than its parent. Stages of patterns are not: their number is bounded by
   * the agent files.
   */
  countsTowardDepth: boolean;
  /**
   * It counts against the turns, tool calls and children of its parent's budget. Other tasks under
   * the parent do not.
   */
  countsAsChild: boolean;
  /** It occupies its agent. A busy agent may still bid. */
  takesCapacity: boolean;
  countsForTrackRecord: boolean;

  // Patterns
  /**
   * A stage of a pattern: only its parent waits for it, without a deadline, until all stages of the
   * set have ended.
   */
  isStage: boolean;
  /**
   * The stages for which its parent keeps a share of its budget; absent: one share for the answer.
   */
  followedBy?: readonly FollowingStage[];
  /** Without this stage the pattern has no answer. */
  isEssential: boolean;
  /** The agent takes turns on it, even if its file has patterns. */
  isLeaf: boolean;
  /** The parent's own work, done by the parent's agent. */
  isOwnWork: boolean;
  /** Its result becomes part of another prompt, and is quoted if it is long. */
  resultIsQuoted: boolean;
  /** A handoff may pass on the conversation in which it was done. */
  passesConversation: boolean;
  /** Part of a round of a team: its result contains what was said and voted. */
  isRound: boolean;
  /** A member of a team. An agent that continues its work becomes the member. */
  isMember: boolean;
  /** One conversation serves several rounds, so one approved plan does too. */
  plansOnce: boolean;

  // Work
  /** The root of a tree: no other task requested it. */
  isRoot: boolean;
  /** Work that people or agents asked for in their own words. */
  isWork: boolean;
  /** A person put it under an open root. */
  isAddedByPeople: boolean;
  /** Its asker does not wait: the outcome comes back as a message. */
  runsInBackground: boolean;
  /** If it fails, its asker gets the reason and continues without it. */
  isSpare: boolean;
  /** The asker's file may mark it as required. */
  mayBeRequired: boolean;
  /** The form in which its asker reads its result. */
  resultFormat: 'agent_response' | 'resolution' | 'pieces' | 'answer';

  // Particular tasks
  isApproval: boolean;
  /** No agent works on it: its due times create tasks. */
  isSchedule: boolean;
  /** An agent asks the person, who answers in words. */
  isQuestion: boolean;
  isBid: boolean;
  isTrial: boolean;
  isBreakdown: boolean;
  /** Something that an agent lacks. No agent works on it: a rule resolves it. */
  need?: 'dependency' | 'help';
  /** It gives an agent what a need asks for. */
  isProvision: boolean;
  choosesProvider: boolean;
  /** It serves its asker and is as urgent as its asker. */
  servesAsker: boolean;

  // Conversation
  /** Plain text ends it, even if its agent has final_report. */
  answersInText: boolean;
  /** It requires one call of this tool, and ends with it. */
  requiredTool?: string;
  onlyTools?: readonly string[];
  /** Tools that it has besides the tools of its agent. */
  addedTools?: readonly string[];
  /** The settings of the agent's file that it uses; absent: the settings for ordinary work. */
  mind?: 'metacognition' | 'evaluator';
  /** The system prompt that takes the place of the agent's own. */
  prompt?: 'check' | 'bid' | 'same';
}

export type FollowingStage = 'check' | 'route_or_handoff' | 'handoff' | 'next_round';

const ORDINARY: RoleFacts = {
  countsTowardDepth: true,
  countsAsChild: true,
  takesCapacity: true,
  countsForTrackRecord: true,
  isStage: false,
  isEssential: false,
  isLeaf: false,
  isOwnWork: false,
  resultIsQuoted: false,
  passesConversation: false,
  isRound: false,
  isMember: false,
  plansOnce: false,
  isRoot: false,
  isWork: false,
  isAddedByPeople: false,
  runsInBackground: false,
  isSpare: false,
  mayBeRequired: false,
  resultFormat: 'agent_response',
  isApproval: false,
  isSchedule: false,
  isQuestion: false,
  isBid: false,
  isTrial: false,
  isBreakdown: false,
  isProvision: false,
  choosesProvider: false,
  servesAsker: false,
  answersInText: false,
};

const PART = { countsTowardDepth: false } as const;
const STAGE = { ...PART, isStage: true } as const;
/** The agent acts for the asking task, and only the outcome of that task counts. */
const OWN_TURN = { ...STAGE, isLeaf: true, countsForTrackRecord: false } as const;
/** A side question. Its outcome says nothing about the agent's work. */
const QUESTION = { ...PART, isLeaf: true, countsForTrackRecord: false, isSpare: true } as const;
const MEMBER = {
  ...STAGE,
  followedBy: ['next_round'],
  isSpare: true,
  isRound: true,
  isMember: true,
  plansOnce: true,
  answersInText: true,
} as const satisfies Partial<RoleFacts>;
const TEAM_TOOLS = ['broadcast', 'vote_conclude'] as const;

const ROWS = {
  root: { isRoot: true, isWork: true },
  schedule: { isSchedule: true, takesCapacity: false, countsForTrackRecord: false },
  subtask: { isWork: true, isAddedByPeople: true },
  call: { isWork: true, isSpare: true },
  task: { isWork: true, isSpare: true, runsInBackground: true },
  part: { isWork: true },
  approval: { isApproval: true, countsForTrackRecord: false },
  question: { ...PART, isQuestion: true, resultFormat: 'answer', countsAsChild: false, countsForTrackRecord: false },
  dependency: { need: 'dependency', servesAsker: true, resultFormat: 'resolution', countsForTrackRecord: false },
  help: { need: 'help', servesAsker: true, resultFormat: 'resolution', countsForTrackRecord: false },

  // Patterns
  advisor: { ...STAGE, isSpare: true, mayBeRequired: true, resultIsQuoted: true },
  work: {
    ...OWN_TURN,
    followedBy: ['check', 'route_or_handoff'],
    isEssential: true,
    isOwnWork: true,
    resultIsQuoted: true,
    passesConversation: true,
  },
  check: {
    ...OWN_TURN,
    isEssential: true,
    requiredTool: 'give_verdict',
    mind: 'metacognition',
    prompt: 'check',
  },
  route: { ...STAGE, followedBy: ['handoff'], isEssential: true, resultIsQuoted: true, passesConversation: true },
  handoff: { ...STAGE, followedBy: [], isEssential: true, resultIsQuoted: true },
  member: { ...MEMBER, addedTools: TEAM_TOOLS },
  /** A member of a team that always has all its rounds: its answer is all that it contributes. */
  speaker: MEMBER,
  /** The turns of the agent that ends the chain of a member. */
  seat: {
    ...OWN_TURN,
    followedBy: ['check'],
    isRound: true,
    plansOnce: true,
    answersInText: true,
    addedTools: TEAM_TOOLS,
  },
  coordinator: { ...OWN_TURN, isRound: true, onlyTools: ['broadcast', 'conclude_team'] },

  // Finding an agent for a task, or for a need
  bid: {
    ...QUESTION,
    isBid: true,
    countsAsChild: false,
    takesCapacity: false,
    requiredTool: 'place_bid',
    mind: 'evaluator',
    prompt: 'bid',
  },
  match: { ...QUESTION, choosesProvider: true, requiredTool: 'assign_provider' },
  provide: { ...PART, isSpare: true, isProvision: true, servesAsker: true, addedTools: ['provide_dependency'] },

  // Breaking down
  breakdown: { ...PART, isBreakdown: true, resultFormat: 'pieces', countsForTrackRecord: false },
  same: { ...QUESTION, requiredTool: 'name_duplicates', mind: 'metacognition', prompt: 'same' },

  // Making a new agent
  research: PART,
  draft: { ...PART, isLeaf: true, requiredTool: 'draft_agent' },
  trial: { ...QUESTION, isTrial: true },
  judge: { ...QUESTION, requiredTool: 'judge_trial', mind: 'metacognition' },
} satisfies Record<string, Partial<RoleFacts>>;

export const ROLE_NAMES: readonly Role[] = Object.keys(ROWS);

const FACTS: ReadonlyMap<Role, RoleFacts> = new Map(
  Object.entries<Partial<RoleFacts>>(ROWS).map(([role, row]) => [role, { ...ORDINARY, ...row }]),
);

export function roleFacts(role: Role): RoleFacts {
  return FACTS.get(role) ?? ORDINARY;
}

/** True for a tool that comes only with a role: an agent file need not name it. */
export function isOfRole(tool: string): boolean {
  return ROLE_TOOLS.has(tool);
}

const ROLE_TOOLS: ReadonlySet<string> = new Set([
  'route_to',
  ...Object.values<Partial<RoleFacts>>(ROWS).flatMap(({ requiredTool, onlyTools = [], addedTools = [] }) => [
    ...(requiredTool === undefined ? [] : [requiredTool]),
    ...onlyTools.filter((tool) => tool !== 'broadcast'),
    ...addedTools.filter((tool) => tool !== 'broadcast'),
  ]),
]);
