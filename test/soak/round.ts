/**
 * One round: real processes work on a scene and are paused, killed, stopped and restarted at
 * random, until every task has ended. It reports a stall if nothing changes for long while no
 * process is paused or away.
 */
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openDesk } from '../../src/app/approvals.js';
import { crew, howItEnded, isRunning, type Crew, type Terminal } from './crew.js';
import type { Scene } from './scenes.js';
import { list, outcome, wrongIn, wrongSums, type Outcome } from './verdict.js';

/** `none`: undisturbed. `lag`: some processes start later. `all`: every fault. */
export const MODES = ['none', 'lag', 'pause', 'kill', 'stop', 'all'] as const;
export type Mode = (typeof MODES)[number];

interface Round {
  scene: Scene;
  mode: Mode;
  root: string;
  random: () => number;
  /** The outcome of an undisturbed round. */
  was: Outcome | undefined;
}

interface Played {
  ms: number;
  deaths: number;
  pauses: number;
  stops: number;
  outcome: Outcome | undefined;
  wrong: string[];
  /** The output of each process. */
  said: string;
}

/** A process that should run, and when it starts or restarts. */
interface Seat {
  readonly args: readonly string[];
  readonly isHost: boolean;
  at: number;
  one: Terminal | undefined;
}

const STALL_MS = 15_000;
const MOST_DEATHS = 4;
const MOST_STOPS = 4;

export async function play({ scene, mode, root, random, was }: Round): Promise<Played> {
  fs.rmSync(root, { recursive: true, force: true });
  fs.mkdirSync(root, { recursive: true });
  scene.create(root);
  surviveDeaths(root);
  const from = Date.now();
  const people = crew(root);
  const seats = seatsFor(scene, mode, random);
  const done = { deaths: 0, pauses: 0, stops: 0 };
  const answered = new Set<string>();
  const wrong: string[] = [];
  const still = stillness(root);
  let isOver = false;
  while (!isOver && wrong.length === 0) {
    await sleep(20);
    wrong.push(...seats.flatMap((seat) => tend(seat, people, Date.now() - from, random)));
    people.wake();
    disturb({ mode, random, people, seats, done, now: Date.now() - from });
    for (const id of openQuestions(root).filter((one) => !answered.has(one))) {
      answered.add(id);
      people.enter(['approve', id, '--seen', await seenAs(root, id)]);
    }
    const late = scene.also?.(root) ?? [];
    isOver = hasEnded(root, scene) && late.length === 0 && seats.every(({ isHost, one }) => isHost || isGone(one));
    const isAnyAway = seats.some(({ isHost, one }) => (isHost && isGone(one)) || (one?.pausedUntil ?? 0) > 0);
    if (still(isAnyAway) > STALL_MS) wrong.push(`nothing moved for ${STALL_MS / 1000} s`, ...late);
  }
  const ms = Date.now() - from;
  const stuck = await people.leave((one) => seats.some((seat) => seat.isHost && seat.one === one));
  wrong.push(...stuck.map(({ args }) => `${args.join(' ')} does not go`));
  // A stop signal kills a process that has not installed its listener yet.
  done.deaths += people.all.filter(({ child }) => child.signalCode === 'SIGTERM').length;
  wrong.push(...people.all.flatMap((one) => wrongEnd(one, seats)));
  if (isOver) wrong.push(...(await judged(root, scene, people, was, done.deaths)));
  const said = people.all.map((one) => `== ${howItEnded(one)}, pid ${one.child.pid}\n${one.said}`).join('\n');
  return { ms, ...done, outcome: isOver ? outcome(root) : undefined, wrong, said };
}

/** Tasks lose their process more often here than in practice. */
function surviveDeaths(root: string): void {
  const file = path.join(root, 'guild.yaml');
  const text = fs.readFileSync(file, 'utf8');
  if (/^limits:/m.test(text)) throw new Error(`${file} has limits of its own`);
  fs.writeFileSync(file, `${text}limits: { attempts: 100 }\n`);
}

function seatsFor({ hosts, beside = [] }: Scene, mode: Mode, random: () => number): Seat[] {
  const isLate = mode === 'lag' || mode === 'all';
  return [
    ...hosts.map((args) => ({
      args,
      isHost: true,
      at: isLate && random() < 0.5 ? random() * 3000 : 0,
      one: undefined,
    })),
    ...beside.map((args) => ({ args, isHost: false, at: mode === 'none' ? 0 : random() * 1500, one: undefined })),
  ];
}

/**
 * Starts the process when it is due, and again after a requested stop; reports it if it exited by
 * itself.
 */
function tend(seat: Seat, people: Crew, now: number, random: () => number): string[] {
  const { args, isHost, one } = seat;
  if (one !== undefined && (!isHost || isRunning(one))) return [];
  const isPump = args[0] === 'pump' && (one?.child.exitCode === 0 || one?.child.exitCode === 4);
  if (one !== undefined && !one.isSentAway && !isPump) return [`${howItEnded(one)} by itself`];
  if (now < seat.at || (one !== undefined && isPump && random() < 0.8)) return [];
  seat.one = people.enter(args);
  return [];
}

interface Disturbed {
  mode: Mode;
  random: () => number;
  people: Crew;
  seats: readonly Seat[];
  done: { deaths: number; pauses: number; stops: number };
  now: number;
}

function disturb({ mode, random, people, seats, done, now }: Disturbed): void {
  const is = (what: Mode): boolean => mode === what || mode === 'all';
  const awake = seats.filter(({ one }) => !isGone(one) && !one!.isSentAway && one!.pausedUntil === 0);
  const seat = awake[Math.floor(random() * awake.length)];
  const dice = random();
  if (seat?.one === undefined) return;
  if (is('pause') && dice < 0.02) {
    people.pause(seat.one, random() ** 3 * 6000);
    done.pauses++;
  } else if (is('kill') && seat.isHost && dice >= 0.02 && dice < 0.03 && done.deaths < MOST_DEATHS) {
    people.kill(seat.one);
    seat.at = now + random() ** 2 * 2000;
    done.deaths++;
  } else if (is('stop') && seat.isHost && dice >= 0.03 && dice < 0.04 && done.stops < MOST_STOPS) {
    people.askToStop(seat.one);
    seat.at = now + random() ** 2 * 1000;
    done.stops++;
  }
}

function isGone(one: Terminal | undefined): boolean {
  return one === undefined || !isRunning(one);
}

function wrongEnd(one: Terminal, seats: readonly Seat[]): string[] {
  const { exitCode } = one.child;
  const isBeside = seats.some((seat) => !seat.isHost && seat.one === one);
  const isFine = exitCode === null || exitCode === 0 || (exitCode === 4 && !isBeside);
  const reported = isFine || (!one.isSentAway && !isBeside) ? [] : [howItEnded(one)];
  return /a bug in guild/.test(one.said) ? [...reported, `${one.args.join(' ')} reported a bug`] : reported;
}

async function judged(
  root: string,
  scene: Scene,
  people: Crew,
  was: Outcome | undefined,
  deaths: number,
): Promise<string[]> {
  const runs = async (...args: string[]): Promise<Terminal> => {
    const one = people.enter(args);
    await one.closed;
    return one;
  };
  // The next process removes leftovers of dead ones.
  const after = [...(deaths > 0 ? [await runs('pump', '--all', '-q')] : []), await runs('check'), await runs('log')];
  const wrong = after.flatMap((one) => (one.child.exitCode === 0 ? [] : [`${howItEnded(one)}: ${one.said}`]));
  wrong.push(...wrongIn(root, scene.isLoose ? undefined : was, deaths));
  for (const name of list(root, 'results').slice(0, 2))
    wrong.push(...wrongSums((await runs('task', 'tree', name.slice(0, -'.md'.length), '--json')).said));
  return wrong;
}

function hasEnded(root: string, { ends }: Scene): boolean {
  if (['pending', 'active', 'waiting'].some((state) => list(root, `tasks/${state}`).length > 0)) return false;
  const ended = new Set([...list(root, 'tasks/completed'), ...list(root, 'tasks/failed')]);
  if (typeof ends === 'number') return list(root, 'results').length >= ends;
  return ends.every((id) => ended.has(`${id}.json`));
}

async function seenAs(root: string, id: string): Promise<string> {
  const desk = await openDesk(root, process.env);
  const { seen } = await desk.find(id);
  await desk.close();
  return seen;
}

function openQuestions(root: string): string[] {
  try {
    const text = fs.readFileSync(path.join(root, 'tasks/approvals.task.md'), 'utf8');
    return [...text.matchAll(/^- \[_\].*\n {2}id: (\S+)$/gm)].map((match) => match[1]!);
  } catch {
    return [];
  }
}

/** Milliseconds since the last change. */
function stillness(root: string): (isExcused: boolean) => number {
  let [last, since] = ['', Date.now()];
  return (isExcused) => {
    const names = ['pending', 'active', 'waiting', 'completed', 'failed'].map((state) => list(root, `tasks/${state}`));
    const sizes = list(root, 'events').map((name) => fs.statSync(path.join(root, 'events', name)).size);
    const now = JSON.stringify([names, sizes]);
    if (now !== last || isExcused) [last, since] = [now, Date.now()];
    return Date.now() - since;
  };
}
