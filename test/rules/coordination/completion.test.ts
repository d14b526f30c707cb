/**
 * Explores the vote on completion in every order of events: three peers work, send notes, create
 * tasks, die and join while votes and notes are in transit. A root is never certified while a peer
 * works or anything is open or unread, and every state can still reach an end.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { count, newRound, withVote, type VoteRound, type Seen } from '../../../src/rules/coordination/completion.js';

interface Peer {
  life: 'absent' | 'alive' | 'dead';
  /** It works on something that the store does not show. */
  works: boolean;
  /** Whether it did something since its first vote; only the difference between votes matters. */
  mark: 0 | 1;
  /** The phase of the question that it has not answered yet. */
  asked: 0 | 1 | 2;
}

interface World {
  peers: Peer[];
  /** Unread notes of each peer. */
  notes: number[];
  open: number;
  /** The peer that holds the root and counts the votes. */
  holder: number;
  round: VoteRound | undefined;
  /** Votes in transit. */
  votes: { peer: number; phase: 1 | 2; ready: boolean; mark: 0 | 1 }[];
  /** How many notes or tasks may still be created. */
  tells: number;
  deaths: number;
  certified: boolean;
}

type Counting = (round: VoteRound, seen: Seen) => ReturnType<typeof count>;

const START: World = {
  peers: [
    { life: 'alive', works: true, mark: 0, asked: 0 },
    { life: 'alive', works: true, mark: 0, asked: 0 },
    { life: 'absent', works: false, mark: 0, asked: 0 },
  ],
  notes: [0, 0, 0],
  open: 0,
  holder: 0,
  round: undefined,
  votes: [],
  tells: 2,
  deaths: 1,
  certified: false,
};

test('with three peers in every order, no root is certified too early and none gets stuck', () => {
  const { states, early, stuck, certified } = explore(count);
  assert.deepEqual(early, []);
  assert.deepEqual(stuck, []);
  assert.ok(certified > 0);
  assert.ok(states > 10_000, `only ${states} states`);
});

test('the exploration detects a vote with only one phase', () => {
  const hasty: Counting = (round, seen) => {
    const counted = count(round, seen);
    return counted.kind === 'confirm' ? { kind: 'certified', agreed: [] } : counted;
  };
  assert.notDeepEqual(explore(hasty).early, []);
});

test('the exploration detects a vote without marks', () => {
  const blind: Counting = (round, seen) =>
    count({ ...round, marks: new Map([...round.votes].map(([peer, { mark }]) => [peer, mark])) }, seen);
  assert.notDeepEqual(explore(blind).early, []);
});

test('the exploration detects a vote that leaves a dead peer out of the second phase', () => {
  const lax: Counting = (round, seen) =>
    count(
      round.phase === 2 ? { ...round, asked: round.asked.filter((peer) => seen.live.includes(peer)) } : round,
      seen,
    );
  assert.notDeepEqual(explore(lax).early, []);
});

test('the exploration detects a vote that does not ask a peer that joined', () => {
  const closed: Counting = (round, seen) =>
    count(round, { ...seen, live: seen.live.filter((peer) => round.asked.includes(peer)) });
  assert.notDeepEqual(explore(closed).early, []);
});

/** The letter of a live peer in the key of a state. */
const ALIVE = 'l';

/** Visits every reachable state. `early`: certified too early; `stuck`: cannot reach an end. */
function explore(counting: Counting): { states: number; early: string[]; stuck: string[]; certified: number } {
  const before = new Map<string, string[]>([[keyOf(START), []]]);
  const queue: World[] = [START];
  const ends: string[] = [];
  const early: string[] = [];
  while (queue.length > 0) {
    const world = queue.pop()!;
    const key = keyOf(world);
    if (world.certified) {
      ends.push(key);
      if (!isQuiet(world)) early.push(key);
      if (early.length > 0) break; // one is enough
      continue;
    }
    for (const next of moves(world, counting)) {
      const nextKey = keyOf(next);
      const origins = before.get(nextKey);
      if (origins !== undefined) origins.push(key);
      else {
        before.set(nextKey, [key]);
        queue.push(next);
      }
    }
  }
  const canEnd = new Set(ends);
  const back = [...ends];
  while (back.length > 0) {
    for (const key of before.get(back.pop()!)!) {
      if (canEnd.has(key)) continue;
      canEnd.add(key);
      back.push(key);
    }
  }
  // If all peers have died, no peer is left to certify the root.
  const stuck = [...before.keys()].filter((key) => !canEnd.has(key) && key.includes(ALIVE));
  return { states: before.size, early: early.slice(0, 3), stuck: stuck.slice(0, 3), certified: ends.length };
}

function isQuiet({ peers, notes, open }: World): boolean {
  return open === 0 && notes.every((n) => n === 0) && !peers.some(({ life, works }) => life === 'alive' && works);
}

/** Every event that can happen next. */
function* moves(world: World, counting: Counting): Iterable<World> {
  for (const at of world.peers.keys()) {
    yield* work(world, at);
    yield* comeAndGo(world, at);
    yield* answer(world, at);
  }
  for (const at of world.votes.keys()) yield arrive(world, at);
  yield* lead(world, counting);
}

function* work(world: World, at: number): Iterable<World> {
  const peer = world.peers[at]!;
  if (peer.life !== 'alive') return;
  if (peer.works) {
    yield change(world, at, { works: false });
    if (world.tells > 0) {
      for (const to of world.peers.keys())
        if (to !== at && world.peers[to]!.life === 'alive')
          yield { ...did(world, at), notes: world.notes.map((n, i) => (i === to ? n + 1 : n)), tells: world.tells - 1 };
      yield { ...did(world, at), open: world.open + 1, tells: world.tells - 1 };
    }
    return;
  }
  // Notes for a dead peer are read by the peer that hosts its agents now.
  for (const from of world.peers.keys()) {
    if (world.notes[from] === 0 || (from !== at && world.peers[from]!.life === 'alive')) continue;
    yield { ...did(world, at, true), notes: world.notes.map((n, i) => (i === from ? n - 1 : n)) };
  }
  if (world.open > 0) yield { ...did(world, at, true), open: world.open - 1 };
}

function* comeAndGo(world: World, at: number): Iterable<World> {
  const peer = world.peers[at]!;
  if (peer.life === 'absent') yield change(world, at, { life: 'alive' });
  if (peer.life !== 'alive' || world.deaths === 0) return;
  const dead = change({ ...world, deaths: world.deaths - 1 }, at, { life: 'dead', works: false, asked: 0 });
  // Its work is open again, and the root goes to another peer, which does not know the round.
  const left = { ...dead, open: dead.open + (peer.works ? 1 : 0) };
  const heir = left.peers.findIndex(({ life }) => life === 'alive');
  yield at !== world.holder || heir < 0 ? left : withoutRound({ ...left, holder: heir });
}

function* answer(world: World, at: number): Iterable<World> {
  const { life, asked, works, mark } = world.peers[at]!;
  if (life !== 'alive' || asked === 0) return;
  const vote = { peer: at, phase: asked, ready: !works, mark: asked === 1 ? (0 as const) : mark };
  yield { ...change(world, at, { asked: 0, mark: vote.mark }), votes: [...world.votes, vote] };
}

function arrive(world: World, at: number): World {
  const { peer, ...vote } = world.votes[at]!;
  const votes = world.votes.filter((_, i) => i !== at);
  if (world.round === undefined) return { ...world, votes };
  return { ...world, votes, round: withVote(world.round, { ...vote, peer: `p${peer}`, ballot: 0 }) };
}

/** The holder starts a round when it is idle, and counts the votes. */
function* lead(world: World, counting: Counting): Iterable<World> {
  const live = [...world.peers.keys()].filter((at) => world.peers[at]!.life === 'alive');
  if (!live.includes(world.holder)) return;
  const names = live.map((at) => `p${at}`);
  if (world.round === undefined) {
    if (world.peers[world.holder]!.works) return;
    const peers = world.peers.map((peer, at) => ({
      ...peer,
      mark: 0 as const,
      asked: live.includes(at) ? (1 as const) : peer.asked,
    }));
    yield { ...world, peers, votes: [], round: newRound(0, names) };
    return;
  }
  const unread = world.notes.reduce((sum, n) => sum + n, 0);
  const counted = counting(world.round, { live: names, open: world.open, unread });
  if (counted.kind === 'again') yield withoutRound(world);
  if (counted.kind === 'certified') yield { ...world, certified: true };
  if (counted.kind !== 'confirm') return;
  const peers = world.peers.map((peer, at) =>
    counted.round.asked.includes(`p${at}`) ? { ...peer, asked: 2 as const } : peer,
  );
  yield { ...world, peers, round: counted.round };
}

/** Votes of a void round carry its number and never count, so they can be dropped. */
function withoutRound(world: World): World {
  return {
    ...world,
    round: undefined,
    votes: [],
    peers: world.peers.map((peer) => ({ ...peer, asked: 0 as const, mark: 0 as const })),
  };
}

/** The peer did something for the root. */
function did(world: World, at: number, works = world.peers[at]!.works): World {
  return change(world, at, { mark: world.round === undefined ? 0 : 1, works });
}

function change(world: World, at: number, more: Partial<Peer>): World {
  return { ...world, peers: world.peers.map((peer, i) => (i === at ? { ...peer, ...more } : peer)) };
}

/** A short key, because there are many states. */
function keyOf({ peers, notes, open, holder, round, votes, tells, deaths, certified }: World): string {
  let key = `${notes[0]}${notes[1]}${notes[2]}${open}${holder}${tells}${deaths}${certified ? 'C' : ''}`;
  for (const { life, works, mark, asked } of peers) key += `${life[1]}${works ? 'w' : '-'}${mark}${asked}`;
  if (round !== undefined) {
    key += `|${round.phase}`;
    for (const name of NAMES) {
      const vote = round.votes.get(name);
      key += round.asked.includes(name) ? 'a' : '-';
      if (vote !== undefined) key += `${vote.ready ? 'y' : 'n'}${vote.mark}`;
    }
  }
  // At most one vote of each peer in each phase; their order does not matter.
  for (const phase of [1, 2])
    for (const at of peers.keys()) {
      const vote = votes.find((cast) => cast.peer === at && cast.phase === phase);
      key += vote === undefined ? '.' : `${vote.ready ? 'Y' : 'N'}${vote.mark}`;
    }
  return key;
}

const NAMES = ['p0', 'p1', 'p2'];
