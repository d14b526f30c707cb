/**
 * Records one run of a workspace on a cassette. The workspace is opened with a deterministic clock,
 * ids and disk, and everything that comes from outside is recorded.
 */
import { defined } from '../../domain/defined.js';
import { INTERVALS } from '../../domain/intervals.js';
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { clock as realClock } from '../../adapters/clock/index.js';
import { disk as realDisk } from '../../adapters/disk/index.js';
import { isWorkspace } from '../../adapters/files/index.js';
import { recorder, type Recorder } from '../../adapters/models/record/index.js';
import { manualClock, orderedDisk, seededIds } from '../../adapters/deterministic/index.js';
import { fileTree, RECORDING } from '../../adapters/file-tree/index.js';
import { CASSETTE_VERSION, type KeptTool, type LeftOut } from '../../domain/session/cassette.js';
import { problem, type Problem, ProblemError, problemError } from '../../domain/problem.js';
import type { Engine } from '../../engine/pass/pump.js';
import type { Ports } from '../../engine/core/context.js';
import { runUntil } from '../../engine/pass/run-until.js';
import type { WatchOptions } from '../../engine/pass/watch.js';
import { keyFromSeed, memoryConsent } from '../../adapters/consent/index.js';
import { isShared } from '../far/open-store.js';
import { readConfig } from '../readers/read-config.js';
import { openTrust } from '../trust/trust.js';
import { openWorkspace } from '../open-workspace.js';
import type { Plugins } from '../../adapters/plugins/index.js';
import { whyLeftOut, type Tape } from '../readers/tape.js';
import { askedOf, withPluginTools } from './taped-tools.js';

interface RecordOptions {
  file: string;
  command: string[];
  version: string;
}

interface Recording {
  /** Replaces `openWorkspace`; for one workspace only. */
  open: typeof openWorkspace;
  /**
   * Completes the cassette after the workspace was closed. Undefined, and no cassette, if there was
   * nothing to record.
   */
  finish(): Recorded | undefined;
}

export interface Recorded {
  passes: number;
  calls: number;
  leftOut: LeftOut[];
}

export function recordRun({ file, command, version }: RecordOptions): Recording {
  const cassette = path.resolve(file);
  if (fs.existsSync(cassette))
    throw problemError('duplicate', `${file} already exists`, {
      hint: 'a recording never replaces a file; name another one',
    });
  let writing = cassette;
  let tape: Recorder | undefined;
  let files: ReturnType<typeof fileTree> | undefined;

  return {
    async open(folder, options = {}) {
      const root = path.resolve(folder);
      if (tape !== undefined) throw problemError('bug', 'a cassette records one workspace');
      const disk = realDisk();
      if (!isWorkspace(disk, root)) return openWorkspace(root, options);
      const real = realClock();
      const env = options.env ?? process.env;
      const { config } = readConfig(disk, root, env);
      if (isShared(config, env)) throw new ProblemError(inStore());
      if (openTrust(root, env, config).state !== 'trusted') throw new ProblemError(untrusted());
      const seed = randomBytes(8).toString('hex');
      const clock = manualClock(Date.now(), (ms, signal) => real.sleep(ms, signal));
      const ids = seededIds(seed);
      // Agents list files of the workspace. They must not see the growing cassette, because a
      // replay does not have it.
      if (cassette.startsWith(root + path.sep)) writing = path.join(root, `${RECORDING}${seed}.jsonl`);
      files = fileTree({ root, secret: whyLeftOut });
      let flush = async (): Promise<void> => undefined;
      tape = recorder({ file: writing, clock, ids, tree: files, now: Date.now, flush: () => flush() });
      const model = options.modelName;
      tape.begin(
        defined({
          kind: 'head',
          cassette: CASSETTE_VERSION,
          guild: version,
          command,
          at: clock.now().getTime(),
          seed,
          variables: Object.keys(env).filter((name) => /_API_KEY$|^OPENAI_BASE_URL$/.test(name) && env[name] !== ''),
          model,
        }),
      );
      const workspace = await openWorkspace(root, {
        ...options,
        clock,
        ids,
        disk: orderedDisk(disk, { durable: true }),
        tape: recording(tape, seed),
      });
      flush = () => workspace.store.flush();
      tape.opened();
      const others = (await workspace.peers()).filter(({ id }) => id !== workspace.store.presence.peer.id);
      if (others.length > 0) {
        await workspace.close();
        throw problemError('not_allowed', `another process (pid ${others[0]!.pid}) works in this workspace`, {
          hint: 'stop it first: what it does cannot be recorded',
        });
      }
      return workspace;
    },
    finish() {
      const { pass = 0, model = 0 } = tape?.counts() ?? {};
      if (tape === undefined || pass === 0) {
        if (tape !== undefined) fs.rmSync(writing, { force: true });
        return undefined;
      }
      tape.end();
      if (writing !== cassette) {
        fs.mkdirSync(path.dirname(cassette), { recursive: true });
        fs.renameSync(writing, cassette);
      }
      return { passes: pass, calls: model, leftOut: files!.leftOut() };
    },
  };
}

/** Other commands work on tasks that other machines take too. */
function inStore(): Problem {
  return problem('bad_usage', 'where the work is in a shared store, only guild run can be recorded');
}

function untrusted(): Problem {
  return problem('needs_human', 'only a trusted workspace can be recorded', {
    hint: 'guild trust shows which parts of it can act, and asks',
  });
}

function recording(tape: Recorder, seed: string): Tape {
  return {
    consent(real) {
      const recorded = memoryConsent(keyFromSeed(seed), real?.isSigned);
      return {
        ...recorded,
        // A person answers in another process, which shows only what is sealed with the real key.
        seal(task, request) {
          const seal = real!.seal(task, request);
          tape.write({ kind: 'seal', task, digest: request.digest, seal });
          return seal;
        },
        isSealed: (task, request) => real!.isSealed(task, request),
        // A restored backup must not run an action again, even in a recording.
        begin: async (id) => (await recorded.begin(id)) && (await real!.begin(id)),
      };
    },
    async plugins(load) {
      const plugins = await load();
      tape.write({ kind: 'plugins', tools: recordedTools(plugins), problems: plugins.problems });
      return plugins;
    },
    ports(real: Ports): Ports {
      const sandboxed = real.shell.isSandboxed();
      const [confinement, withNetwork] = [real.shell.confinement(undefined), real.shell.confinement([])];
      tape.write({ kind: 'shell', sandboxed, confinement, withNetwork });
      tape.write({ kind: 'surroundings', ...real.surroundings });
      return {
        ...real,
        isSequential: true,
        model: tape.model(real.model),
        tasks: tape.tasks(real.tasks),
        intents: tape.intents(real.intents),
        shell: tape.shell(real.shell),
        tools: withPluginTools(real.tools, (tool, args, context) =>
          tape.done(askedOf(tool, args, context), async () => tool.run(args, context)),
        ),
      };
    },
    pass: (roots, run) => tape.pass(roots, run),
    stopped: () => tape.stopped(),
    watch: (ports, motor, options) => watchInPasses(tape, ports.config.rescanMs, motor, options),
  };
}

/**
 * Makes one complete pass after another: when something moved, when people changed something, and
 * at intervals.
 */
async function watchInPasses(
  tape: Recorder,
  rescanMs: number,
  motor: Engine,
  { signal, onPass }: WatchOptions,
): Promise<void> {
  const clock = realClock();
  const leave = (): void => void motor.stop();
  signal.addEventListener('abort', leave, { once: true });
  let due = 0;
  await runUntil(
    motor,
    {
      look: () => 'all',
      onEnd: () => undefined,
      onPass(report) {
        onPass?.(report);
        due = clock.monotonicMs() + rescanMs;
      },
      async wait({ moved }) {
        const isDue = (): boolean => moved || signal.aborted || tape.outside() || clock.monotonicMs() >= due;
        while (!isDue()) await clock.sleep(INTERVALS.folderCheckMs, signal);
        return true;
      },
    },
    signal,
  );
  await motor.stop();
}

function recordedTools({ tools, requiresApproval }: Plugins): KeptTool[] {
  return tools.map(({ name, description, parameters, kind, plugin = '', outside }) =>
    defined({
      name,
      description,
      parameters,
      effect: kind === 'effect',
      plugin,
      free: !requiresApproval(name),
      outside,
    }),
  );
}
