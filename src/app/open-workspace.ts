/**
 * Opens a workspace: config → ports → engine. This is the entry point of the library, and commands
 * use the same reads and intents.
 */
import path from 'node:path';
import { clock as realClock, ids as realIds } from '../adapters/clock/index.js';
import { disk as realDisk } from '../adapters/disk/index.js';
import { loadPlugins, type Plugins } from '../adapters/plugins/index.js';
import { recreateFolders } from '../adapters/recreate-folders/index.js';
import { roster, type Roster } from '../adapters/roster/index.js';
import type { Agent } from '../domain/agent/agent.js';
import type { Config } from '../domain/config/config.js';
import { defined } from '../domain/defined.js';
import type { Event } from '../domain/event.js';
import { patience, type Peer } from '../domain/peer.js';
import { ProblemError, type Problem } from '../domain/problem.js';
import type { EndedState, Placed, Task } from '../domain/task/task.js';
import { engine, type Engine, type PumpReport } from '../engine/pass/pump.js';
import { driver } from '../engine/pass/driver.js';
import type { Bus } from '../ports/bus.js';
import type { Clock, Ids } from '../ports/clock.js';
import type { Store, StoreStats } from '../ports/store/index.js';
import { isPostgresAddress } from '../adapters/ledger/postgres/address.js';
import { openDesk, type Announce } from './approvals.js';
import { composePorts } from './compose-ports.js';
import { openRemoteDesk } from './doors/remote-desk.js';
import { storeOf } from './far/open-store.js';
import { followUp } from './follow-up.js';
import { newTask, type NewTask } from './new-task.js';
import type { OpenOptions } from './open-options.js';
import { requireWorkspace } from './readers/no-workspace.js';
import { farPartsOf } from './readers/open-reader.js';
import type { Notifier } from '../adapters/notify/notifier.js';
import { caughtUp, openNotifier, withNotices } from './notify/open-notifier.js';
import { readConfig } from './readers/read-config.js';
import { taped } from './readers/tape.js';
import { taskTree } from './readers/task-tree.js';
import { trustedConfig } from './trust/acting.js';
import { pluginsInForce } from './trust/plugins-in-force.js';
import { acceptNamed, askOnce, openTrust } from './trust/trust.js';
import { missingKey } from './live/model-key.js';
import { heldAgents } from './trust/held-agents.js';

export interface Workspace {
  readonly root: string;
  readonly config: Config;
  /** Problems of guild.yaml that do not prevent work. */
  readonly configProblems: Problem[];
  /** Agents that wait until the workspace is trusted, and why. */
  readonly held: ReadonlyMap<string, string>;

  /** Durable when resolved. Throws a ProblemError if the id is taken or cannot be a file name. */
  add(task: NewTask): Promise<Task>;
  task(id: string): Promise<Placed | undefined>;
  /** Who asks, and the task in one line, for telling a person about it. */
  announce: Announce;
  openTasks(): Promise<Placed[]>;
  endedTasks(options?: { state?: EndedState; limit?: number }): Promise<Placed[]>;
  /** The task and all its descendants, parents first. */
  tree(id: string): Promise<Placed[]>;
  cancel(id: string, reason?: string): Promise<void>;
  /** Ends the task with its results so far: each conversation under it gives one last answer. */
  stop(id: string): Promise<void>;
  retry(id: string): Promise<void>;
  /** Continues the conversation of an ended task with a new task. */
  followUp(id: string, text: string, attachments?: string[]): Promise<Task>;
  /** Sends a message to an open task; the agent sees it before its next turn. */
  tell(id: string, text: string): Promise<void>;
  events(options?: { task?: string; limit?: number }): Promise<Event[]>;
  peers(): Promise<Peer[]>;
  agents(): ReadonlyMap<string, Agent>;
  check(): ReturnType<Roster['check']>;

  pump(): Promise<PumpReport>;
  /** Makes passes until nothing moves, or the signal aborts. */
  pumpUntilQuiet(onPass?: (report: PumpReport) => void, signal?: AbortSignal): Promise<PumpReport>;
  /**
   * Adds a task for this agent and works on it and what it needs, until it has ended or waits for
   * something outside this process. Throws a ProblemError if no key for the agent's model is set.
   */
  run(agent: string, text: string, more?: Partial<NewTask>): Promise<Placed>;
  /**
   * Works on this task and what it needs, until it has ended, waits for something outside this
   * process, or the signal aborts.
   */
  finish(id: string, signal?: AbortSignal): Promise<Placed>;
  /** Works until the signal aborts; then releases its tasks and resolves. */
  watch(signal: AbortSignal, onPass?: (report: PumpReport) => void): Promise<void>;
  /** Figures about this process since it opened the workspace. */
  stats(): StoreStats;
  /** Leaves the workspace. */
  close(): Promise<void>;

  readonly store: Store;
  readonly engine: Engine;
  /** Notes on channels: state changes of agents and their messages to each other. */
  readonly bus: Bus;
}

/** `abandoned`: the peer ids that this process had before its store failed. */
export async function openWorkspace(
  folderPath: string,
  options: OpenOptions = {},
  abandoned: ReadonlySet<string> = new Set(),
): Promise<Workspace> {
  const root = path.resolve(folderPath);
  const disk = recreateFolders(options.disk ?? realDisk(), root);
  requireWorkspace(disk, root);
  const { clock = realClock(), ids = realIds(), env = process.env, tape } = options;
  const { config: written, problems: configProblems, unreadable } = readConfig(disk, root, env);
  if (unreadable) throw new ProblemError(unreadable);
  let isOpen: (task: string) => boolean = () => false;
  let notices: Notifier | undefined;
  const trust = tape?.replayed === undefined ? acceptNamed(openTrust(root, env, written), env) : undefined;
  const config = trust === undefined ? written : trustedConfig(written, trust);
  if (trust !== undefined) configProblems.push(...askOnce(trust, env), ...trust.problems);
  const load = (): Promise<Plugins> =>
    loadPlugins({ ...pluginsInForce(root, env, trust), env, isOpen: (id) => isOpen(id) });
  const plugins = await (tape?.plugins(load) ?? load());
  configProblems.push(...plugins.problems);
  const agents = roster(disk, root, options.modelName, [], () => plugins.tools.map((tool) => tool.name));
  agents.refresh();
  const hasTool = (name: string): boolean => plugins.tools.some((tool) => tool.name === name);
  const held = trust === undefined ? new Map<string, string>() : heldAgents(trust, config, agents, hasTool);
  const { ports, store, announce, withdraw, texts } = composePorts(
    defined({ root, disk, clock, ids, env, config, plugins, agents, abandoned, held, trust }),
    { ...options, watchers: withNotices(options.watchers, () => notices) },
  );
  isOpen = (id) => store.tasks.getOpen(id) !== undefined;
  const { problem: report } = ports.watchers;
  if (tape === undefined && options.disk === undefined)
    notices = openNotifier({ root, env, config, store, announce, plugins, trust, ring: options.ring, report });
  const motor = tape ? taped(engine(ports), tape) : engine(ports);
  const { pumpUntilQuiet, finish, watch } = driver(ports, motor);

  /** Tasks made here that nobody has changed since. */
  const own = new WeakSet<Task>();
  const isOwn = (id: string): boolean => {
    const task = store.tasks.getOpen(id)?.task;
    return task !== undefined && own.has(task);
  };

  const add = async (task: NewTask, isAwaited = false): Promise<Task> => {
    const made = await newTask(store, task, { at: clock.now(), freshId: () => ids.next().slice(-8), isAwaited });
    own.add(made);
    return made;
  };

  const workspace: Workspace = {
    root,
    config,
    configProblems,
    held,
    store,
    announce,
    engine: motor,
    bus: ports.bus,
    add: (task) => add(task),
    task: (id) => store.tasks.read(id),
    async openTasks() {
      await store.tasks.scan();
      return [...store.tasks.open()];
    },
    endedTasks: (filter) => store.tasks.ended(filter),
    tree: (id) => taskTree(store, id),
    ...intents(store, ids, clock),
    followUp: (id, text, attachments) =>
      followUp(store, id, { text, attachments }, clock.now(), `task_${ids.next().slice(-8)}`),
    events: (filter) => store.events.list(filter),
    peers: () => store.presence.peers(),
    agents: () => agents.all(),
    check: () => agents.check(),
    stats: () => store.stats(),
    pump: () => motor.pump(),
    pumpUntilQuiet,
    async run(agent, text, more = {}) {
      const worker = options.model === undefined && tape === undefined ? agents.all().get(agent) : undefined;
      const keyProblem = worker && missingKey(worker, { config, held }, env);
      if (keyProblem !== undefined) throw new ProblemError(keyProblem);
      const task = await add({ ...more, description: text, to: agent }, true);
      return workspace.finish(task.id);
    },
    finish: (id, signal) => finish(id, { isNew: isOwn(id), signal }),
    async watch(signal, onPass) {
      const stop = new AbortController();
      const listening = plugins.start({
        signal: AbortSignal.any([signal, stop.signal]),
        deliver: (name, message) => ports.inbox.append(`${name}-messages.jsonl`, message),
        desk:
          trust &&
          openRemoteDesk({ root, env, store, record: trust.record, openDesk: () => openDesk(root, env, store) }),
        report: ports.watchers.problem,
      });
      // A desk has no agents and shows everything through its own mirror.
      const isWorker = options.agents?.length !== 0 && options.ledger === undefined && tape === undefined;
      const documents =
        texts !== undefined && isWorker && isPostgresAddress(storeOf(config, env))
          ? await (
              await import('./machines/sync.js')
            ).keepDocuments(root, env, {
              ledger: texts.ledger,
              signal: AbortSignal.any([signal, stop.signal]),
              report,
              guard: () => farPartsOf(store)?.outbox.guard(),
            })
          : undefined;
      texts?.keepBy(documents?.look);
      const goal = { signal, onPass: caughtUp(notices, onPass) };
      const waits = (): number => patience(store.presence.rank());
      const unfollow = tape === undefined ? ports.bus.follow(waits) : undefined;
      await (tape?.watch?.(ports, motor, goal) ?? watch(goal)).finally(() => {
        stop.abort();
        unfollow?.();
      });
      await listening;
      texts?.keepBy(undefined);
      await documents?.ended;
    },
    async close() {
      await motor.stop();
      ports.editedSessions.close();
      withdraw();
      await notices?.close();
      await plugins.close();
      await store.close();
      await motor.left();
      await ports.audit.close();
    },
  };
  return workspace;
}

/** Requests about a task; the engine carries them out in its next pass. */
function intents(store: Store, ids: Ids, clock: Clock): Pick<Workspace, 'cancel' | 'stop' | 'retry' | 'tell'> {
  const base = (task: string) => ({ id: ids.next(), task, by: 'human', at: clock.now().toISOString() });
  const { submit } = store.intents;
  return {
    cancel: (id, reason) => submit({ ...base(id), kind: 'cancel', ...(reason ? { reason } : {}) }),
    stop: (id) => submit({ ...base(id), kind: 'stop' }),
    retry: (id) => submit({ ...base(id), kind: 'retry' }),
    tell: (id, text) => submit({ ...base(id), kind: 'tell', text }),
  };
}
