/** Builds the engine's ports for a workspace from its configuration and the caller's options. */
import { actions } from '../adapters/actions/index.js';
import { ballot } from '../adapters/ballot/index.js';
import { bids, noBids } from '../adapters/bids/index.js';
import { boundContent } from '../adapters/bound-content/index.js';
import { boardTools } from '../adapters/boards/board-tools.js';
import { boards } from '../adapters/boards/index.js';
import { bus } from '../adapters/bus/index.js';
import { checkIns } from '../adapters/check-ins/index.js';
import { clock as realClock } from '../adapters/clock/index.js';
import { creationRate } from '../adapters/creation-rate/index.js';
import { files } from '../adapters/files/index.js';
import { editedSessions } from '../adapters/edited-sessions/index.js';
import { heldFiles } from '../adapters/held-files/index.js';
import { inbox } from '../adapters/inbox/index.js';
import { models } from '../adapters/models/index.js';
import { pauses } from '../adapters/pauses/index.js';
import { project } from '../adapters/project/index.js';
import { privateTexts } from '../adapters/private-texts/index.js';
import { fileTaint } from '../adapters/file-taint/index.js';
import type { Plugins } from '../adapters/plugins/index.js';
import { gate } from '../adapters/policy-files/gate.js';
import { processes as realProcesses } from '../adapters/processes/index.js';
import type { Roster } from '../adapters/roster/index.js';
import { schedules } from '../adapters/schedules/index.js';
import { search } from '../adapters/search/index.js';
import { shell } from '../adapters/shell/index.js';
import { machine } from '../adapters/machine/look.js';
import { deskName } from '../adapters/machine/desk-name.js';
import { surroundings } from '../adapters/machine/surroundings.js';
import { packageFolder } from '../adapters/starter/package-folder.js';
import { web } from '../adapters/web/index.js';
import { workspaceFiles } from '../adapters/workspace-files/index.js';
import type { Env } from '../domain/config/env.js';
import { priceOf } from '../domain/config/prices.js';
import { stricterSandbox } from '../domain/config/settings.js';
import type { Agent } from '../domain/agent/agent.js';
import type { Config } from '../domain/config/config.js';
import type { Problem } from '../domain/problem.js';
import { NO_AUDIT, watchers, type Audit, type Ports } from '../engine/core/context.js';
import { audit } from '../engine/pass/audit.js';
import type { Agents } from '../ports/agents.js';
import type { Clock, Ids } from '../ports/clock.js';
import type { Consent } from '../ports/consent/index.js';
import type { PrivateTexts } from '../ports/consent/private-texts.js';
import type { Disk } from '../ports/disk.js';
import type { Model } from '../ports/model.js';
import type { Pauses } from '../ports/pauses.js';
import type { Shell } from '../ports/shell.js';
import type { Store } from '../ports/store/index.js';
import { judgePath, judgeSpelling } from '../rules/policy/paths.js';
import { addToRecords } from '../rules/staffing/track-record.js';
import type { Tool } from '../tools/core/tool.js';
import { toolbox } from '../tools/toolbox.js';
import { hiredAgents } from './far/hired.js';
import { HOME, homesOf } from './far/homes.js';
import { isShared, openFarStore } from './far/open-store.js';
import { farPorts, type SharedPorts } from './far/shared-ports.js';
import { sharedTexts, type SharedTexts } from './far/shared-texts.js';
import { released } from './far/released.js';
import { missingKeys } from './live/model-key.js';
import { offered } from './live/offered.js';
import { unhurried } from '../adapters/models/unhurried.js';
import { lateHistory, noted, watchedDisk } from './late-history.js';
import type { OpenOptions } from './open-options.js';
import { farPartsOf } from './readers/open-reader.js';
import { sourcesOf } from './readers/query-sources.js';
import type { Tape } from './readers/tape.js';
import { withTrustedProviders } from './trust/acting.js';
import { scriptReader } from './trust/read-script.js';
import { announcer, ownRequests, type Announce } from './approvals.js';
import { consentFor, rulesInForce, trustedEdit, type Trust } from './trust/trust.js';

interface Foundation {
  root: string;
  disk: Disk;
  clock: Clock;
  ids: Ids;
  env: Env;
  config: Config;
  plugins: Plugins;
  agents: Roster;
  /** The peer ids that this process had before its store failed. */
  abandoned: ReadonlySet<string>;
  /**
   * The parts of the workspace that may act; absent in a replay, which runs nothing of its folder.
   */
  trust?: Trust;
  /** Agents that wait until the workspace is trusted, and why. */
  held: ReadonlyMap<string, string>;
}

interface Composed {
  ports: Ports;
  /** Separate because only its owner may close it. */
  store: Store;
  announce: Announce;
  /** Hides the running turns from other processes from now on. */
  withdraw(): void;
  /** Undefined: the work is in this folder. */
  texts: SharedTexts | undefined;
}

const JUDGE = { spelling: judgeSpelling, path: judgePath };

export function composePorts(given: Foundation, options: OpenOptions): Composed {
  const { root, clock, ids, env, config, plugins, agents, abandoned, trust, held } = given;
  const { tape } = options;
  const onlookers = watchers(options.watchers);
  const isFar = options.ledger !== undefined || isShared(config, env);
  // With a shared store, history is kept only in a folder that mirrors it, not on every machine.
  const isKept = config.git.enabled && options.history !== false && options.disk === undefined && !isFar;
  const history = isKept ? lateHistory({ root, config, env, clock, processes: options.processes }) : undefined;
  const trail: Audit = history === undefined ? NO_AUDIT : audit(history, clock, onlookers.problem);
  const watched = history ?? (options.onWrite && { changed: options.onWrite });
  const disk = watched === undefined ? given.disk : watchedDisk(given.disk, watched);
  const { opened, common, believe, texts, ...shared } = (isFar ? openShared : openFiles)({ ...given, disk }, options);
  const noting = history === undefined ? opened : noted(opened, trail);
  const { store, isHere } = homed(noting, given, onlookers.problem);
  const peer = store.presence.peer.id;
  const isWatched = options.disk === undefined && tape === undefined;
  const shown = offered(onlookers, { root, env, peer }, isWatched);
  const ranked = search({ kind: config.search });
  const fileTools = workspaceFiles({ root, disk, writes: history, judge: JUDGE, search: ranked });
  const workers = (): Iterable<Agent> => agents.all().values();
  const sources = sourcesOf(() => store, workers);
  // A recorded workspace has its own clock; waiting for the outside world uses real time.
  const waitingClock = tape ? realClock() : clock;
  const consent = believe(consentOf(given, tape));
  const commands = shellOf(given);
  const rules = { ...rulesOf(trust, env, tape), isSandboxed: commands.isSandboxed };
  const kept = privateTexts({ root, disk });
  const readBlob = blobReader(store, kept);
  const ports: Ports = {
    ...store,
    model: modelOf(options, given, { clock: waitingClock, readFile: scriptReader(given.disk, given.root), readBlob }),
    price: (model) => priceOf(model, config, env, clock.now()),
    gate: gate({ root, disk, folder: fileTools, peer, isFree: isFreeTool(plugins), ...rules }),
    content: boundContent({ root, disk }),
    fileTaint: fileTaint({ root, disk, baseOf: fileTools.baseOf }),
    privateTexts: kept,
    shell: commands,
    web: web(),
    machine: machine(root),
    project: project(disk, root),
    consent,
    ballot: ballot({ root, disk, clock: waitingClock, peer, consent, livePeers, isTimed: !tape, hasRecords: !isFar }),
    ...takenIn({ root, disk, clock, presence: store.presence, isWatched }),
    ...common,
    // Caches are not part of a recording.
    bids: tape ? noBids() : common.bids,
    pauses: withHeld(common.pauses, held),
    boardTools: boardTools({ root, disk, ids, store, sources }),
    workspaceFiles: fileTools,
    agents: shared.agents(consent),
    tools: toolsOf(plugins),
    audit: trail,
    config,
    surroundings: surroundings(root),
    clock,
    ids,
    hosts: options.agents && new Set(options.agents),
    desk: isFar ? deskName() : undefined,
    isHere: needsKeys(options) ? withKeys(isHere, given) : isHere,
    abandoned,
    isSequential: false,
    watchers: shown,
  };
  const { tasks, intents, ...rest } = tape?.ports(ports) ?? ports;
  const announce = announcer(ownRequests(consent, isFar));
  const { withdraw } = shown;
  return { ports: { ...rest, tasks, intents }, store: { ...store, tasks, intents }, announce, withdraw, texts };

  async function livePeers(): Promise<string[]> {
    return (await store.presence.peers()).map(({ id }) => id);
  }
}

type ModelSources = Pick<Parameters<typeof models>[0], 'clock' | 'readFile' | 'readBlob'>;

function modelOf({ model, turnMs }: OpenOptions, { config, trust, env }: Foundation, from: ModelSources): Model {
  const made = model ?? models({ config: withTrustedProviders(config, trust), env, ...from });
  return unhurried(made, turnMs, from.clock);
}

/** Agents with `runs_on` work only where they may. */
function homed(opened: Store, { agents, env }: Foundation, report: (problem: Problem) => void) {
  const homes = farPartsOf(opened)?.shelf(HOME);
  const { tasks, isHere } = homesOf(opened, { agents, env, report, homes });
  return { store: { ...opened, tasks }, isHere };
}

/** A model that was passed in, and that of a replay, need no key. */
function needsKeys({ model, tape }: OpenOptions): boolean {
  return model === undefined && tape === undefined;
}

/** Another process may have the key that is missing here. */
function withKeys(isHere: Ports['isHere'], { agents, config, held, env }: Foundation): Ports['isHere'] {
  const missing = missingKeys(agents, { config, held }, env);
  return (agent, task) => missing(agent) === undefined && isHere(agent, task);
}

/** The ports for files that people and programs leave in the folder for the next pass. */
function takenIn({ root, disk, clock, presence, isWatched }: Pick<Foundation, 'root' | 'disk' | 'clock'> & Taken) {
  const peer = presence.peer.id;
  const isFirst = (): boolean => presence.rank().rank === 0;
  return {
    inbox: inbox({ root, disk, peer }),
    schedules: schedules({ root, disk }),
    editedSessions: editedSessions({ root, disk, clock, peer, isWatched, isFirst }),
    heldFiles: heldFiles({ root, disk, peer }),
    boards: boards({ root, disk, clock, peer }),
  };
}

interface Taken {
  presence: Pick<Store['presence'], 'peer' | 'rank'>;
  /** The system reports changed files. */
  isWatched: boolean;
}

interface Opened {
  opened: Store;
  /** The state besides the store that processes share. */
  common: SharedPorts;
  /** Also accepts answers that were given on other machines. */
  believe(own: Consent): Consent;
  /** Texts that travel between machines. */
  texts: SharedTexts | undefined;
  /** Agents that people approve are known wherever the work is. */
  agents(consent: Consent): Agents;
}

function openShared(foundation: Foundation, options: OpenOptions): Opened {
  const { root, disk, clock, ids, env, config, abandoned } = foundation;
  const { agents, ledger, processes = realProcesses() } = options;
  const given = { root, disk, clock, ids, env, config, abandoned, processes, agents, ledger: ledger?.() };
  const { problem: report } = watchers(options.watchers);
  const opened = openFarStore({ ...given, report });
  const common = farPorts(opened, given, opened.presence.peer.id);
  const hired = hiredAgents(opened.far, root);
  const { pauses, consent } = released(opened.far, {
    ...given,
    isTrusted: foundation.trust === undefined || foundation.trust.state === 'trusted',
    hired: hired.files,
    names: () => foundation.agents.all().keys(),
    hold: opened.hold,
    report,
  });
  const texts = sharedTexts(opened.far);
  return {
    opened: texts.around(opened),
    common: { ...common, pauses: pauses(common.pauses) },
    believe: consent,
    texts,
    agents: (own) => hired.shared(foundation.agents, { tasks: opened.tasks, consent: own }),
  };
}

function openFiles({ root, disk, clock, ids, abandoned, agents: own }: Foundation, options: OpenOptions): Opened {
  const { processes, agents, tape } = options;
  const opened = files({
    root,
    disk,
    clock,
    ids,
    processes: processes ?? realProcesses(),
    agents: agents ?? [],
    abandoned,
    // A recorded run must not depend on how long a write takes.
    ...(tape ? { lag: (wake: () => void) => wake(), eventsAtOnce: true } : {}),
  });
  const peer = opened.presence.peer.id;
  const common = {
    bus: bus({ root, disk, clock, peer }),
    pauses: pauses({ root, disk, clock }),
    creationRate: creationRate({ root, disk }),
    bids: bids({ root, disk, peer, fold: addToRecords }),
    checkIns: checkIns({ root, disk, peer }),
  };
  return { opened, common, believe: (own) => own, texts: undefined, agents: () => own };
}

/** Files that may be secret are kept apart from the others. Both are found by their hash. */
function blobReader({ blobs }: Store, kept: PrivateTexts): (hash: string) => Promise<Uint8Array | undefined> {
  return async (hash) => (await blobs.get(hash)) ?? kept.get(hash);
}

function shellOf({ root, env, config, trust }: Foundation): Shell {
  const sandbox = stricterSandbox(config.sandbox, trust?.settings.sandbox);
  const own = trust?.code === undefined ? {} : { own: trust.code };
  return actions(shell({ root, env, sandbox }), { root, env, builtIn: packageFolder('plugins'), ...own });
}

function consentOf({ trust, env, config }: Foundation, tape: Tape | undefined): Consent {
  const real = trust && consentFor(trust.record, env, config);
  return tape?.consent(real) ?? real!;
}

/** The trusted rules. A replay uses the rules of its folder until it continues live. */
function rulesOf(
  trust: Trust | undefined,
  env: Foundation['env'],
  tape: Tape | undefined,
): Pick<Parameters<typeof gate>[0], 'trusted' | 'onRule' | 'workspace'> {
  // A replay has no trust record, so a recording works without one, too.
  const own = trust === undefined || tape !== undefined ? {} : { workspace: trust.record.id };
  if (trust !== undefined) return { trusted: rulesInForce(trust, env), onRule: trustedEdit(trust, env), ...own };
  return {
    trusted() {
      const restricted = tape?.replayed?.restricted();
      return restricted === undefined ? undefined : { rules: {}, restricted };
    },
  };
}

/** Agents that are held are paused until the workspace is trusted and opened again. */
function withHeld(pauses: Pauses, held: ReadonlyMap<string, string>): Pauses {
  if (held.size === 0) return pauses;
  let from: ReadonlyMap<string, string> | undefined;
  let all: ReadonlyMap<string, string> = held;
  // Several modules ask in every pass, so the maps are merged only when the paused agents change.
  const both = (paused: ReadonlyMap<string, string>): ReadonlyMap<string, string> => {
    if (paused !== from) all = new Map([...paused, ...held]);
    from = paused;
    return all;
  };
  return {
    ...pauses,
    look: () => both(pauses.look()),
    all: () => both(pauses.all()),
    isPaused: (agent) => held.has(agent) || pauses.isPaused(agent),
  };
}

function isFreeTool(plugins: Plugins): (tool: string) => boolean {
  return (tool) => plugins.tools.some(({ name }) => name === tool) && !plugins.requiresApproval(tool);
}

/** A view of the current tools: a plugin may change its own. */
function toolsOf(plugins: Plugins): Ports['tools'] {
  const built = toolbox();
  let from: Plugins['tools'] | undefined;
  let all = built;
  const now = (): Map<string, Tool> => {
    if (from !== plugins.tools) {
      from = plugins.tools;
      all = new Map([...built, ...from.map((tool) => [tool.name, tool] as const)]);
    }
    return all;
  };
  return { get: (name) => now().get(name), has: (name) => now().has(name) };
}
