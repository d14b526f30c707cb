/**
 * A whole engine on a disk that the test owns: real store, real rules, real agent files, and a
 * scripted model that counts its calls. Every `start` is a new process on the same disk.
 */
import path from 'node:path';
import { ballot } from '../../src/adapters/ballot/index.js';
import { consent } from '../../src/adapters/consent/index.js';
import { bids } from '../../src/adapters/bids/index.js';
import { bus } from '../../src/adapters/bus/index.js';
import { memoryBus } from './memory/bus.js';
import { boards } from '../../src/adapters/boards/index.js';
import { checkIns } from '../../src/adapters/check-ins/index.js';
import type { Lag } from '../../src/adapters/files/base/lag.js';
import { files } from '../../src/adapters/files/index.js';
import { creationRate } from '../../src/adapters/creation-rate/index.js';
import { heldFiles } from '../../src/adapters/held-files/index.js';
import { inbox } from '../../src/adapters/inbox/index.js';
import { pauses } from '../../src/adapters/pauses/index.js';
import { scripted } from '../../src/adapters/models/scripted/index.js';
import { boardTools } from '../../src/adapters/boards/board-tools.js';
import { project } from '../../src/adapters/project/index.js';
import { machine } from '../../src/adapters/machine/look.js';
import { web } from '../../src/adapters/web/index.js';
import { sourcesOf } from '../../src/app/readers/query-sources.js';
import { editedSessions } from '../../src/adapters/edited-sessions/index.js';
import { schedules } from '../../src/adapters/schedules/index.js';
import { roster } from '../../src/adapters/roster/index.js';
import { FREE } from '../../src/domain/budget/price.js';
import type { Config } from '../../src/domain/config/config.js';
import { engine, type Engine, type OnEnd } from '../../src/engine/pass/pump.js';
import { NO_AUDIT, watchers, type Ports, type Watchers } from '../../src/engine/core/context.js';
import type { Clock, Ids } from '../../src/ports/clock.js';
import type { Store } from '../../src/ports/store/index.js';
import type { Bus } from '../../src/ports/bus.js';
import type { Disk } from '../../src/ports/disk.js';
import type { WorkspaceFiles } from '../../src/ports/workspace-files.js';
import type { Model, ModelRequest } from '../../src/ports/model.js';
import type { Processes } from '../../src/ports/processes.js';
import type { Shell, ShellOutcome } from '../../src/ports/shell.js';
import { addToRecords } from '../../src/rules/staffing/track-record.js';
import { parseConfig } from '../../src/text/config/config.js';
import { toolbox } from '../../src/tools/toolbox.js';
import { simClock } from './sim-clock.js';
import { BOOT, type SimDisk } from './sim-disk.js';
import { countedIds, simProcesses } from './sim-processes.js';

export const ROOT = '/w';
/** The state folder of the user, outside the workspace. */
const STATE = '/state';

export interface StartOptions {
  config?: Partial<Config>;
  watchers?: Partial<Watchers>;
  bus?: Bus;
  agents?: string[];
  /** Makes the store; default: files on the disk. */
  store?: (given: { clock: Clock; ids: Ids; agents: string[] }) => Store;
  /** Ports that belong to that store. */
  ports?: () => Partial<Ports>;
}

export interface Cluster {
  /** Starts a process on the workspace. `disk` is the disk as this process sees it. */
  start(disk: Disk, options?: StartOptions): Proc;
  /** Every model call of every process so far. */
  calls: ModelRequest[];
}

export interface Proc {
  engine: Engine;
  /** A test may replace `model` and `price`; the engine uses whichever is there. */
  ports: Ports;
  store: Store;
  /** Ends the process as kill -9 does. */
  die(): void;
}

/** Files are placed only on request. */
export const WHEN_ASKED: Lag = () => undefined;
/** Files are placed at once. */
export const AT_ONCE: Lag = (wake) => queueMicrotask(wake);

/** `asks`: tools that need approval in this story. `lag`: the delay before files are placed. */
export function cluster(
  script: string,
  asks: readonly string[] = [],
  lag = WHEN_ASKED,
  clock = simClock({ auto: true }),
): Cluster {
  const processes = simProcesses();
  const calls: ModelRequest[] = [];
  let started = 0;
  const scriptedModel = scripted({ text: script, file: 'script.yaml' }, clock);
  const model: Model = {
    call(request) {
      calls.push(request);
      return scriptedModel.call(request);
    },
  };
  return {
    calls,
    start(disk, options = {}) {
      const process: Processes & { die(): void } = processes.start(bootOf(disk));
      const ids = countedIds(`g${String.fromCharCode(97 + started++)}`);
      const given = { clock, ids, agents: options.agents ?? [] };
      const store =
        options.store?.(given) ?? files({ root: ROOT, disk, processes: process, lag, eventsAtOnce: true, ...given });
      const ports = { ...testPorts({ disk, store, clock, ids, model, asks }, options), ...options.ports?.() };
      const asked: Model = { call: (request) => ports.model.call(request) };
      const priced: Ports['price'] = (name) => ports.price(name);
      return { engine: engine({ ...ports, model: asked, price: priced }), ports, store, die: () => process.die() };
    },
  };
}

function bootOf(disk: Disk): string {
  const boot = disk.read(BOOT);
  return boot.kind === 'file' ? boot.bytes.toString('utf8') : 'test';
}

interface Ground {
  disk: Disk;
  store: Store;
  clock: Clock;
  ids: Ids;
  model: Model;
  asks: readonly string[];
}

/** Every port the engine needs, real where it matters, on a disk and a clock that the test owns. */
function testPorts({ disk, store, clock, ids, model, asks }: Ground, options: StartOptions = {}): Ports {
  const agents = roster(disk, ROOT);
  agents.refresh();
  const peer = store.presence.peer.id;
  const agreed = consent({ disk, folder: `${STATE}/w`, workspace: 'w', keyFile: `${STATE}/key` });
  const config = { ...configOn(disk), model: 'demo/model', providers: { demo: { kind: 'scripted' as const } } };
  return {
    ...store,
    consent: agreed,
    ballot: ballot({ root: ROOT, disk, clock, peer, consent: agreed }),
    inbox: inbox({ root: ROOT, disk, peer }),
    heldFiles: heldFiles({ root: ROOT, disk, peer }),
    boards: boards({ root: ROOT, disk, clock, peer }),
    schedules: schedules({ root: ROOT, disk }),
    editedSessions: editedSessions({ root: ROOT, disk, clock, peer, isWatched: false, isFirst: () => true }),
    checkIns: checkIns({ root: ROOT, disk, peer }),
    bids: bids({ root: ROOT, disk, peer, fold: addToRecords }),
    pauses: pauses({ root: ROOT, disk, clock }),
    creationRate: creationRate({ root: ROOT, disk }),
    bus: options.bus ?? busOn(disk, clock),
    web: web(),
    machine: machine('/'),
    project: project(disk, ROOT),
    boardTools: boardTools({
      root: ROOT,
      disk,
      ids,
      store,
      sources: sourcesOf(
        () => store,
        () => agents.all().values(),
      ),
    }),
    gate: {
      refresh: () => [],
      noteAllowed: async () => 0,
      allowAlways: async () => {},
      judge: (_agent, tool) => ({
        verdict: asks.includes(tool) ? 'ask' : 'auto',
        reasons: ['the story says so'],
        risk: 'LOW',
      }),
    },
    fileTaint: { of: () => [], below: () => [], writes() {}, runs() {} },
    privateTexts: { put: async () => '', get: () => undefined },
    content: { bind: async () => ({ text: 'no content' }), changes: () => '' },
    model,
    price: () => FREE,
    workspaceFiles: diskFiles(disk),
    shell: paperShell(disk),
    agents,
    tools: toolbox(),
    config: { ...config, ...options.config },
    surroundings: { timeZone: 'UTC', system: 'Linux', workspace: 'w' },
    clock,
    ids,
    audit: NO_AUDIT,
    hosts: options.agents && new Set(options.agents),
    abandoned: new Set(),
    desk: undefined,
    isHere: () => true,
    isSequential: false,
    watchers: watchers(options.watchers),
  };
}

function configOn(disk: Disk): Config {
  const read = disk.read(path.join(ROOT, 'guild.yaml'));
  return parseConfig(read.kind === 'file' ? read.bytes.toString('utf8') : '', 'guild.yaml').config;
}

/** Notes are files only in a story that has a channel file; elsewhere they stay in memory. */
function busOn(disk: Disk, clock: Clock): Bus {
  const hasChannels = disk.stamp(path.join(ROOT, 'bus/state.jsonl')) !== undefined;
  return hasChannels ? bus({ root: ROOT, disk, clock }) : memoryBus({ clock });
}

/** How many processes are at work, by the clock they share. */
const atWork = new WeakMap<object, number>();
/** How many of them have died at work. */
const died = new WeakMap<object, number>();

/** Pumps until nothing moves and the human of the story has nothing to do. */
export async function play(proc: Proc, story: { human?: (disk: SimDisk) => boolean }, disk: SimDisk): Promise<void> {
  const { clock } = proc.ports;
  const count = (by: number): number => atWork.set(clock, (atWork.get(clock) ?? 0) + by).get(clock)!;
  for (let turns = 0; turns < 20; turns++) {
    count(1);
    const before = died.get(clock);
    const { due } = await untilQuiet(proc, 400)
      .catch((thrown: unknown) => {
        died.set(clock, (died.get(clock) ?? 0) + 1);
        throw thrown;
      })
      .finally(() => count(-1));
    if (story.human?.(disk) === true) continue;
    if (due === undefined) return;
    // Tasks of a process that has just died are recovered before any time passes.
    if (count(0) > 0 || died.get(clock) !== before) {
      // Another process is in the middle of a step that takes no time; time may pass only after it.
      while (count(0) > 0) await new Promise(setImmediate);
      turns--;
      continue;
    }
    // Nothing moves, and a task waits for a time: let it pass.
    await clock.sleep(Math.max(1, due - clock.now().getTime()));
  }
  throw new Error('the human never comes to an end');
}

/** Pumps until nothing moves; fails instead of looping forever. */
export async function untilQuiet(proc: Proc, most = 60): Promise<{ passes: number; due?: number }> {
  for (let passes = 1; passes <= most; passes++) {
    const { moved, due } = await proc.engine.pump();
    if (!moved) return { passes, ...(due === undefined ? {} : { due }) };
  }
  throw new Error(`still moving after ${most} passes`);
}

/**
 * A process that works as the driver does: the steps of a pattern follow without a pass. `steps`:
 * how many of them did.
 */
export function following(proc: Proc): Proc & { steps(): number } {
  const { pass, tidy, flights } = proc.engine;
  let steps = 0;
  let hasEnded = false;
  const onEnd: OnEnd = (moved, _, follow) => {
    hasEnded ||= moved;
    if (moved && follow()) steps++;
  };
  const pump: Engine['pump'] = async (roots) => {
    hasEnded = false;
    const report = await pass('all', onEnd, roots);
    while (flights.size > 0) await Promise.all([...flights.values()].map(({ done }) => done));
    await tidy();
    return { ...report, moved: report.moved || hasEnded };
  };
  return { ...proc, engine: { ...proc.engine, pump }, steps: () => steps };
}

/**
 * Pretends to run commands: the office's podman shows two containers, and a reply is one more line
 * in the outbox.
 */
function paperShell(disk: Disk): Shell {
  return {
    async run({ what }) {
      const script = 'script' in what ? what.script : '';
      const said = (output: string): ShellOutcome => ({ kind: 'exited', code: 0, output, cut: false });
      if (!script.startsWith('plugins/slack/actions/reply.mjs')) return said('NAMES\nweb\ndb\n');
      const file = path.join(ROOT, 'inbox/slack-outbox.jsonl');
      if (disk.stamp(file) === undefined) disk.create(file, '');
      disk.append(file, `${JSON.stringify({ said: script })}\n`);
      await disk.sync(file);
      return said('sent\n');
    },
    rollback: async () => ({ ok: false, reason: 'paper' }),
    confinement: () => 'paper',
    isSandboxed: () => true,
    refusal: () => undefined,
  };
}

/** File tools on any Disk, without the path rules, which have tests of their own. */
function diskFiles(disk: Disk): WorkspaceFiles {
  const at = (file: string): string => path.join(ROOT, file);
  return {
    judge: (_agent, _use, file) => ({ verdict: 'ok', reason: 'test', path: file }),
    read(_agent, file) {
      const read = disk.read(at(file));
      if (read.kind !== 'file') return { ok: false, reason: `there is no file ${file}` };
      return { ok: true, value: { text: read.bytes.toString('utf8'), bytes: read.bytes.length, cut: false } };
    },
    readMedia: () => ({ ok: true, value: undefined }),
    baseOf: () => undefined,
    async write(_agent, file, text) {
      const tmp = at(`${path.dirname(file)}/.tmp-${path.basename(file)}`);
      disk.remove(tmp);
      disk.makeFolder(path.dirname(at(file)));
      disk.create(tmp, text);
      await disk.sync(tmp);
      disk.rename(tmp, at(file));
      await disk.syncFolder(path.dirname(at(file)));
      return { ok: true, value: { bytes: Buffer.byteLength(text), created: true } };
    },
    list: (_agent, folder) => ({
      ok: true,
      value: disk.list(at(folder)).map((name) => ({ name, kind: 'file', bytes: 0 })),
    }),
    async makeFolder(_agent, folder) {
      disk.makeFolder(at(folder));
      return { ok: true, value: { created: true } };
    },
    search: async () => ({ ok: true, value: [] }),
  };
}
