/**
 * A whole engine on a disk that the test owns: real store, real rules, real agent files, a scripted model that counts its
 * calls. Every `enter` is a new process on the same disk.
 */
import path from 'node:path';
import { ballot } from '../../src/adapters/ballot/index.js';
import { bids } from '../../src/adapters/bids/index.js';
import { bus } from '../../src/adapters/bus/index.js';
import { boards } from '../../src/adapters/boards/index.js';
import { checkIns } from '../../src/adapters/check-ins/index.js';
import type { Lag } from '../../src/adapters/files/ahead.js';
import { files } from '../../src/adapters/files/index.js';
import { creationRate } from '../../src/adapters/creation-rate/index.js';
import { inbox } from '../../src/adapters/inbox/index.js';
import { pauses } from '../../src/adapters/pauses/index.js';
import { scripted } from '../../src/adapters/models/scripted/index.js';
import { desk } from '../../src/adapters/boards/board-tools.js';
import { sourcesOf } from '../../src/app/readers/query-sources.js';
import { roster } from '../../src/adapters/roster/index.js';
import type { Config } from '../../src/domain/config/config.js';
import { engine, type Engine } from '../../src/engine/pass/pump.js';
import type { Parts, Watchers } from '../../src/engine/core/context.js';
import type { Bus } from '../../src/ports/bus.js';
import type { Disk } from '../../src/ports/disk.js';
import type { Folder } from '../../src/ports/workspace-files.js';
import type { Model, ModelRequest } from '../../src/ports/model.js';
import type { Processes } from '../../src/ports/processes.js';
import type { Shell, ShellOutcome } from '../../src/ports/shell.js';
import { addToRecords } from '../../src/rules/staffing/track-record.js';
import { parseConfig } from '../../src/text/config/config.js';
import { toolbox } from '../../src/tools/toolbox.js';
import { simClock } from './sim-clock.js';
import type { SimDisk } from './sim-disk.js';
import { countedIds, simProcesses } from './sim-processes.js';

export const ROOT = '/w';

export interface Hall {
  /** A process opens the workspace. `on` is the disk as this process sees it. */
  enter(on: Disk, options?: { config?: Partial<Config>; watchers?: Watchers; bus?: Bus; agents?: string[] }): Guest;
  /** Every model call of every process so far. */
  calls: ModelRequest[];
}

export interface Guest {
  engine: Engine;
  parts: Parts;
  /** Its process ends without a word. */
  die(): void;
}

/** The disk follows when it must, as in work that is quick. */
export const WHEN_ASKED: Lag = () => undefined;
/** The disk follows at once, as in work that takes its time. */
export const AT_ONCE: Lag = (wake) => queueMicrotask(wake);

/** `asks`: tools that need a human in this story. `lag`: how the disk follows behind. */
export function hall(script: string, asks: readonly string[] = [], lag = WHEN_ASKED): Hall {
  const processes = simProcesses();
  const calls: ModelRequest[] = [];
  const clock = simClock({ auto: true });
  let guests = 0;
  const play = scripted({ text: script, file: 'script.yaml' }, clock);
  const model: Model = {
    call(request) {
      calls.push(request);
      return play.call(request);
    },
  };
  return {
    calls,
    enter(on, options = {}) {
      const own: Processes & { die(): void } = processes.start();
      const ids = countedIds(`g${String.fromCharCode(97 + guests++)}`);
      const agents = roster(on, ROOT);
      agents.refresh();
      const store = files({
        root: ROOT,
        disk: on,
        clock,
        ids,
        processes: own,
        agents: options.agents ?? [],
        lag,
        soon: (write) => write(),
      });
      const parts: Parts = {
        store,
        ballot: ballot({ root: ROOT, disk: on, peer: store.peer.id }),
        inbox: inbox({ root: ROOT, disk: on, peer: store.peer.id }),
        boards: boards({ root: ROOT, disk: on, clock, peer: store.peer.id }),
        checkIns: checkIns({ root: ROOT, disk: on, peer: store.peer.id }),
        bids: bids({ root: ROOT, disk: on, peer: store.peer.id, fold: addToRecords }),
        pauses: pauses({ root: ROOT, disk: on }),
        growth: creationRate({ root: ROOT, disk: on }),
        ...busOn(on, options.bus),
        desk: desk({
          root: ROOT,
          disk: on,
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
        model,
        folder: diskFolder(on),
        shell: paperShell(on),
        agents,
        tools: toolbox(),
        config: {
          ...configOn(on),
          model: 'demo/model',
          providers: { demo: { kind: 'scripted' } },
          ...options.config,
        },
        clock,
        ids,
        ...(options.agents ? { hosts: new Set(options.agents) } : {}),
        ...(options.watchers ? { watchers: options.watchers } : {}),
      };
      // A test may put another model or price into `parts` later: the engine asks whichever is there.
      const asked: Model = { call: (request) => parts.model.call(request) };
      const priced: Parts['price'] = (name) => parts.price?.(name);
      return { engine: engine({ ...parts, model: asked, price: priced }), parts, die: () => own.die() };
    },
  };

  function configOn(on: Disk): Config {
    const read = on.read(path.join(ROOT, 'guild.yaml'));
    return parseConfig(read.kind === 'file' ? read.bytes.toString('utf8') : '', 'guild.yaml').config;
  }

  /** A story that lays the file of a channel has a bus. */
  function busOn(on: Disk, given: Bus | undefined): { bus?: Bus } {
    if (given !== undefined) return { bus: given };
    return on.stamp(path.join(ROOT, 'bus/state.jsonl')) === undefined
      ? {}
      : { bus: bus({ root: ROOT, disk: on, clock }) };
  }
}

/** How many processes are at work, by the clock they share. */
const atWork = new WeakMap<object, number>();

/** Pumps until nothing moves and the human of the story has nothing to do. */
export async function play(guest: Guest, story: { human?: (disk: SimDisk) => boolean }, disk: SimDisk): Promise<void> {
  const { clock } = guest.parts;
  const count = (by: number): number => atWork.set(clock, (atWork.get(clock) ?? 0) + by).get(clock)!;
  for (let turns = 0; turns < 20; turns++) {
    count(1);
    const { due } = await untilQuiet(guest, 400).finally(() => count(-1));
    if (story.human?.(disk) === true) continue;
    if (due === undefined) return;
    if (count(0) > 0) {
      // Another is in the middle of something that takes no time: only when it is through may a minute pass.
      while (count(0) > 0) await new Promise(setImmediate);
      turns--;
      continue;
    }
    // Nothing moves, and something waits for a time: it passes.
    await clock.sleep(Math.max(1, due - clock.now().getTime()));
  }
  throw new Error('the human never comes to an end');
}

/** Pumps until nothing moves; fails loudly instead of going on forever. */
export async function untilQuiet(guest: Guest, most = 60): Promise<{ passes: number; due?: number }> {
  for (let passes = 1; passes <= most; passes++) {
    const { moved, due } = await guest.engine.pump();
    if (!moved) return { passes, ...(due === undefined ? {} : { due }) };
  }
  throw new Error(`still moving after ${most} passes`);
}

/** Pretends to run commands: the office's podman shows two containers, and a reply is one more line in the outbox. */
function paperShell(disk: Disk): Shell {
  return {
    async run({ what }) {
      const script = 'script' in what ? what.script : '';
      const said = (output: string): ShellOutcome => ({ kind: 'exited', code: 0, output, cut: false, ms: 1 });
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
  };
}

/** File tools on any Disk, without the path rules: those have tests of their own. */
function diskFolder(disk: Disk): Folder {
  const at = (file: string): string => path.join(ROOT, file);
  return {
    judge: (_agent, _use, file) => ({ verdict: 'ok', reason: 'test', path: file }),
    read(_agent, file) {
      const read = disk.read(at(file));
      if (read.kind !== 'file') return { ok: false, reason: `there is no file ${file}` };
      return { ok: true, value: { text: read.bytes.toString('utf8'), bytes: read.bytes.length, cut: false } };
    },
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
