/**
 * Opens a workspace: config → ports → engine. This is the library's front door and what every command stands on: the
 * same reads, the same intents.
 */
import path from 'node:path';
import { clock as realClock, ids as realIds } from '../adapters/clock/index.js';
import { disk as realDisk } from '../adapters/disk/index.js';
import { actions } from '../adapters/actions/index.js';
import { LIST_PRICES } from '../adapters/models/ai-sdk/prices.js';
import { ballot } from '../adapters/ballot/index.js';
import { bids } from '../adapters/bids/index.js';
import { boards } from '../adapters/boards/index.js';
import { bus } from '../adapters/bus/index.js';
import { checkIns } from '../adapters/check-ins/index.js';
import { files, isWorkspace } from '../adapters/files/index.js';
import { folder } from '../adapters/workspace-files/index.js';
import { creationRate } from '../adapters/creation-rate/index.js';
import { inbox } from '../adapters/inbox/index.js';
import { pauses } from '../adapters/pauses/index.js';
import { processes as realProcesses } from '../adapters/processes/index.js';
import { search } from '../adapters/search/index.js';
import { shell } from '../adapters/shell/index.js';
import { recreateFolders } from '../adapters/recreate-folders/index.js';
import type { Agent } from '../domain/agent/agent.js';
import type { Config } from '../domain/config/config.js';
import type { Event } from '../domain/event.js';
import { findPrice } from '../domain/budget/price.js';
import { ProblemError, type Problem } from '../domain/problem.js';
import { isEnded, type EndedState, type Placed, type Task } from '../domain/task/task.js';
import { audit, BUSY_GAP_MS } from '../engine/pass/audit.js';
import { claimedElsewhere } from '../engine/core/capacity.js';
import { engine, type Engine, type PumpReport } from '../engine/pass/pump.js';
import type { Parts, Watchers } from '../engine/core/context.js';
import { watch } from '../engine/pass/watch.js';
import type { Bus } from '../ports/bus.js';
import type { Clock, Ids } from '../ports/clock.js';
import type { Disk } from '../ports/disk.js';
import type { Model } from '../ports/model.js';
import { patience, type Peer } from '../domain/peer.js';
import type { Processes } from '../ports/processes.js';
import type { Store } from '../ports/store.js';
import { judgePath, judgeSpelling } from '../rules/policy/paths.js';
import { addToRecords } from '../rules/staffing/track-record.js';
import { toolbox } from '../tools/toolbox.js';
import { alarm } from '../adapters/clock/alarm.js';
import { desk } from '../adapters/boards/board-tools.js';
import { gate } from '../adapters/policy-files/gate.js';
import { packageFolder } from '../adapters/starter/package-folder.js';
import { lateHistory, noted } from './late-history.js';
import { models } from '../adapters/models/index.js';
import { newTask, type NewTask } from './new-task.js';
import { noWorkspace } from './readers/open-reader.js';
import { sourcesOf } from './readers/query-sources.js';
import { readConfig } from './readers/read-config.js';
import { loadPlugins, type Plugins } from '../adapters/plugins/index.js';
import { roster, type Roster } from '../adapters/roster/index.js';
import { taped, type Tape } from './readers/tape.js';
import { taskTree } from './readers/task-tree.js';

export interface OpenOptions {
  /** Replaces the models themselves; for tests and recordings. */
  model?: Model;
  /** A model or alias that every agent uses, whatever its file says. */
  modelName?: string;
  /** Agents this process works for; default: all. */
  agents?: string[];
  env?: Record<string, string | undefined>;
  clock?: Clock;
  ids?: Ids;
  disk?: Disk;
  processes?: Processes;
  /** `false`: this process writes no history. A disk of its own has none either: git works on the real one. */
  history?: boolean;
  /** Told what happens while it happens. */
  watchers?: Watchers;
  /** Records or replays everything that comes from outside. */
  tape?: Tape;
}

export interface Workspace {
  readonly root: string;
  readonly config: Config;
  /** What is wrong with guild.yaml and could be worked around, and what is only odd. */
  readonly configProblems: Problem[];

  /** Durable when resolved. Throws a ProblemError if the id is taken or cannot be a file name. */
  add(task: NewTask): Promise<Task>;
  task(id: string): Promise<Placed | undefined>;
  openTasks(): Promise<Placed[]>;
  endedTasks(options?: { state?: EndedState; limit?: number }): Promise<Placed[]>;
  /** The task and all its descendants, parents first. */
  tree(id: string): Promise<Placed[]>;
  cancel(id: string, reason?: string): Promise<void>;
  /** Ends with what it has: each conversation under it gives one last answer. */
  stop(id: string): Promise<void>;
  retry(id: string): Promise<void>;
  /** Says something to a task that is open; it is heard before the next turn. */
  tell(id: string, text: string): Promise<void>;
  events(options?: { task?: string; limit?: number }): Promise<Event[]>;
  peers(): Promise<Peer[]>;
  agents(): ReadonlyMap<string, Agent>;
  check(): ReturnType<Roster['check']>;

  /** One pass. */
  pump(): Promise<PumpReport>;
  /** Passes until nothing moves any more, or the signal aborts. */
  pumpUntilQuiet(onPass?: (report: PumpReport) => void, signal?: AbortSignal): Promise<PumpReport>;
  /** Adds a task for this agent and works on it, and on nothing it does not need, until it has ended, or waits for something this process cannot give. */
  run(agent: string, text: string, more?: Partial<NewTask>): Promise<Placed>;
  /** Works on this task, and on nothing it does not need, until it has ended, waits for something this process cannot give, or the signal aborts. */
  finish(id: string, signal?: AbortSignal): Promise<Placed>;
  /** Works until the signal aborts; then puts everything back and resolves. */
  watch(signal: AbortSignal, onPass?: (report: PumpReport) => void): Promise<void>;
  /** Leaves the workspace. */
  close(): Promise<void>;

  readonly store: Store;
  readonly engine: Engine;
  /** Notes on channels: how agents' states change, and what they tell each other. */
  readonly bus: Bus;
}

interface Drive {
  /** Only tasks of these trees; absent: of all. */
  roots?: ReadonlySet<string>;
  onPass?: (report: PumpReport) => void;
  signal?: AbortSignal | undefined;
}

/** Nothing more is started. */
const NO_ROOTS: ReadonlySet<string> = new Set();

/** How often somebody who waits for a task looks at what others changed. */
const LOOK_MS = 250;

export async function openWorkspace(folderPath: string, options: OpenOptions = {}): Promise<Workspace> {
  const root = path.resolve(folderPath);
  const disk = recreateFolders(options.disk ?? realDisk(), root);
  if (!isWorkspace(disk, root)) throw new ProblemError(noWorkspace(root, disk.stamp(root) !== undefined));
  const clock = options.clock ?? realClock();
  const ids = options.ids ?? realIds();
  const env = options.env ?? process.env;
  const { config, problems: configProblems, unreadable } = readConfig(disk, root, env);
  if (unreadable) throw new ProblemError(unreadable);
  const load = (): Promise<Plugins> =>
    loadPlugins({ root, plugins: config.plugins, env, builtIn: packageFolder('plugins') });
  const plugins = await (options.tape?.plugins(load) ?? load());
  configProblems.push(...plugins.problems);
  const agents = roster(
    disk,
    root,
    options.modelName,
    [],
    plugins.tools.map((tool) => tool.name),
  );
  agents.refresh();
  const hosts = options.agents && new Set(options.agents);
  const keptIn = options.history === false || options.disk ? undefined : lateHistory({ root, config, env, clock });
  const trail = keptIn && audit(keptIn, clock, (one) => options.watchers?.problem?.(one));
  const plain = files({
    root,
    disk,
    clock,
    ids,
    processes: options.processes ?? realProcesses(),
    agents: options.agents ?? [],
    // On a tape nothing may happen by the time it takes.
    ...(options.tape ? { lag: () => undefined, soon: (write: () => void) => write() } : {}),
  });
  const store = trail === undefined ? plain : noted(plain, trail);
  const readFile = (file: string): string | undefined => {
    const read = disk.read(path.resolve(root, file));
    return read.kind === 'file' ? read.bytes.toString('utf8') : undefined;
  };
  const ground = folder({
    root,
    disk,
    judge: { spelling: judgeSpelling, path: judgePath },
    search: search({ kind: config.search }),
  });
  const pluginTools = new Set(plugins.tools.map((tool) => tool.name));
  const isFree = (tool: string): boolean => pluginTools.has(tool) && !plugins.requiresApproval(tool);
  // On a tape the workspace has a time of its own; what really waits goes by the real one.
  const real = options.tape ? realClock() : clock;
  const untaped: Parts = {
    store,
    model: options.model ?? models({ config, env, clock: real, readFile }),
    price: (model) => findPrice(model, config.prices, LIST_PRICES),
    gate: gate({ root, disk, folder: ground, peer: store.peer.id, isFree }),
    shell: actions(shell({ root, env, clock: real }), { root, env, builtIn: packageFolder('plugins') }),
    ballot: ballot({
      root,
      disk,
      peer: store.peer.id,
      livePeers: async () => (await store.peers()).map(({ id }) => id),
    }),
    inbox: inbox({ root, disk, peer: store.peer.id }),
    boards: boards({ root, disk, clock, peer: store.peer.id }),
    bus: bus({ root, disk, clock, peer: store.peer.id }),
    checkIns: checkIns({ root, disk, peer: store.peer.id }),
    // What lies in a cache is on no tape.
    ...(options.tape ? {} : { bids: bids({ root, disk, peer: store.peer.id, fold: addToRecords }) }),
    pauses: pauses({ root, disk }),
    growth: creationRate({ root, disk }),
    desk: desk({
      root,
      disk,
      ids,
      store,
      sources: sourcesOf(
        () => store,
        () => agents.all().values(),
      ),
    }),
    folder: ground,
    agents,
    tools: new Map([...toolbox(), ...plugins.tools.map((tool) => [tool.name, tool] as const)]),
    ...(trail ? { audit: trail } : {}),
    config,
    clock,
    ids,
    ...(hosts ? { hosts } : {}),
    ...(options.watchers ? { watchers: options.watchers } : {}),
  };
  const { tape } = options;
  const parts = tape?.parts(untaped) ?? untaped;
  const motor = tape ? taped(engine(parts), tape) : engine(parts);
  const intent = async (kind: 'cancel' | 'stop' | 'retry' | 'tell', task: string, text?: string): Promise<void> => {
    const base = { id: ids.next(), task, by: 'human', at: clock.now().toISOString() };
    if (kind === 'tell') await parts.store.submit({ ...base, kind, text: text ?? '' });
    else if (kind === 'cancel') await parts.store.submit({ ...base, kind, ...(text ? { reason: text } : {}) });
    else await parts.store.submit({ ...base, kind });
  };

  const workspace: Workspace = {
    root,
    config,
    configProblems,
    store: parts.store,
    engine: motor,
    bus: parts.bus!,
    add: (given) => newTask(parts.store, given, clock.now(), () => ids.next().slice(-8)),
    task: (id) => store.read(id),
    async openTasks() {
      await store.scan();
      return [...store.open()];
    },
    endedTasks: (given) => store.ended(given),
    tree: (id) => taskTree(store, id),
    cancel: (id, reason) => intent('cancel', id, reason),
    stop: (id) => intent('stop', id),
    retry: (id) => intent('retry', id),
    tell: (id, text) => intent('tell', id, text),
    events: (given) => store.events(given),
    peers: () => store.peers(),
    agents: () => agents.all(),
    check: () => agents.check(),
    pump: () => motor.pump(),
    pumpUntilQuiet,
    async run(agent, text, more = {}) {
      const task = await workspace.add({ ...more, description: text, to: agent });
      return finish(task.id);
    },
    finish,
    async watch(signal, onPass) {
      const stop = new AbortController();
      const listening = plugins.start({
        signal: AbortSignal.any([signal, stop.signal]),
        deliver: (name, message) => parts.inbox!.append(`${name}-messages.jsonl`, message),
        report: (one) => options.watchers?.problem?.(one),
      });
      const work = tape?.watch ?? watch;
      const waits = (): number => patience(store.rank());
      const unfollow = tape === undefined ? parts.bus?.follow(waits) : undefined;
      await work(parts, motor, { signal, ...(onPass ? { onPass } : {}) }).finally(() => {
        stop.abort();
        unfollow?.();
      });
      await listening;
    },
    async close() {
      await motor.stop();
      await plugins.close();
      await store.close();
      await motor.left();
      await trail?.close();
    },
  };
  return workspace;

  async function pumpUntilQuiet(onPass?: (report: PumpReport) => void, signal?: AbortSignal): Promise<PumpReport> {
    for (;;) {
      if (tape === undefined) await drive({ onPass: passed, signal });
      const report = await motor.pump(signal?.aborted ? NO_ROOTS : undefined);
      onPass?.(report);
      if (!report.moved || signal?.aborted) return report;
    }

    function passed(report: PumpReport): void {
      parts.audit?.passed(BUSY_GAP_MS);
      onPass?.(report);
    }
  }

  /** The trees that a task needs: its own, and those of what it depends on. */
  async function needed(id: string, roots = new Set<string>(), seen = new Set<string>()): Promise<Set<string>> {
    const placed = seen.has(id) ? undefined : (store.known(id) ?? (await store.read(id)));
    seen.add(id);
    if (placed === undefined) return roots;
    roots.add(placed.task.root);
    for (const other of placed.task.dependencies) await needed(other, roots, seen);
    return roots;
  }

  /** Passes that only use what is known follow each other as soon as anything ends; a pump after them looks at everything. */
  async function drive({ roots, onPass, signal }: Drive): Promise<void> {
    let look: 'all' | 'changed' | 'none' = 'all';
    let looked = clock.monotonicMs();
    const bell = alarm(clock);
    try {
      for (;;) {
        if (signal?.aborted) return;
        const report = await motor.pass(look, bell.ring, roots);
        onPass?.(report);
        const { again, untold } = report;
        if (look !== 'none') looked = clock.monotonicMs();
        look = clock.monotonicMs() - looked < LOOK_MS ? 'none' : 'changed';
        if (again) continue;
        if (motor.flights.size === 0 && !bell.isRung()) return;
        if (await bell.wait(untold ?? LOOK_MS)) continue;
        if (untold === undefined) look = 'changed';
        await new Promise((resolve) => setImmediate(resolve)); // a clock that does not really wait must not keep others from going on
      }
    } finally {
      bell.off();
    }
  }

  async function finish(id: string, signal?: AbortSignal): Promise<Placed> {
    const roots = await needed(id);
    for (;;) {
      if (tape === undefined) await drive({ roots, signal });
      const driven = tape === undefined ? await store.read(id) : undefined;
      if (driven !== undefined && isEnded(driven.state)) {
        await motor.wrapUp();
        return driven;
      }
      const report = await motor.pump(signal?.aborted ? NO_ROOTS : roots);
      const placed = (await store.read(id))!;
      if (isEnded(placed.state) || signal?.aborted) return placed;
      if (report.moved) continue;
      const elsewhere =
        [...store.open()].some((one) => one.held && one.task.root === placed.task.root) || lacksRoom(roots);
      const waitMs = elsewhere ? 100 : untilDue(roots); // another process works on it, or its time is still to come
      if (waitMs === undefined) return placed;
      await clock.sleep(waitMs);
    }
  }

  /** Whether one of these could go on if other processes had not filled up its agent. */
  function lacksRoom(roots: ReadonlySet<string>): boolean {
    const elsewhere = claimedElsewhere(parts);
    return [...store.open()].some(({ task: { root: one, to = '' }, state }) => {
      const most = parts.agents.all().get(to)?.maxConcurrentTasks ?? Infinity;
      return roots.has(one) && state === 'pending' && (elsewhere.get(to) ?? 0) >= most;
    });
  }

  /** How long to wait where something waits for a time and for nobody; undefined where nothing does. Others are looked at meanwhile. */
  function untilDue(roots: ReadonlySet<string>): number | undefined {
    const now = clock.now().getTime();
    const times = [...store.open()].flatMap(({ task: { root: one, waits } }) => {
      if (!roots.has(one) || waits?.until === undefined || waits.tasks !== undefined) return [];
      return waits.file === undefined ? Date.parse(waits.until) - now : LOOK_MS;
    });
    return times.length === 0 ? undefined : Math.min(LOOK_MS, Math.max(1, ...times));
  }
}
