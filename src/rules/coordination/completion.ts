/**
 * The two-phase vote of peers before a root that several of them worked on is certified. Each peer
 * may know something that the store does not show yet. A root is certified when every peer voted
 * twice that it is idle and nothing changed in between. test/rules/coordination explores every
 * order of events.
 */

// Why two phases: in the first, every peer says whether it is idle and how much it has done for the
// root so far (its mark). If all are idle and nothing is open or unread, all are asked again. A
// peer that is idle in both phases with an equal mark was idle the whole time in between. The idle
// times of all peers have one instant in common: the one at which nothing was open or unread. After
// that nothing can start. Silent peers and people are not asked, so open tasks and unread notes are
// counted once more.
//
// The round is repeated if a peer joined, was busy, did something in between, or died between its
// votes: a dead peer may have sent a note that no vote accounts for.
export interface Vote {
  peer: string;
  /** The number of the vote round; notes call it `ballot`. */
  ballot: number;
  phase: 1 | 2;
  /** The peer is not working under the root and knows of no open task there. */
  ready: boolean;
  /** Grows with everything that this peer does for the root. */
  mark: number;
}

export interface VoteRound {
  number: number;
  phase: 1 | 2;
  /** The peers that must agree: all live ones in phase 1, the voters of phase 1 in phase 2. */
  asked: readonly string[];
  votes: ReadonlyMap<string, Vote>;
  /** Marks of the first phase. */
  marks: ReadonlyMap<string, number>;
}

export interface Seen {
  /** Peers that are alive now and take part. */
  live: readonly string[];
  /** Open tasks and unread notes under this root, in the store, now. */
  open: number;
  unread: number;
}

type Count =
  /** Votes are missing. */
  | { kind: 'wait'; missing: string[] }
  /** The round is void; start a new one. */
  | { kind: 'again'; why: string }
  /** Phase 1 passed: ask all peers again with this round. */
  | { kind: 'confirm'; round: VoteRound }
  | { kind: 'certified'; agreed: string[] };

export function newRound(number: number, live: readonly string[]): VoteRound {
  return { number, phase: 1, asked: [...live], votes: new Map(), marks: new Map() };
}

/**
 * Ignores votes of another round or phase, second votes, and votes of peers that were not asked.
 */
export function withVote(round: VoteRound, vote: Vote): VoteRound {
  if (!round.asked.includes(vote.peer)) return round;
  if (vote.ballot !== round.number || vote.phase !== round.phase || round.votes.has(vote.peer)) return round;
  return { ...round, votes: new Map(round.votes).set(vote.peer, vote) };
}

export function count(round: VoteRound, seen: Seen): Count {
  for (const vote of round.votes.values())
    if (!vote.ready) return { kind: 'again', why: `${vote.peer} still works on it` };
  return round.phase === 1 ? countFirst(round, seen) : countSecond(round, seen);
}

function countFirst(round: VoteRound, { live, open, unread }: Seen): Count {
  const joined = live.filter((peer) => !round.asked.includes(peer));
  if (joined.length > 0) return { kind: 'again', why: `${joined.join(', ')} joined` };
  const missing = live.filter((peer) => !round.votes.has(peer));
  if (missing.length > 0) return { kind: 'wait', missing };
  if (open > 0 || unread > 0) return { kind: 'again', why: `${open} open tasks and ${unread} unread notes` };
  const marks = new Map(live.map((peer) => [peer, round.votes.get(peer)!.mark]));
  return { kind: 'confirm', round: { ...round, phase: 2, asked: [...live], votes: new Map(), marks } };
}

function countSecond(round: VoteRound, { live, open, unread }: Seen): Count {
  const gone = round.asked.filter((peer) => !live.includes(peer));
  if (gone.length > 0) return { kind: 'again', why: `${gone.join(', ')} left` };
  for (const { peer, mark } of round.votes.values())
    if (mark !== round.marks.get(peer)) return { kind: 'again', why: `${peer} did something between its votes` };
  const missing = round.asked.filter((peer) => !round.votes.has(peer));
  if (missing.length > 0) return { kind: 'wait', missing };
  if (open > 0 || unread > 0) return { kind: 'again', why: `${open} open tasks and ${unread} unread notes` };
  return { kind: 'certified', agreed: [...round.asked] };
}
