/** What the agents of a workspace are doing, for somebody who only looks: the tree as it is now, and what was told of the past. */
import path from 'node:path';
import { bus } from '../../adapters/bus/index.js';
import { clock } from '../../adapters/clock/index.js';
import { disk } from '../../adapters/disk/index.js';
import { pauses } from '../../adapters/pauses/index.js';
import type { Note } from '../../domain/coordination/note.js';
import type { Peer } from '../../domain/peer.js';
import type { Problem } from '../../domain/problem.js';
import { HUMAN, isEnded } from '../../domain/task/task.js';
import type { Store } from '../../ports/store/index.js';
import type { OpenTask } from '../../ports/store/tasks.js';
import { fitFor } from '../../rules/staffing/offer.js';
import { failureOf } from '../../rules/staffing/track-record.js';
import { agentStates, byAgent, NO_PAST, type AgentActivity, type Past } from '../../rules/coordination/agent-states.js';
import {
  foldStates,
  applyStateNote,
  STATE_CHANNEL,
  type PublishedState,
} from '../../rules/coordination/published-states.js';
import { openReader } from './open-reader.js';
import { readConfig } from './read-config.js';
import { roster } from '../../adapters/roster/index.js';

export interface Seen {
  agents: AgentActivity[];
  open: OpenTask[];
  /** Of these, what waits for a person. */
  forHuman: OpenTask[];
  /** Who will take an open task that names nobody, where that is plain without asking anybody. */
  takers: ReadonlyMap<string, string>;
  peers: Peer[];
  problems: Problem[];
}

export interface StatesView {
  look(): Promise<Seen>;
  /** What was told of state changes, oldest first; of one agent or all. */
  history(agent?: string): Note[];
  /** Called for each change that is told from now on. Returns how to stop. */
  follow(hear: (note: Note) => void): () => void;
  store: Store;
}

export function openStates(folder: string, env: Record<string, string | undefined> = process.env): StatesView {
  const root = path.resolve(folder);
  const store = openReader(root);
  const on = disk();
  const agents = roster(on, root);
  const { defaultAgent } = readConfig(on, root, env).config;
  const paused = pauses({ root, disk: on });
  const notes = bus({ root, disk: on, clock: clock() });
  const told = foldStates(notes.read(STATE_CHANNEL));
  notes.subscribe(STATE_CHANNEL, (note) => void applyStateNote(told, note));

  return {
    store,
    async look() {
      const { problems, strays = [] } = await store.tasks.scan(true);
      agents.refresh();
      notes.refresh();
      const open = [...store.tasks.open()];
      const { started } = byAgent(open);
      const past = new Map<string, Past>();
      for (const [agent, one] of told) past.set(agent, await pastOf(one, started.has(agent)));
      const states = agentStates(agents.all().keys(), open, {
        nowIso: new Date().toISOString(),
        paused: paused.look(),
        unreadable: agents.unreadable?.() ?? new Map(),
        unreadableTask: store.tasks.unreadable,
        past: (agent) => past.get(agent) ?? NO_PAST,
      });
      return {
        agents: states,
        open,
        takers: takersOf(open, paused.look()),
        forHuman: open.filter(({ task }) => task.to === HUMAN),
        peers: await store.presence.peers(),
        problems: [...problems, ...strays],
      };
    },
    history: (agent) =>
      notes
        .read(STATE_CHANNEL)
        .filter(({ body }) => body.type === 'state_change' && (agent === undefined || body.agent === agent)),
    follow(hear) {
      const off = notes.subscribe(STATE_CHANNEL, hear);
      const stop = notes.follow();
      return () => {
        off();
        stop();
      };
    },
  };

  function takersOf(open: readonly OpenTask[], paused: ReadonlyMap<string, string>): Map<string, string> {
    const all = [...agents.all().values()];
    const awake = all.filter(({ name }) => !paused.has(name));
    return new Map(
      open.flatMap(({ task }) => {
        const fit = task.to === undefined ? fitFor(task, awake.length > 0 ? awake : all, defaultAgent) : undefined;
        return fit?.kind === 'one' ? [[task.id, fit.agent]] : [];
      }),
    );
  }

  /** What it was doing when last told of may have ended since, with nobody left to tell it. */
  async function pastOf({ worked, roots, task, failed, state }: PublishedState, isBusy: boolean): Promise<Past> {
    const known: Past = { worked, roots, ...(task ? { last: task } : {}), ...(failed ? { failed } : {}) };
    if (isBusy || task === undefined || (state !== 'working' && state !== 'blocked')) return known;
    const placed = await store.tasks.read(task);
    const why = placed !== undefined && isEnded(placed.state) ? failureOf(placed.task.error) : undefined;
    return why === undefined ? known : { ...known, failed: why };
  }
}
