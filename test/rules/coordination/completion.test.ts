/**
 * The vote on completion, played in every order there is: three processes that work, tell each other things, make tasks, die and join, with
 * votes and notes on their way. Never is a root certified while anybody works, or anything is open or unread; and from wherever it
 * stands it can still come to an end.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  count,
  newBallot,
  withVote,
  type Ballot,
  type Count,
  type Seen,
} from '../../../src/rules/coordination/completion.js';

interface Peer {
  life: 'absent' | 'alive' | 'dead';
  /** It works on something that the store does not show. */
  works: boolean;
  /** Whether it did something since its first vote: all that the second is compared for. */
  mark: 0 | 1;
  /** The phase it was asked for and has not answered. */
  asked: 0 | 1 | 2;
}

interface World {
  peers: Peer[];
  /** Notes told to each and not read. */
  notes: number[];
  open: number;
  /** Who counts the votes; the holder of the root. */
  holder: number;
  ballot: Ballot | undefined;
  /** Votes on their way. */
  votes: { peer: number; phase: 1 | 2; ready: boolean; mark: 0 | 1 }[];
  /** How much may still happen. */
  tells: number;
  deaths: number;
  certified: boolean;
}

type Counting = (ballot: Ballot, seen: Seen) => Count;

const START: World = {
  peers: [
    { life: 'alive', works: true, mark: 0, asked: 0 },
    { life: 'alive', works: true, mark: 0, asked: 0 },
    { life: 'absent', works: false, mark: 0, asked: 0 },
  ],
  notes: [0, 0, 0],
  open: 0,
  holder: 0,
  ballot: undefined,
  votes: [],
  tells: 2,
  deaths: 1,
  certified: false,
};

test('three processes in every order: nothing is certified too early, and everything can come to its end', () => {
  const { states, wrong, stuck, certified } = explore(count);
  assert.deepEqual(wrong, []);
  assert.deepEqual(stuck, []);
  assert.ok(certified > 0);
  assert.ok(states > 10_000, `only ${states} states`);
});

test('the search would find it: with one phase only, somebody is still working', () => {
  const hasty: Counting = (ballot, seen) => {
    const found = count(ballot, seen);
    return found.kind === 'confirm' ? { kind: 'certified', agreed: [] } : found;
  };
  assert.notDeepEqual(explore(hasty).wrong, []);
});

test('the search would find it: without marks, somebody worked and told between the votes', () => {
  const blind: Counting = (ballot, seen) =>
    count({ ...ballot, marks: new Map([...ballot.votes].map(([peer, { mark }]) => [peer, mark])) }, seen);
  assert.notDeepEqual(explore(blind).wrong, []);
});

test('the search would find it: if a dead process were only left out of the second phase', () => {
  const lax: Counting = (ballot, seen) =>
    count(
      ballot.phase === 2 ? { ...ballot, asked: ballot.asked.filter((one) => seen.live.includes(one)) } : ballot,
      seen,
    );
  assert.notDeepEqual(explore(lax).wrong, []);
});

test('the search would find it: if a process that joined were not asked', () => {
  const closed: Counting = (ballot, seen) =>
    count(ballot, { ...seen, live: seen.live.filter((one) => ballot.asked.includes(one)) });
  assert.notDeepEqual(explore(closed).wrong, []);
});

/** How a living process shows in the name of a state. */
const ALIVE = 'l';

/** Every state that can be reached; those that are wrong, and those from which no way leads to the end. */
function explore(counting: Counting): { states: number; wrong: string[]; stuck: string[]; certified: number } {
  const before = new Map<string, string[]>([[keyOf(START), []]]);
  const queue: World[] = [START];
  const ends: string[] = [];
  const wrong: string[] = [];
  while (queue.length > 0) {
    const world = queue.pop()!;
    const key = keyOf(world);
    if (world.certified) {
      ends.push(key);
      if (!isQuiet(world)) wrong.push(key);
      if (wrong.length > 0) break; // one is enough
      continue;
    }
    for (const next of moves(world, counting)) {
      const nextKey = keyOf(next);
      const known = before.get(nextKey);
      if (known !== undefined) known.push(key);
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
  // Where all have died, nobody is left to certify anything.
  const stuck = [...before.keys()].filter((key) => !canEnd.has(key) && key.includes(ALIVE));
  return { states: before.size, wrong: wrong.slice(0, 3), stuck: stuck.slice(0, 3), certified: ends.length };
}

function isQuiet({ peers, notes, open }: World): boolean {
  return open === 0 && notes.every((n) => n === 0) && !peers.some(({ life, works }) => life === 'alive' && works);
}

/** Everything that can happen next, each by itself. */
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
  // What was told to a dead process is heard by whoever hosts its agents now.
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
  // What it worked on lies open again, and the root goes to somebody else, who knows nothing of the ballot.
  const left = { ...dead, open: dead.open + (peer.works ? 1 : 0) };
  const heir = left.peers.findIndex(({ life }) => life === 'alive');
  yield at !== world.holder || heir < 0 ? left : withoutBallot({ ...left, holder: heir });
}

function* answer(world: World, at: number): Iterable<World> {
  const { life, asked, works, mark } = world.peers[at]!;
  if (life !== 'alive' || asked === 0) return;
  const vote = { peer: at, phase: asked, ready: !works, mark: asked === 1 ? (0 as const) : mark };
  yield { ...change(world, at, { asked: 0, mark: vote.mark }), votes: [...world.votes, vote] };
}

function arrive(world: World, at: number): World {
  const { peer, ...said } = world.votes[at]!;
  const votes = world.votes.filter((_, i) => i !== at);
  if (world.ballot === undefined) return { ...world, votes };
  return { ...world, votes, ballot: withVote(world.ballot, { ...said, peer: `p${peer}`, ballot: 0 }) };
}

/** The holder begins a ballot when it is at rest itself, and counts. */
function* lead(world: World, counting: Counting): Iterable<World> {
  const live = [...world.peers.keys()].filter((at) => world.peers[at]!.life === 'alive');
  if (!live.includes(world.holder)) return;
  const names = live.map((at) => `p${at}`);
  if (world.ballot === undefined) {
    if (world.peers[world.holder]!.works) return;
    const peers = world.peers.map((peer, at) => ({
      ...peer,
      mark: 0 as const,
      asked: live.includes(at) ? (1 as const) : peer.asked,
    }));
    yield { ...world, peers, votes: [], ballot: newBallot(0, names) };
    return;
  }
  const unread = world.notes.reduce((sum, n) => sum + n, 0);
  const counted = counting(world.ballot, { live: names, open: world.open, unread });
  if (counted.kind === 'again') yield withoutBallot(world);
  if (counted.kind === 'certified') yield { ...world, certified: true };
  if (counted.kind !== 'confirm') return;
  const peers = world.peers.map((peer, at) =>
    counted.ballot.asked.includes(`p${at}`) ? { ...peer, asked: 2 as const } : peer,
  );
  yield { ...world, peers, ballot: counted.ballot };
}

/** Votes of a ballot that came to nothing carry its number and are not counted: they may as well be gone. */
function withoutBallot(world: World): World {
  return {
    ...world,
    ballot: undefined,
    votes: [],
    peers: world.peers.map((peer) => ({ ...peer, asked: 0 as const, mark: 0 as const })),
  };
}

/** It did something for the root. */
function did(world: World, at: number, works = world.peers[at]!.works): World {
  return change(world, at, { mark: world.ballot === undefined ? 0 : 1, works });
}

function change(world: World, at: number, more: Partial<Peer>): World {
  return { ...world, peers: world.peers.map((peer, i) => (i === at ? { ...peer, ...more } : peer)) };
}

/** All of it in few letters: there are many states. */
function keyOf({ peers, notes, open, holder, ballot, votes, tells, deaths, certified }: World): string {
  let key = `${notes[0]}${notes[1]}${notes[2]}${open}${holder}${tells}${deaths}${certified ? 'C' : ''}`;
  for (const { life, works, mark, asked } of peers) key += `${life[1]}${works ? 'w' : '-'}${mark}${asked}`;
  if (ballot !== undefined) {
    key += `|${ballot.phase}`;
    for (const name of NAMES) {
      const vote = ballot.votes.get(name);
      key += ballot.asked.includes(name) ? 'a' : '-';
      if (vote !== undefined) key += `${vote.ready ? 'y' : 'n'}${vote.mark}`;
    }
  }
  // At most one of each process in each phase; their order is nothing.
  for (const phase of [1, 2])
    for (const at of peers.keys()) {
      const vote = votes.find((one) => one.peer === at && one.phase === phase);
      key += vote === undefined ? '.' : `${vote.ready ? 'Y' : 'N'}${vote.mark}`;
    }
  return key;
}

const NAMES = ['p0', 'p1', 'p2'];
