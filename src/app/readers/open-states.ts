/**
 * The states of the agents of a workspace, read-only: the open tasks as they are now, and the
 * published state changes.
 */
import path from 'node:path';
import { bus } from '../../adapters/bus/index.js';
import { clock } from '../../adapters/clock/index.js';
import { disk as realDisk } from '../../adapters/disk/index.js';
import { parseClaimName } from '../../adapters/files/base/layout.js';
import { pauses } from '../../adapters/pauses/index.js';
import type { Agent } from '../../domain/agent/agent.js';
import type { Env } from '../../domain/config/env.js';
import type { Note } from '../../domain/coordination/note.js';
import { defined } from '../../domain/defined.js';
import type { Peer } from '../../domain/peer.js';
import type { Problem } from '../../domain/problem.js';
import type { Budget } from '../../domain/budget/budget.js';
import { isEnded, isForHuman, type Task } from '../../domain/task/task.js';
import type { Store } from '../../ports/store/index.js';
import type { OpenTask, Tasks } from '../../ports/store/tasks.js';
import { treeBudget } from '../../rules/budget/remaining.js';
import { fitFor } from '../../rules/staffing/offer.js';
import { failureOf } from '../../rules/staffing/track-record.js';
import { agentStates, byAgent, NO_PAST, type AgentActivity, type Past } from '../../rules/coordination/agent-states.js';
import {
  foldStates,
  applyStateNote,
  STATE_CHANNEL,
  type PublishedState,
} from '../../rules/coordination/published-states.js';
import type { Config } from '../../domain/config/config.js';
import type { Disk } from '../../ports/disk.js';
import type { Bus } from '../../ports/bus.js';
import { ledgerBus } from '../../adapters/bus/ledger.js';
import { farPauses, PAUSED } from '../../adapters/far/ports/pauses.js';
import { bothPauses } from '../far/shared-ports.js';
import { farPartsOf } from './open-reader.js';
import { CONFIG_FILE, readConfig } from './read-config.js';
import { roster } from '../../adapters/roster/index.js';

export interface Snapshot {
  agents: AgentActivity[];
  /** The agents by name, as their files define them. */
  roster: ReadonlyMap<string, Agent>;
  open: OpenTask[];
  /** The open tasks that wait for a person and have no answer yet. */
  forHuman: OpenTask[];
  /** The agent that will take an unassigned task, if that is clear without asking a model. */
  takers: ReadonlyMap<string, string>;
  /** The limits of an open task with everything under it, as far as they are known now. */
  limitOf: (task: Task) => Budget;
  peers: Peer[];
  /** Of task files. */
  problems: Problem[];
  /** Files that define no agent any more. */
  brokenAgents: Problem[];
  /** As guild.yaml is now. */
  config: Config;
}

export interface StatesView {
  look(): Promise<Snapshot>;
  /** Published state changes, oldest first, of one agent or all. */
  history(agent?: string): Note[];
  /** Calls `hear` for each new change. Returns a function that stops it. */
  follow(hear: (note: Note) => void): () => void;
  store: Store;
}

/** `store`: a reader of this folder, which the view closes. */
export function openStates(folder: string, env: Env, store: Store): StatesView {
  const root = path.resolve(folder);
  const disk = realDisk();
  const agents = roster(disk, root);
  const config = configReader(disk, root, env);
  const near = pauses({ root, disk, clock: clock() });
  const parts = farPartsOf(store);
  const paused = parts ? bothPauses(near, farPauses(parts.shelf(PAUSED))) : near;
  const notes: Bus = parts ? ledgerBus({ ...parts, clock: clock() }) : bus({ root, disk, clock: clock() });
  const lasting = lastingProblems(store.tasks);
  const broken = brokenAgents(agents);
  const published = foldStates(notes.read(STATE_CHANNEL));
  notes.subscribe(STATE_CHANNEL, (note) => void applyStateNote(published, note));

  return {
    store,
    async look() {
      const { problems, strays = [] } = await store.tasks.scan(true);
      agents.refresh();
      await notes.refresh();
      const open = [...store.tasks.open()];
      const { started } = byAgent(open);
      const past = new Map<string, Past>();
      for (const [agent, one] of published) past.set(agent, await pastOf(one, started.has(agent)));
      const states = agentStates(agents.all().keys(), open, {
        nowIso: new Date().toISOString(),
        paused: paused.look(),
        unreadable: agents.unreadable?.() ?? new Map(),
        unreadableTask: store.tasks.unreadable,
        past: (agent) => past.get(agent) ?? NO_PAST,
      });
      const takers = takersOf(open, paused.look());
      const intents = await store.intents.list();
      const answered = new Set(intents.flatMap((intent) => (intent.kind === 'answer' ? [intent.task] : [])));
      return {
        agents: states,
        roster: agents.all(),
        open,
        takers,
        limitOf: (task) => limitOf(task, takers),
        forHuman: open.filter(({ task }) => isForHuman(task) && !answered.has(task.id)),
        peers: await store.presence.peers(),
        problems: lasting([...problems, ...strays]),
        brokenAgents: broken(),
        config: config(),
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
    const preferred = config().defaultAgent;
    return new Map(
      open.flatMap(({ task }) => {
        const fit = task.to === undefined ? fitFor(task, awake.length > 0 ? awake : all, preferred) : undefined;
        return fit?.kind === 'one' ? [[task.id, fit.agent]] : [];
      }),
    );
  }

  function limitOf(task: Task, takers: ReadonlyMap<string, string>): Budget {
    const agent = agents.all().get(task.to ?? takers.get(task.id) ?? '');
    return treeBudget(config(), agent ?? { budget: {} }, task);
  }

  /**
   * The agent's last published task may have ended since, without a process left to publish that.
   */
  async function pastOf({ worked, roots, task, failed, state }: PublishedState, isBusy: boolean): Promise<Past> {
    const known: Past = defined({ worked, roots, last: task, failed });
    if (isBusy || task === undefined || (state !== 'working' && state !== 'blocked')) return known;
    const placed = await store.tasks.read(task);
    const why = placed !== undefined && isEnded(placed.state) ? failureOf(placed.task.error) : undefined;
    return why === undefined ? known : { ...known, failed: why };
  }
}

/** The settings as they are in the file now. The file is read again only after it has changed. */
function configReader(disk: Disk, root: string, env: Env): () => Config {
  const file = path.join(root, CONFIG_FILE);
  let stamp = disk.stamp(file);
  let { config } = readConfig(disk, root, env);
  return () => {
    const now = disk.stamp(file);
    if (now === stamp) return config;
    stamp = now;
    const read = readConfig(disk, root, env);
    // A file that cannot be read leaves the last settings in force.
    if (read.unreadable === undefined) config = read.config;
    return config;
  };
}

/** Scans report each problem once; this keeps it for as long as its file stays unreadable. */
function lastingProblems({ unreadable }: Tasks): (found: readonly Problem[]) => Problem[] {
  let known: readonly Problem[] = [];
  return (found) => {
    const isStill = ({ where }: Problem): boolean =>
      where !== undefined && unreadable(taskIn(where.file)) !== undefined;
    const places = new Set(found.map(({ where }) => where?.file));
    known = [...known.filter((each) => isStill(each) && !places.has(each.where?.file)), ...found];
    return [...known];
  };
}

function taskIn(file: string): string {
  const name = path.basename(file);
  return parseClaimName(name)?.id ?? path.basename(name, '.json');
}

/** Files that define no agent, even if the last valid version is in use. */
function brokenAgents(agents: ReturnType<typeof roster>): () => Problem[] {
  let known: Problem[] = [];
  let seen: unknown;
  return () => {
    // The roster makes a new map when a file has changed.
    if (agents.all() !== seen) {
      known = agents.check().problems.filter(({ code }) => code === 'bad_file');
      seen = agents.all();
    }
    return known;
  };
}
