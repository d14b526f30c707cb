/** Builds the engine's ports for a workspace from its configuration and the caller's options. */
import path from 'node:path';
import { actions } from '../adapters/actions/index.js';
import { ballot } from '../adapters/ballot/index.js';
import { bids, noBids } from '../adapters/bids/index.js';
import { boardTools } from '../adapters/boards/board-tools.js';
import { boards } from '../adapters/boards/index.js';
import { bus } from '../adapters/bus/index.js';
import { checkIns } from '../adapters/check-ins/index.js';
import { clock as realClock } from '../adapters/clock/index.js';
import { creationRate } from '../adapters/creation-rate/index.js';
import { files } from '../adapters/files/index.js';
import { heldFiles } from '../adapters/held-files/index.js';
import { inbox } from '../adapters/inbox/index.js';
import { LIST_PRICES } from '../adapters/models/ai-sdk/prices.js';
import { models } from '../adapters/models/index.js';
import { pauses } from '../adapters/pauses/index.js';
import type { Plugins } from '../adapters/plugins/index.js';
import { gate } from '../adapters/policy-files/gate.js';
import { processes as realProcesses } from '../adapters/processes/index.js';
import type { Roster } from '../adapters/roster/index.js';
import { search } from '../adapters/search/index.js';
import { shell } from '../adapters/shell/index.js';
import { packageFolder } from '../adapters/starter/package-folder.js';
import { workspaceFiles } from '../adapters/workspace-files/index.js';
import { findPrice } from '../domain/budget/price.js';
import type { Config } from '../domain/config/config.js';
import { NO_AUDIT, watchers, type Audit, type Ports } from '../engine/core/context.js';
import { audit } from '../engine/pass/audit.js';
import type { Clock, Ids } from '../ports/clock.js';
import type { Disk } from '../ports/disk.js';
import type { Store } from '../ports/store/index.js';
import { judgePath, judgeSpelling } from '../rules/policy/paths.js';
import { addToRecords } from '../rules/staffing/track-record.js';
import { toolbox } from '../tools/toolbox.js';
import { lateHistory, noted, watchedDisk } from './late-history.js';
import type { OpenOptions } from './open-options.js';
import { sourcesOf } from './readers/query-sources.js';

interface Foundation {
  root: string;
  disk: Disk;
  clock: Clock;
  ids: Ids;
  env: Record<string, string | undefined>;
  config: Config;
  plugins: Plugins;
  agents: Roster;
  /** Peer ids under which this process worked until its store failed. */
  abandoned: ReadonlySet<string>;
}

/** `store` is separate because only its owner may close it. */
export function composePorts(given: Foundation, options: OpenOptions): { ports: Ports; store: Store } {
  const { root, clock, ids, env, config, plugins, agents, abandoned } = given;
  const { tape } = options;
  const onlookers = watchers(options.watchers);
  const isKept = config.git.enabled && options.history !== false && options.disk === undefined;
  const history = isKept ? lateHistory({ root, config, env, clock, processes: options.processes }) : undefined;
  const trail: Audit = history === undefined ? NO_AUDIT : audit(history, clock, onlookers.problem);
  const disk = history === undefined ? given.disk : watchedDisk(given.disk, history.changed);
  const opened = openStore({ ...given, disk }, options);
  const store = history === undefined ? opened : noted(opened, trail);
  const peer = store.presence.peer.id;
  const fileTools = workspaceFiles({
    root,
    disk,
    onWrite: history?.changed,
    judge: { spelling: judgeSpelling, path: judgePath },
    search: search({ kind: config.search }),
  });
  // A recorded workspace has a clock of its own; waiting for the outside world goes by the real
  // one.
  const waitingClock = tape ? realClock() : clock;
  const ports: Ports = {
    ...store,
    model: options.model ?? models({ config, env, clock: waitingClock, readFile }),
    price: (model) => findPrice(model, config.prices, LIST_PRICES),
    gate: gate({ root, disk, folder: fileTools, peer, isFree: isFreeTool(plugins) }),
    shell: actions(shell({ root, env, clock: waitingClock }), { root, env, builtIn: packageFolder('plugins') }),
    ballot: ballot({ root, disk, clock: waitingClock, peer, livePeers, isTimed: tape === undefined }),
    inbox: inbox({ root, disk, peer }),
    heldFiles: heldFiles({ root, disk, peer }),
    boards: boards({ root, disk, clock, peer }),
    bus: bus({ root, disk, clock, peer }),
    checkIns: checkIns({ root, disk, peer }),
    // Caches are not part of a recording.
    bids: tape ? noBids() : bids({ root, disk, peer, fold: addToRecords }),
    pauses: pauses({ root, disk, clock }),
    creationRate: creationRate({ root, disk }),
    boardTools: boardTools({
      root,
      disk,
      ids,
      store,
      sources: sourcesOf(
        () => store,
        () => agents.all().values(),
      ),
    }),
    workspaceFiles: fileTools,
    agents,
    tools: new Map([...toolbox(), ...plugins.tools.map((tool) => [tool.name, tool] as const)]),
    audit: trail,
    config,
    clock,
    ids,
    hosts: options.agents && new Set(options.agents),
    abandoned,
    isSequential: false,
    watchers: onlookers,
  };
  const { tasks, intents, ...rest } = tape?.ports(ports) ?? ports;
  return { ports: { ...rest, tasks, intents }, store: { ...store, tasks, intents } };

  function readFile(file: string): string | undefined {
    const read = disk.read(path.resolve(root, file));
    return read.kind === 'file' ? read.bytes.toString('utf8') : undefined;
  }

  async function livePeers(): Promise<string[]> {
    return (await store.presence.peers()).map(({ id }) => id);
  }
}

function openStore({ root, disk, clock, ids }: Foundation, { processes, agents, tape }: OpenOptions): Store {
  return files({
    root,
    disk,
    clock,
    ids,
    processes: processes ?? realProcesses(),
    agents: agents ?? [],
    // A recorded run must not depend on how long a write takes.
    ...(tape ? { lag: () => undefined } : {}),
  });
}

function isFreeTool(plugins: Plugins): (tool: string) => boolean {
  const names = new Set(plugins.tools.map((tool) => tool.name));
  return (tool) => names.has(tool) && !plugins.requiresApproval(tool);
}
