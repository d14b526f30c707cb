/**
 * The processes of a mesh agree that a root is over (`rules/completion`), by notes on the channel `task`. Asked are those that host agents by
 * name: they are the members of a mesh. A process that hosts all agents keeps nothing to itself: what it works on, everybody sees as a claim.
 * Nobody is asked about a root whose agent asked nobody.
 *
 * What is open and unread is looked for in the store at the moment when all have voted, in either phase: what this process knew before may be old.
 *
 * A process that is paused cannot agree. It is waited for once, for `coordination.vote`; from then on it counts as silent, in the certificate too, until
 * it is heard again. Nothing is lost by that: what it holds is a claim, and an open task.
 */
import { INTERVALS } from '../../domain/intervals.js';
import type { Event } from '../../domain/event.js';
import { ENGINE, type Note, type NoteBody } from '../../domain/coordination/note.js';
import type { Peer } from '../../domain/peer.js';
import type { Task } from '../../domain/task/task.js';
import {
  count,
  newRound,
  withVote,
  type VoteRound,
  type Seen,
  type Vote,
} from '../../rules/coordination/completion.js';
import { unreadNotes } from '../tasks/certify.js';
import { effectsUnderWay } from '../core/effects.js';
import type { Flight } from '../core/flight.js';
import { record, type EngineContext, type Ports } from '../core/context.js';

interface Voting {
  /** Every line of history that this process writes: what it does for a root moves its mark. */
  heard(event: Event): void;
  /** `until`: it cannot be said now; look again then. */
  agree(root: Task): Promise<{ agreed: number; of: number } | { until: string }>;
  /** Looks whether somebody asks; for times when no pass is made. */
  look(): Promise<void>;
  close(): void;
}

const EXPIRE_MS = 60_000;
const CHANNEL = 'task';

/** `lookAgain` brings what is known of the store up to date. */
export function voting(
  context: Ports & Pick<EngineContext, 'effectsUnderWay'>,
  flights: ReadonlyMap<string, Flight>,
  rootOf: (task: string) => string,
  lookAgain: () => Promise<void>,
): Voting {
  const { bus, clock, config } = context;
  const me = context.presence.peer.id;
  const marks = new Map<string, number>();
  const silent = new Set<string>();
  /** Votes on the roots that this process would end. */
  const cast = new Map<string, Vote[]>();
  const closing = new AbortController();
  const isMesh = config.coordination.mode === 'mesh';
  const unsubscribe = isMesh ? bus.subscribe(CHANNEL, hearNote) : undefined;

  return { heard, agree, look, close };

  async function look(): Promise<void> {
    if ((await others()).length > 0) bus.refresh();
  }

  function heard({ name, task }: Event): void {
    if (!isMesh || task === undefined) return;
    const root = rootOf(task);
    if (name === 'task.completed' && root === task) marks.delete(root);
    else marks.set(root, (marks.get(root) ?? 0) + 1);
    if (marks.size > MOST_MARKS) marks.delete(marks.keys().next().value!);
  }

  function hearNote({ body }: Note): void {
    if (body.type === 'completion_vote') {
      silent.delete(body.peer);
      const { peer, ballot, phase = 1, ready, mark = 0 } = body;
      cast.get(body.root)?.push({ peer, ballot, phase, ready, mark });
    }
    if (body.type !== 'completion_probe' || body.peer === me || closing.signal.aborted) return;
    silent.delete(body.peer);
    if (context.presence.peer.agents.length === 0) return; // it is not asked
    const { root, ballot, phase = 1 } = body;
    // A vote that cannot be written is a vote that is missing: they will go on without it.
    void answer(root, ballot, phase).catch(() => undefined);
  }

  async function answer(root: string, ballot: number, phase: 1 | 2): Promise<void> {
    // What was open here may have ended elsewhere: that would be asked about again and again.
    if (openBelow(root) > 0) await lookAgain();
    await tell({ type: 'completion_vote', root, ...mine(root, ballot, phase) });
  }

  function openBelow(root: string): number {
    // Of what cannot be read nobody knows whose it is: it is not counted.
    return (
      context.tasks.openUnderRoot(root) -
      (context.tasks.isOpen(root) && context.tasks.unreadable(root) === undefined ? 1 : 0)
    );
  }

  function mine(root: string, ballot: number, phase: 1 | 2): Vote {
    const works = [...flights.keys()].some((task) => task !== root && rootOf(task) === root);
    const ready = !works && openBelow(root) <= 0 && effectsUnderWay(context, root) === 0;
    return { peer: me, ballot, phase, ready, mark: marks.get(root) ?? 0 };
  }

  async function agree(task: Task): Promise<{ agreed: number; of: number } | { until: string }> {
    if ((task.usage?.children ?? 0) === 0) return ALONE;
    const peers = await context.presence.peers();
    if (!peers.some(({ id }) => id !== me)) return ALONE;
    if (!isMesh || asked(peers).length === 0) {
      await lookAgain();
      return isQuiet(task) ? ALONE : { until: clock.now().toISOString() };
    }
    cast.set(task.id, []);
    try {
      return await vote(task);
    } finally {
      cast.delete(task.id);
    }
  }

  function isQuiet(task: Task): boolean {
    return openBelow(task.id) <= 0 && unreadNotes(context, task) + effectsUnderWay(context, task.id) === 0;
  }

  async function vote(task: Task): Promise<{ agreed: number; of: number } | { until: string }> {
    const { id: root } = task;
    let number = clock.now().getTime();
    let round = await ask(root, newRound(number, await live()));
    let from = clock.monotonicMs();
    let looked = from;
    while (!closing.signal.aborted) {
      bus.refresh();
      for (const one of cast.get(root)!.splice(0)) round = withVote(round, one);
      let counted = count(round, await seen(task));
      const isDecided = counted.kind === 'confirm' || counted.kind === 'certified';
      if (isDecided || clock.monotonicMs() - looked >= INTERVALS.voterCheckMs) {
        await lookAgain();
        bus.refresh();
        looked = clock.monotonicMs();
        counted = count(round, await seen(task));
      }
      if (counted.kind === 'certified') return certified(root, counted.agreed);
      if (counted.kind === 'confirm') {
        round = await ask(root, counted.round);
        from = clock.monotonicMs();
      } else if (counted.kind === 'wait' && clock.monotonicMs() - from < config.coordination.voteMs)
        await clock.sleep(INTERVALS.voteCheckMs, closing.signal);
      else {
        if (counted.kind === 'again') await lookAgain();
        if (counted.kind === 'again' && !isQuiet(task)) break;
        if (counted.kind === 'wait') for (const peer of counted.missing) silent.add(peer);
        else await clock.sleep(INTERVALS.voteCheckMs, closing.signal);
        number = Math.max(number + 1, clock.now().getTime());
        round = await ask(root, newRound(number, await live()));
        from = clock.monotonicMs();
      }
    }
    return { until: clock.now().toISOString() };
  }

  /** Who lives is asked first: what is open and unread is as it is when this resolves. */
  async function seen(task: Task): Promise<Seen> {
    const peers = await live();
    return { live: peers, open: openBelow(task.id), unread: unreadNotes(context, task) };
  }

  async function certified(root: string, agreed: string[]): Promise<{ agreed: number; of: number }> {
    const quiet = (await others()).filter((peer) => silent.has(peer));
    const of = agreed.length + quiet.length;
    record(context, 'root.certified', { task: root, agreed, ...(quiet.length > 0 ? { silent: quiet } : {}) });
    return { agreed: agreed.length, of };
  }

  /** Tells everybody, and votes itself. */
  async function ask(root: string, round: VoteRound): Promise<VoteRound> {
    await tell({ type: 'completion_probe', peer: me, root, ballot: round.number, phase: round.phase });
    return withVote(round, mine(root, round.number, round.phase));
  }

  async function tell(body: NoteBody & { root: string; ballot: number; phase?: 1 | 2 }): Promise<void> {
    const { root, ballot, phase = 1, type } = body;
    const at = clock.now();
    const note: Note = {
      id: `${type}-${root}-${ballot}-${phase}-${me}`,
      channel: CHANNEL,
      from: ENGINE,
      at: at.toISOString(),
      priority: 'high',
      task: root,
      expires: new Date(at.getTime() + EXPIRE_MS).toISOString(),
      body,
    };
    await bus.tell([note]);
  }

  /** This process, and those of the others that are not silent. */
  async function live(): Promise<string[]> {
    return [me, ...(await others()).filter((peer) => !silent.has(peer))];
  }

  async function others(): Promise<string[]> {
    const peers = asked(await context.presence.peers());
    if (silent.size > peers.length) for (const peer of silent) if (!peers.includes(peer)) silent.delete(peer);
    return peers;
  }

  /** The members of the mesh, without this process. */
  function asked(peers: readonly Peer[]): string[] {
    return peers.flatMap(({ id, agents }) => (id !== me && agents.length > 0 ? [id] : []));
  }

  function close(): void {
    closing.abort();
    unsubscribe?.();
  }
}

const ALONE = { agreed: 1, of: 1 };
/** Roots that others ended are forgotten at some time. */
const MOST_MARKS = 10_000;
