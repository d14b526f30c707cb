/**
 * When several processes work on one root, each of them may know something that the store does not show yet. So before the root is
 * certified they are asked twice. First everybody says whether it is at rest, and how much it has done for the root so far (its mark).
 * When all are, and nothing is open or unread, everybody is asked once more. Whoever is still at rest with the same mark was at rest all
 * the time between its two votes, and all these times have an instant in common: the one when nothing was open or unread. From then on nothing
 * could begin again. Not everybody is asked (who keeps nothing to itself, who is silent, a person), so what is open or unread is looked at once
 * more before it is certified.
 *
 * A process that dies between its votes may have told somebody something that nobody would ask about: the ballot is begun anew. So it is
 * when somebody joined, was not at rest, or did something in between. `test/rules/completion.test.ts` plays this in every order there is
 * with three processes.
 */
export interface Vote {
  peer: string;
  ballot: number;
  phase: 1 | 2;
  /** At rest: it works on nothing of the root, and knows of nothing that is open. */
  ready: boolean;
  /** Grows with everything that this process does for the root. */
  mark: number;
}

export interface Ballot {
  number: number;
  phase: 1 | 2;
  /** Who must agree: in the first phase those that live, in the second those that voted in the first. */
  asked: readonly string[];
  votes: ReadonlyMap<string, Vote>;
  /** Marks of the first phase. */
  marks: ReadonlyMap<string, number>;
}

export interface Seen {
  /** Processes that live now and count. */
  live: readonly string[];
  /** Of this root, in the store, now. */
  open: number;
  unread: number;
}

export type Count =
  /** Not everybody has voted. */
  | { kind: 'wait'; missing: string[] }
  /** This ballot comes to nothing. */
  | { kind: 'again'; why: string }
  /** Everybody shall be asked once more, with this ballot. */
  | { kind: 'confirm'; ballot: Ballot }
  | { kind: 'certified'; agreed: string[] };

export function newBallot(number: number, live: readonly string[]): Ballot {
  return { number, phase: 1, asked: [...live], votes: new Map(), marks: new Map() };
}

/** What another ballot, or another phase, was told counts for nothing; nor does the word of who was not asked. */
export function withVote(ballot: Ballot, vote: Vote): Ballot {
  if (!ballot.asked.includes(vote.peer)) return ballot;
  if (vote.ballot !== ballot.number || vote.phase !== ballot.phase || ballot.votes.has(vote.peer)) return ballot;
  return { ...ballot, votes: new Map(ballot.votes).set(vote.peer, vote) };
}

export function count(ballot: Ballot, seen: Seen): Count {
  for (const vote of ballot.votes.values())
    if (!vote.ready) return { kind: 'again', why: `${vote.peer} still works on it` };
  return ballot.phase === 1 ? countFirst(ballot, seen) : countSecond(ballot, seen);
}

function countFirst(ballot: Ballot, { live, open, unread }: Seen): Count {
  const joined = live.filter((peer) => !ballot.asked.includes(peer));
  if (joined.length > 0) return { kind: 'again', why: `${joined.join(', ')} came` };
  const missing = live.filter((peer) => !ballot.votes.has(peer));
  if (missing.length > 0) return { kind: 'wait', missing };
  if (open > 0 || unread > 0) return { kind: 'again', why: `${open} open tasks and ${unread} unread notes` };
  const marks = new Map(live.map((peer) => [peer, ballot.votes.get(peer)!.mark]));
  return { kind: 'confirm', ballot: { ...ballot, phase: 2, asked: [...live], votes: new Map(), marks } };
}

function countSecond(ballot: Ballot, { live, open, unread }: Seen): Count {
  const gone = ballot.asked.filter((peer) => !live.includes(peer));
  if (gone.length > 0) return { kind: 'again', why: `${gone.join(', ')} went` };
  for (const { peer, mark } of ballot.votes.values())
    if (mark !== ballot.marks.get(peer)) return { kind: 'again', why: `${peer} did something meanwhile` };
  const missing = ballot.asked.filter((peer) => !ballot.votes.has(peer));
  if (missing.length > 0) return { kind: 'wait', missing };
  if (open > 0 || unread > 0) return { kind: 'again', why: `${open} open tasks and ${unread} unread notes` };
  return { kind: 'certified', agreed: [...ballot.asked] };
}
