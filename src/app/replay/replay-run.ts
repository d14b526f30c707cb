/**
 * Plays a cassette again in a folder of its own: the files as they were, the same steps, no model and no network; then compares every
 * file with what was recorded. Agents may be replaced before it begins: the replay then serves what did not change and shows the
 * first question that became another one.
 */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { clock as realClock } from '../../adapters/clock/index.js';
import { disk as realDisk } from '../../adapters/disk/index.js';
import { replay, type Replay } from '../../adapters/models/replay/index.js';
import { manualClock, orderedDisk, seededIds } from '../../adapters/deterministic/index.js';
import { fileTree, putFiles } from '../../adapters/file-tree/index.js';
import type { CassetteEntry, Difference, FileState } from '../../domain/session/cassette.js';
import { nearestHint } from '../../domain/nearest.js';
import { problem, ProblemError } from '../../domain/problem.js';
import type { Watchers } from '../../engine/core/context.js';
import type { JsonSchema } from '../../ports/model.js';
import { parseCassette, type Cassette } from '../../text/records/cassette.js';
import { openWorkspace } from '../open-workspace.js';
import type { Plugins } from '../../adapters/plugins/index.js';
import { keptOut, type Tape } from '../readers/tape.js';
import { askedOf, withPluginTools } from './taped-tools.js';

export interface ReplayOptions {
  /** Where; must be empty or missing. Default: a temporary folder. */
  dir?: string;
  /** Files to put in place of those on the cassette: path in the workspace → path of the new one. */
  with?: ReadonlyMap<string, string>;
  /** A workspace whose `agents/` replaces the one on the cassette. */
  agentsFrom?: string;
  /** At the first difference it goes on with the real models and commands. */
  live?: boolean;
  env?: Record<string, string | undefined>;
  watchers?: Watchers;
}

export interface Replayed {
  /** Where it was played. It is the caller's to remove. */
  root: string;
  /** Absent: everything is the same, byte for byte. */
  difference?: Difference;
  /** It went on with the real world. */
  live: boolean;
  calls: { replayed: number; live: number };
  /** How many files were compared. */
  files: number;
}

export async function replayRun(file: string, options: ReplayOptions = {}): Promise<Replayed> {
  const cassette = read(file);
  const root = fresh(options.dir);
  try {
    lay(root, cassette, options);
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
    ...(head.model === undefined ? {} : { modelName: head.model }),
    ...(options.watchers ? { watchers: options.watchers } : {}),
    tape: replaying(played, entries, goesLive),
  });
  try {
    const { engine, store } = workspace;
    await played.play({ store, pump: (roots) => engine.pump(roots), stop: () => engine.stop() });
    if (played.isLive()) await workspace.pumpUntilQuiet();
  } finally {
    await workspace.close();
  }
  const replaced = new Set([...(options.with?.keys() ?? [])]);
  const isOther = (one: string): boolean => replaced.has(one) || (options.agentsFrom !== undefined && isAgent(one));
  const difference = played.difference() ?? firstFile(root, end.files, isOther);
  return {
    root,
    ...(difference ? { difference } : {}),
    live: played.isLive(),
    calls: played.calls(),
    files: Object.keys(end.files).filter(isCompared).length,
  };
}

function read(file: string): Cassette {
  let text: string;
  try {
    text = fs.readFileSync(file, 'utf8');
  } catch (thrown) {
    const { code, message } = thrown as NodeJS.ErrnoException;
    const said = code === 'ENOENT' ? `there is no cassette ${file}` : `${file} cannot be read: ${message}`;
    throw new ProblemError(problem(code === 'ENOENT' ? 'not_found' : 'bad_file', said));
  }
  const cassette = parseCassette(text, file);
  if ('code' in cassette) throw new ProblemError(cassette);
  return cassette;
}

function fresh(dir: string | undefined): string {
  if (dir === undefined) return fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'guild-replay-')));
  const folder = path.resolve(dir);
  if (fs.existsSync(folder) && fs.readdirSync(folder).length > 0)
    throw new ProblemError(
      problem('bad_usage', `${dir} is not empty`, { hint: 'name a folder that does not exist yet' }),
    );
  fs.mkdirSync(folder, { recursive: true });
  return fs.realpathSync(folder);
}

function lay(root: string, { entries }: Cassette, options: ReplayOptions): void {
  fs.mkdirSync(path.join(root, '.guild'), { mode: 0o700 });
  const states = entries.flatMap((entry) => (entry.kind === 'file' ? [entry] : []));
  putFiles(root, options.agentsFrom === undefined ? states : states.filter(({ file }) => !isAgent(file)));
  if (options.agentsFrom !== undefined) {
    const from = path.join(options.agentsFrom, 'agents');
    if (!fs.existsSync(from))
      throw new ProblemError(problem('not_found', `there is no folder agents in ${options.agentsFrom}`));
    fs.cpSync(from, path.join(root, 'agents'), { recursive: true, filter: (one) => path.basename(one) !== 'live' });
  }
  for (const [file, source] of options.with ?? []) {
    if (!states.some((state) => state.file === file)) {
      const known = states.map((state) => state.file);
      const hint = nearestHint(file, known, `it holds for example ${known.find(isAgent) ?? known[0]}`);
      throw new ProblemError(problem('not_found', `there is no ${file} on the cassette`, { hint }));
    }
    if (!fs.existsSync(source)) throw new ProblemError(problem('not_found', `there is no file ${source}`));
    putFiles(root, [{ file, text: fs.readFileSync(source, 'utf8') }]);
  }
}

function isAgent(file: string): boolean {
  return file.startsWith('agents/');
}

function firstFile(
  root: string,
  recorded: Record<string, string>,
  isOther: (file: string) => boolean,
): Difference | undefined {
  const look = fileTree({ root, secret: keptOut });
  look.look();
  const now = look.digests();
  for (const file of [...new Set([...Object.keys(recorded), ...Object.keys(now)])].sort()) {
    if (recorded[file] === now[file] || isOther(file) || !isCompared(file)) continue;
    const how =
      now[file] === undefined
        ? 'was recorded and is not there now'
        : recorded[file] === undefined
          ? 'is there and was not recorded'
          : 'has other bytes than were recorded';
    return { message: `${file} ${how}`, what: file };
  }
  return undefined;
}

/** Of what is private, begun and done effects and intents; the rest is caches that know the very files of one machine. */
function isCompared(file: string): boolean {
  return !file.startsWith('.guild/') || file.startsWith('.guild/run/') || file.startsWith('.guild/intents/');
}

function replaying(played: Replay, entries: readonly CassetteEntry[], goesLive: boolean): Tape {
  return {
    plugins: async (load) => (goesLive ? load() : keptPlugins(entries)),
    ports: (real) => ({
      ...real,
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

/** What the tools of plugins were called and took; their code is not loaded. */
function keptPlugins(entries: readonly CassetteEntry[]): Plugins {
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
      ...(outside === undefined ? {} : { outside }),
      run: () => ({ kind: 'problem', code: 'tool_failed', message: `${name} is not there in a replay` }),
    })),
    requiresApproval: (tool) => tools.some(({ name }) => name === tool) && !free.has(tool),
    problems,
    start: async () => undefined,
    close: async () => undefined,
  };
}
