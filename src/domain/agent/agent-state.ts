/**
 * The states of an agent and the moves between them. States are read off the task tree, so an agent may be found two states further than it
 * was last told to be: then the states between are told too. A move that the table does not have is a fault of ours, or of somebody who wrote
 * on the channel by hand.
 *
 * Five states are those of work: idle → working → waiting → complete, with blocked beside working. `complete` is not the end: in a workspace
 * that lives on, the next task makes it work again. `error` and `paused` come over an agent from outside, whatever it does, and leave it as
 * the tree then says: a file is mended, a person lets it go on.
 */
export const AGENT_STATES = ['idle', 'working', 'waiting', 'blocked', 'complete', 'error', 'paused'] as const;
export type AgentState = (typeof AGENT_STATES)[number];

const MOVES: Readonly<Record<AgentState, readonly AgentState[]>> = {
  idle: ['working', 'error', 'paused'],
  working: ['waiting', 'blocked', 'error', 'paused'],
  waiting: ['working', 'complete', 'error', 'paused'],
  blocked: ['working', 'error', 'paused'],
  complete: ['working', 'error', 'paused'],
  error: ['idle', 'working', 'waiting', 'complete', 'paused'],
  paused: ['idle', 'working', 'waiting', 'blocked', 'complete', 'error'],
};

export function isMove(from: AgentState, to: AgentState): boolean {
  return MOVES[from].includes(to);
}

/** The states to go through, `to` at the end; undefined if no legal moves lead there. Nobody passes through `error` or `paused`. */
export function movesTo(from: AgentState, to: AgentState): AgentState[] | undefined {
  if (from === to) return [];
  if (isMove(from, to)) return [to];
  return WAYS.get(`${from} ${to}`);
}

/** The shortest way between any two states that are not next to each other, worked out once. */
const WAYS: ReadonlyMap<string, AgentState[]> = new Map(
  AGENT_STATES.flatMap((from) =>
    AGENT_STATES.flatMap((to) => {
      const way = shortest(from, to);
      return way === undefined ? [] : [[`${from} ${to}`, way] as const];
    }),
  ),
);

function shortest(from: AgentState, to: AgentState): AgentState[] | undefined {
  let ways: AgentState[][] = [[from]];
  const seen = new Set<AgentState>([from]);
  while (ways.length > 0) {
    ways = ways.flatMap((way) =>
      MOVES[way.at(-1)!]
        .filter((next) => next === to || (!seen.has(next) && next !== 'error' && next !== 'paused'))
        .map((next) => [...way, next]),
    );
    const found = ways.find((way) => way.at(-1) === to);
    if (found !== undefined) return found.slice(1);
    for (const way of ways) seen.add(way.at(-1)!);
  }
  return undefined;
}
