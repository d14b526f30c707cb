/**
 * Processes of a mesh agree that a root is complete (rules/coordination/completion.ts), by notes on
 * the channel `task`. Only processes that host agents by name vote; the claims of other processes
 * are visible to all. A root that asked no other agent needs no vote.
 */

// Open and unread work is looked up again when all have voted, in both phases: an earlier view may
// be stale. A paused process cannot vote. The other processes wait for it once, for
// `coordination.vote`, and then count it as silent (in the certificate too) until it answers again.
// This is safe: its work is claimed and therefore open.
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
  /** Called with every event of this process. An event of a root raises the mark of that root. */
  heard(event: Event): void;
  /** `until`: not decided; ask again then. */
  agree(root: Task): Promise<{ agreed: number; of: number } | { until: string }>;
  /** Answers probes of other processes while no pass runs. */
  look(): Promise<void>;
  close(): void;
}

const EXPIRE_MS = 60_000;
const CHANNEL = 'task';

/** `lookAgain` refreshes the view of the store. */
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
  /** The votes that arrived on the roots that this process wants to complete. */
  const cast = new Map<string, Vote[]>();
  const closing = new AbortController();
  const isMesh = config.coordination.mode === 'mesh';
  const unsubscribe = isMesh ? bus.subscribe(CHANNEL, hearNote) : undefined;

  return { heard, agree, look, close };

  async function look(): Promise<void> {
    if ((await others()).length > 0) await bus.refresh();
  }

  function heard({ name, task }: Event): void {
    if (!isMesh || task === undefined) return;
    const root = rootOf(task);
    if (name === 'task.completed' && root === task) marks.delete(root);
    else marks.set(root, (marks.get(root) ?? 0) + 1);
    if (marks.size > MAX_MARKS) marks.delete(marks.keys().next().value!);
  }

  function hearNote({ body }: Note): void {
    if (body.type === 'completion_vote') {
      silent.delete(body.peer);
      const { peer, ballot, phase = 1, ready, mark = 0 } = body;
      cast.get(body.root)?.push({ peer, ballot, phase, ready, mark });
    }
    if (body.type !== 'completion_probe' || body.peer === me || closing.signal.aborted) return;
    silent.delete(body.peer);
    if (context.presence.peer.agents.length === 0) return; // this process does not vote
    const { root, ballot, phase = 1 } = body;
    // If the vote cannot be written, the other processes continue without it.
    void answer(root, ballot, phase).catch(() => undefined);
  }

  async function answer(root: string, ballot: number, phase: 1 | 2): Promise<void> {
    // Tasks that look open here may have ended elsewhere; a stale vote would repeat the round
    // forever.
    if (openBelow(root) > 0) await lookAgain();
    await publish({ type: 'completion_vote', root, ...mine(root, ballot, phase) });
  }

  function openBelow(root: string): number {
    // The root of an unreadable task is unknown, so the task is not counted.
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
    if (!isMesh || voters(peers).length === 0) {
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
      await bus.refresh();
      for (const received of cast.get(root)!.splice(0)) round = withVote(round, received);
      let counted = count(round, await seen(task));
      const isDecided = counted.kind === 'confirm' || counted.kind === 'certified';
      if (isDecided || clock.monotonicMs() - looked >= INTERVALS.voterCheckMs) {
        await lookAgain();
        await bus.refresh();
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

  /** Peers are read first, so that the open and unread counts are current when this resolves. */
  async function seen(task: Task): Promise<Seen> {
    const peers = await live();
    return { live: peers, open: openBelow(task.id), unread: unreadNotes(context, task) };
  }

  async function certified(root: string, agreed: string[]): Promise<{ agreed: number; of: number }> {
    const quiet = (await others()).filter((peer) => silent.has(peer));
    const of = agreed.length + quiet.length;
    record(context, 'root.certified', { task: root, agreed, silent: quiet.length > 0 ? quiet : undefined });
    return { agreed: agreed.length, of };
  }

  /** Publishes the probe and adds this process's own vote. */
  async function ask(root: string, round: VoteRound): Promise<VoteRound> {
    await publish({ type: 'completion_probe', peer: me, root, ballot: round.number, phase: round.phase });
    return withVote(round, mine(root, round.number, round.phase));
  }

  async function publish(body: NoteBody & { root: string; ballot: number; phase?: 1 | 2 }): Promise<void> {
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

  async function live(): Promise<string[]> {
    return [me, ...(await others()).filter((peer) => !silent.has(peer))];
  }

  async function others(): Promise<string[]> {
    const peers = voters(await context.presence.peers());
    if (silent.size > peers.length) for (const peer of silent) if (!peers.includes(peer)) silent.delete(peer);
    return peers;
  }

  /** The other members of the mesh. */
  function voters(peers: readonly Peer[]): string[] {
    return peers.flatMap(({ id, agents }) => (id !== me && agents.length > 0 ? [id] : []));
  }

  function close(): void {
    closing.abort();
    unsubscribe?.();
  }
}

const ALONE = { agreed: 1, of: 1 };
/** The limit on remembered marks of roots that other processes completed. */
const MAX_MARKS = 10_000;
