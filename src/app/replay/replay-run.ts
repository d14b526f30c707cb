/**
 * Replays a cassette in a new folder: the same files and steps, no model and no network. Then
 * compares every file with the recording. Agents may be replaced before the start: the replay then
 * answers unchanged requests and shows the first one that differs.
 */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { clock as realClock } from '../../adapters/clock/index.js';
import { disk as realDisk } from '../../adapters/disk/index.js';
import { replay, type Replay } from '../../adapters/models/replay/index.js';
import { manualClock, orderedDisk, seededIds } from '../../adapters/deterministic/index.js';
import { fileTree, putFiles } from '../../adapters/file-tree/index.js';
import type { Env } from '../../domain/config/env.js';
import { defined } from '../../domain/defined.js';
import type { CassetteEntry, Difference, FileState } from '../../domain/session/cassette.js';
import { nearestHint } from '../../domain/nearest.js';
import { ProblemError, problemError } from '../../domain/problem.js';
import type { Watchers } from '../../engine/core/context.js';
import type { JsonSchema } from '../../ports/model.js';
import type { Surroundings } from '../../rules/prompts/orientation.js';
import { parseCassette, type Cassette } from '../../text/records/cassette.js';
import { keyFromSeed, memoryConsent } from '../../adapters/consent/index.js';
import { openWorkspace } from '../open-workspace.js';
import type { Plugins } from '../../adapters/plugins/index.js';
import { whyLeftOut, type Tape } from '../readers/tape.js';
import { askedOf, withPluginTools } from './taped-tools.js';
import type { Consent } from '../../ports/consent/index.js';

export interface ReplayOptions {
  /** The folder; must be empty or missing. Default: a temporary folder. */
  dir?: string;
  /** Files that replace those on the cassette: path in the workspace → path of the new one. */
  with?: ReadonlyMap<string, string>;
  /** A workspace whose `agents/` replaces the agents on the cassette. */
  agentsFrom?: string;
  /** Continues with the real models and commands at the first difference. */
  live?: boolean;
  env?: Env;
  watchers?: Watchers;
}

export interface Replayed {
  /** The folder of the replay. The caller removes it. */
  root: string;
  /** Absent: everything is the same, byte for byte. */
  difference?: Difference;
  /** The replay continued with the real models and commands. */
  live: boolean;
  calls: { replayed: number; live: number };
  files: number;
}

export async function replayRun(file: string, options: ReplayOptions = {}): Promise<Replayed> {
  const cassette = read(file);
  const root = emptyFolder(options.dir);
  try {
    writeFiles(root, cassette, options);
    return await playIn(root, cassette, options);
  } catch (thrown) {
    if (options.dir === undefined) fs.rmSync(root, { recursive: true, force: true, maxRetries: 5 });
    throw thrown;
  }
}

async function playIn(root: string, { head, entries, end }: Cassette, options: ReplayOptions): Promise<Replayed> {
  const real = realClock();
  const clock = manualClock(head.at, (ms, signal) =>
    played.isLive() ? real.sleep(ms, signal) : new Promise((resolve) => setImmediate(resolve)),
  );
  const ids = seededIds(head.seed);
  const goesLive = options.live === true;
  const put = (changes: readonly FileState[]): void => putFiles(root, changes);
  const played = replay({ entries, clock, ids, put, goesLive, now: Date.now });
  const workspace = await openWorkspace(root, {
    clock,
    ids,
    disk: orderedDisk(realDisk(), { durable: false }),
    env: goesLive ? (options.env ?? process.env) : Object.fromEntries(head.variables.map((name) => [name, 'replayed'])),
    modelName: head.model,
    watchers: options.watchers,
    tape: replaying(played, entries, head.seed),
  });
  try {
    const { engine, store } = workspace;
    await played.play({ store, pump: (roots) => engine.pump(roots), stop: () => engine.stop() });
    if (played.isLive()) await workspace.pumpUntilQuiet();
  } finally {
    await workspace.close();
  }
  const replaced = new Set([...(options.with?.keys() ?? [])]);
  const isReplaced = (name: string): boolean =>
    replaced.has(name) || (options.agentsFrom !== undefined && isAgent(name));
  const difference = played.difference() ?? firstDifferentFile(root, end.files, isReplaced);
  return defined({
    root,
    difference,
    live: played.isLive(),
    calls: played.calls(),
    files: Object.keys(end.files).filter(isCompared).length,
  });
}

function read(file: string): Cassette {
  let text: string;
  try {
    text = fs.readFileSync(file, 'utf8');
  } catch (thrown) {
    const { code, message } = thrown as NodeJS.ErrnoException;
    const reason = code === 'ENOENT' ? `there is no cassette ${file}` : `${file} cannot be read: ${message}`;
    throw problemError(code === 'ENOENT' ? 'not_found' : 'bad_file', reason);
  }
  const cassette = parseCassette(text, file);
  if ('code' in cassette) throw new ProblemError(cassette);
  return cassette;
}

function emptyFolder(dir: string | undefined): string {
  if (dir === undefined) return fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'guild-replay-')));
  const folder = path.resolve(dir);
  if (fs.existsSync(folder) && fs.readdirSync(folder).length > 0)
    throw problemError('bad_usage', `${dir} is not empty`, { hint: 'name a folder that does not exist yet' });
  fs.mkdirSync(folder, { recursive: true });
  return fs.realpathSync(folder);
}

function writeFiles(root: string, { entries }: Cassette, options: ReplayOptions): void {
  fs.mkdirSync(path.join(root, '.guild'), { mode: 0o700 });
  const states = entries.flatMap((entry) => (entry.kind === 'file' ? [entry] : []));
  putFiles(root, options.agentsFrom === undefined ? states : states.filter(({ file }) => !isAgent(file)));
  if (options.agentsFrom !== undefined) {
    const from = path.join(options.agentsFrom, 'agents');
    if (!fs.existsSync(from)) throw problemError('not_found', `there is no folder agents in ${options.agentsFrom}`);
    fs.cpSync(from, path.join(root, 'agents'), { recursive: true, filter: (one) => path.basename(one) !== 'live' });
  }
  for (const [file, source] of options.with ?? []) {
    if (!states.some((state) => state.file === file)) {
      const known = states.map((state) => state.file);
      const hint = nearestHint(file, known, `it contains ${known.find(isAgent) ?? known[0]}, for example`);
      throw problemError('not_found', `there is no ${file} on the cassette`, { hint });
    }
    if (!fs.existsSync(source)) throw problemError('not_found', `there is no file ${source}`);
    putFiles(root, [{ file, text: fs.readFileSync(source, 'utf8') }]);
  }
}

function isAgent(file: string): boolean {
  return file.startsWith('agents/');
}

function firstDifferentFile(
  root: string,
  recorded: Record<string, string>,
  isReplaced: (file: string) => boolean,
): Difference | undefined {
  const look = fileTree({ root, secret: whyLeftOut });
  look.look();
  const now = look.digests();
  for (const file of [...new Set([...Object.keys(recorded), ...Object.keys(now)])].sort()) {
    if (recorded[file] === now[file] || isReplaced(file) || !isCompared(file)) continue;
    const how =
      now[file] === undefined
        ? 'was recorded and is missing now'
        : recorded[file] === undefined
          ? 'exists and was not recorded'
          : 'differs from the recording';
    return { message: `${file} ${how}`, what: file };
  }
  return undefined;
}

/**
 * Of `.guild/` only effects and intents are compared; the rest are caches that depend on the
 * machine.
 */
function isCompared(file: string): boolean {
  return !file.startsWith('.guild/') || file.startsWith('.guild/run/') || file.startsWith('.guild/intents/');
}

function replaying(played: Replay, entries: readonly CassetteEntry[], seed: string): Tape {
  return {
    plugins: async () => recordedPlugins(entries),
    consent() {
      // A recorded answer counts without a signature. Once the replay is live, only its own key
      // counts.
      const own = memoryConsent(keyFromSeed(seed), () => !played.isLive());
      const seal: Consent['seal'] = (task, request) =>
        recordedSeal(entries, task, request.digest) ?? own.seal(task, request);
      return { ...own, seal };
    },
    replayed: { restricted: () => (played.isLive() ? LIVE : undefined) },
    ports: (real) => ({
      ...real,
      surroundings: recordedSurroundings(entries) ?? real.surroundings,
      isSequential: true,
      model: played.model(real.model),
      shell: played.shell(real.shell),
      tools: withPluginTools(real.tools, (tool, args, context) =>
        played.done(askedOf(tool, args, context), async () => tool.run(args, context)),
      ),
    }),
    pass: (_roots, run) => run(),
    stopped: () => undefined,
  };
}

const LIVE = 'a replay that continues live is not trusted, so nothing runs without approval';

function recordedSurroundings(entries: readonly CassetteEntry[]): Surroundings | undefined {
  const recorded = entries.find((entry) => entry.kind === 'surroundings');
  if (recorded?.kind !== 'surroundings') return undefined;
  const { timeZone, system, workspace } = recorded;
  return { timeZone, system, workspace };
}

function recordedSeal(entries: readonly CassetteEntry[], task: string, digest: string): string | undefined {
  const made = entries.find((entry) => entry.kind === 'seal' && entry.task === task && entry.digest === digest);
  return made?.kind === 'seal' ? made.seal : undefined;
}

/** The recorded names and parameters of plugin tools; their code is not loaded. */
function recordedPlugins(entries: readonly CassetteEntry[]): Plugins {
  const kept = entries.find((entry) => entry.kind === 'plugins');
  const { tools, problems } = kept?.kind === 'plugins' ? kept : { tools: [], problems: [] };
  const free = new Set(tools.filter((tool) => tool.free).map(({ name }) => name));
  return {
    tools: tools.map(({ name, description, parameters, effect, plugin, outside }) => ({
      name,
      description,
      parameters: parameters as JsonSchema,
      kind: effect ? 'effect' : 'pure',
      plugin,
      outside,
      run: () => ({ kind: 'problem', code: 'tool_failed', message: `${name} is not available in a replay` }),
    })),
    requiresApproval: (tool) => tools.some(({ name }) => name === tool) && !free.has(tool),
    problems,
    notify: async () => undefined,
    start: async () => undefined,
    close: async () => undefined,
  };
}
