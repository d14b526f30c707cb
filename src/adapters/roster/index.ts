/**
 * The agents of a workspace, read from every supported place and format. A file that does not parse
 * affects only itself: its last valid version stays in use while a person edits it.
 */
import { defined } from '../../domain/defined.js';
import { INTERVALS } from '../../domain/intervals.js';
import { createHash, randomBytes } from 'node:crypto';
import path from 'node:path';
import { isForeignFormat, type Agent, type AgentFormat } from '../../domain/agent/agent.js';
import { fenced, isUnreadable } from '../../domain/fence.js';
import { problem, type Problem, type Where } from '../../domain/problem.js';
import { inodeOf, writtenAt } from '../../domain/stamp.js';
import type { Agents } from '../../ports/agents.js';
import type { Disk } from '../../ports/disk.js';
import { checkRoster, cyclesAmong, unfit, withPluginTools } from '../../rules/scheduling/roster.js';
import { parseAgent, renderPrompt } from '../../text/agent/parse.js';
import { decodeUtf8, notUtf8 } from '../../text/lines/utf8.js';
import { KNOWN_TOOLS } from '../../tools/toolbox.js';
import { AGENT_FOLDERS, agentFiles, byPrecedence, formatOf, isOtherPage } from './agent-files.js';

interface LoadedFile {
  stamp: string;
  text: string;
  /** The last version that parsed. */
  agent?: Agent;
  /** The valid part of a version that did not parse. */
  draft?: Agent;
  places: Record<string, Where>;
  problems: Problem[];
  warnings: Problem[];
}

interface RosterCheck {
  problems: Problem[];
  warnings: Problem[];
  files: number;
  /** Files that do not define an agent, and the valid part of those that have one. */
  lost: ReadonlySet<string>;
  drafts: Agent[];
}

export interface Roster extends Agents {
  /** All current problems, also those that were reported before. */
  check(): RosterCheck;
}

/**
 * With more agents than this, edits are noticed after `rosterCheckMs` and not at every pass, which
 * would have to stat each file.
 */
const MANY_AGENTS = 1000;

const MAX_AGENT_BYTES = 1024 * 1024;

/**
 * `model`: every agent uses it, whatever its file says. `foreign`: files of Claude Code's kind, in
 * any folder. `pluginTools`: names of tools besides our own.
 */
export function roster(
  disk: Disk,
  root: string,
  model?: string,
  foreign: readonly string[] = [],
  pluginTools: () => readonly string[] = () => [],
): Roster {
  const isForeign = new Set(foreign);
  const loaded = new Map<string, LoadedFile>();
  const reported = new Set<string>();
  let agents = new Map<string, Agent>();
  let unreadable: ReadonlyMap<string, Problem> = new Map();
  let faults = new Map<string, Problem>();
  let all: { problems: Problem[]; warnings: Problem[] } = { problems: [], warnings: [] };
  let folderStamps = '';
  /** The files found last time; kept until a place where they were looked for changes. */
  let found: { places: Map<string, string | undefined>; files: string[] } | undefined;
  let heldFolders: Problem[] = [];
  /** This process changed agent files since the last check. */
  let touched = false;
  let placeStamps = '';
  /** From the second look on, a new or changed file may be half saved. */
  let hasLooked = false;
  /** Files that this process wrote itself, which are never half saved. */
  const created = new Set<string>();
  let lookedAt = -Infinity;
  /** The plugin tools at the last look. */
  let equippedWith = '';

  return {
    refresh(isKnown = false) {
      const offered = pluginTools().join();
      const isEquipped = offered === equippedWith;
      equippedWith = offered;
      const isChanged = !(isKnown && !touched) && look();
      if (!isChanged && isEquipped) return [];
      touched = false;
      combine();
      const fresh = all.problems.filter((each) => !reported.has(keyOf(each)));
      for (const each of fresh) reported.add(keyOf(each));
      return fresh;
    },
    all: () => agents,
    unreadable: () => unreadable,
    fault: (name) => faults.get(name),
    source: (agent) => loaded.get(agent.file)?.text ?? '',
    parse(source, file) {
      const { agent } = parse(source, file, format(file));
      return agent && withPluginTools(agent, pluginTools());
    },
    problemsOf(name, source) {
      const file = `agents/${name}.md`;
      const { agent, problems, places } = parse(source, file, 'markdown');
      if (agent === undefined)
        return problems.length > 0 ? problems : [problem('bad_file', 'it does not define an agent')];
      if (agents.has(name) || agent.name !== name)
        return [problem('duplicate', `an agent ${agent.name} already exists, or the name in the file differs`)];
      const found = checkRoster([...agents.values(), agent], KNOWN_TOOLS, new Map([[file, places]]), pluginTools());
      return [...problems, ...found.filter(({ where }) => where?.file === file)];
    },
    retire(name) {
      const file = agents.get(name)?.file;
      if (file !== `agents/${name}.md`) return false;
      disk.makeFolder(path.join(root, 'agents', 'retired'));
      touched = true;
      return disk.rename(path.join(root, file), path.join(root, 'agents', 'retired', `${name}.md`));
    },
    async create(name, source) {
      const file = `agents/${name}.md`;
      const { agent, problems } = parse(source, file, 'markdown');
      if (agent === undefined) return problems[0] ?? problem('bad_file', `${file} does not define an agent`);
      if (agents.has(name) || agent.name !== name)
        return problem('duplicate', `an agent ${agent.name} already exists, or the name in the file differs`);
      const full = path.join(root, file);
      // A unique temporary name: of two processes that create the same agent one gets a problem,
      // and neither disturbs the other.
      const tmp = path.join(root, '.guild', 'tmp', `agent-${randomBytes(6).toString('hex')}`);
      await disk.createSynced(tmp, source);
      const isCreated = disk.link(tmp, full);
      if (isCreated) created.add(file);
      disk.remove(tmp);
      await disk.syncFolder(path.join(root, 'agents'));
      touched = true;
      return isCreated ? undefined : problem('duplicate', `${file} already exists`);
    },
    prompt: (agent, toolDescriptions, variables) => renderPrompt(agent, { toolDescriptions, variables }),
    check() {
      look();
      combine();
      const lost = [...loaded].flatMap(([file, { agent }]) => (agent === undefined ? [file] : []));
      return { ...all, files: loaded.size, lost: new Set(lost), drafts: draftsIn(loaded.values()) };
    },
  };

  function format(file: string): AgentFormat | undefined {
    return isForeign.has(file) ? 'claude' : formatOf(file);
  }

  /**
   * True if any file is new, changed or gone. Reads only stamps; with very many files not at every
   * pass.
   */
  function look(): boolean {
    const folders = loaded.size > MANY_AGENTS ? AGENT_FOLDERS.map(stampOf).join() : '';
    const now = performance.now();
    if (folders !== '' && folders === placeStamps && now - lookedAt < INTERVALS.rosterCheckMs) return false;
    placeStamps = folders;
    lookedAt = now;
    const files = find();
    const stamps = [
      ...files.map((file) => `${file} ${stampOf(file)}`),
      ...heldFolders.map(({ message }) => message),
    ].join('\n');
    if (stamps === folderStamps) return false;
    folderStamps = stamps;
    const present = new Set(files);
    for (const file of loaded.keys()) if (!present.has(file)) loaded.delete(file);
    for (const file of files) load(file);
    hasLooked = true;
    return true;
  }

  function find(): string[] {
    if (found !== undefined && [...found.places].every(([place, stamp]) => stampOf(place) === stamp))
      return found.files;
    heldFolders = [];
    const places = new Map<string, string | undefined>();
    const look = (place: string): string | undefined => {
      places.set(place, stampOf(place));
      return places.get(place);
    };
    const list = (folder: string): string[] => {
      look(folder);
      return listFolder(folder);
    };
    const files = [...new Set([...agentFiles(list, (file) => look(file) !== undefined), ...foreign])];
    const isSettled = heldFolders.length === 0 && [...places.values()].every((stamp) => !isYoung(stamp));
    found = isSettled ? { places, files } : undefined;
    return files;
  }

  /** If a folder cannot be listed, its files are those that were found last. */
  function listFolder(folder: string): string[] {
    const names = fenced(folder, () => disk.list(path.join(root, folder)));
    if (!isUnreadable(names)) return names;
    heldFolders.push(names.problem);
    const known = [...loaded.keys()].filter((file) => file.startsWith(`${folder}/`));
    return known.map((file) => file.slice(folder.length + 1).split('/', 1)[0]!);
  }

  /** An unreadable file is `unknown`, so that it is loaded and its problem reported. */
  function stampOf(file: string): string | undefined {
    const stamp = fenced(file, () => disk.stamp(`${root}/${file}`));
    return isUnreadable(stamp) ? 'unknown' : stamp;
  }

  function load(file: string): void {
    const before = loaded.get(file);
    if (before !== undefined && before.stamp === stampOf(file)) return;
    const read = fenced(file, () => disk.read(path.join(root, file), MAX_AGENT_BYTES));
    // Editors replace files, so a listed file may be gone.
    if (read.kind === 'missing') return void loaded.delete(file);
    if (read.kind === 'unreadable') return hold(file, stampOf(file) ?? '', read.problem);
    if (read.kind !== 'file') {
      const what = read.kind === 'not_a_file' ? `a ${read.what}` : 'too big';
      const wrong: Problem = {
        code: 'bad_file',
        message: `${file} is ${what}, so it does not define an agent`,
        where: { file },
      };
      loaded.set(file, { stamp: '', text: '', places: {}, problems: [wrong], warnings: [] });
      return;
    }
    const text = decodeUtf8(read.bytes);
    if (typeof text !== 'string') return hold(file, read.stamp, notUtf8(file, text));
    if (isOtherPage(file, text)) return void loaded.delete(file);
    if (text.trim() === '') return hold(file, read.stamp, emptyAgent(file));
    const isReplaced = before !== undefined && inodeOf(before.stamp) !== inodeOf(read.stamp);
    if (hasLooked && !isReplaced && !created.has(file) && isBeingSaved(text, read.stamp)) {
      folderStamps = ''; // the next pass looks again
      return;
    }
    const parsed = fenced(file, () => parse(text, file, format(file)));
    if (isUnreadable(parsed)) return hold(file, read.stamp, parsed.problem);
    const { agent, draft, problems, warnings, places } = parsed;
    const good = agent ?? before?.agent;
    loaded.set(
      file,
      defined({
        stamp: read.stamp,
        text: agent ? text : (before?.text ?? text),
        places,
        problems,
        warnings,
        agent: good,
        draft,
      }),
    );
  }

  /** The last version that parsed stays in use. */
  function hold(file: string, stamp: string, why: Problem): void {
    const before = loaded.get(file) ?? { text: '', places: {}, warnings: [] };
    loaded.set(file, { ...before, stamp, problems: [why] });
  }

  function combine(): void {
    const entries = [...loaded].sort(([a], [b]) => byPrecedence(a, b)).map(([, entry]) => entry);
    const valid = entries.flatMap(({ agent }) => agent ?? []);
    const places = new Map(
      entries.flatMap(({ agent, draft, places }) => {
        const file = (agent ?? draft)?.file;
        return file === undefined ? [] : [[file, places] as const];
      }),
    );
    const drafts = draftsIn(entries);
    const together = checkRoster(valid, KNOWN_TOOLS, places, pluginTools(), drafts);
    const isHarmless = harmless([...valid, ...drafts]);
    all = {
      problems: [
        ...heldFolders,
        ...entries.flatMap(({ problems }) => problems),
        ...together.filter((each) => !isHarmless(each)),
      ],
      warnings: [...entries.flatMap(({ warnings }) => warnings), ...together.filter(isHarmless)],
    };
    unreadable = new Map(
      [...loaded].flatMap(([file, { agent, problems }]) =>
        agent || !problems[0] ? [] : [[nameIn(file), problems[0]]],
      ),
    );
    agents = new Map();
    for (const agent of valid) {
      if (agents.has(agent.name)) continue;
      const equipped = withPluginTools(agent, pluginTools());
      agents.set(agent.name, model === undefined ? equipped : withModel(equipped, model));
    }
    const cycles = cyclesAmong(agents).map((names) => [names, cycleProblem(names)] as const);
    faults = unfit(agents, places);
    for (const [names, cycle] of cycles) for (const name of names) faults.set(name, cycle);
  }
}

/** While the last valid version of a file is in use, that version is checked. */
function draftsIn(entries: Iterable<LoadedFile>): Agent[] {
  return [...entries].flatMap(({ agent, draft }) => (agent === undefined && draft !== undefined ? [draft] : []));
}

/**
 * True for a missing tool of another program's agent, and for an agent that is also in the folder
 * of another program, because people keep copies there.
 */
function harmless(agents: readonly Agent[]): (problem: Problem) => boolean {
  const byFile = new Map(agents.map((agent) => [agent.file, agent]));
  const byName = new Map(agents.toReversed().map((agent) => [agent.name, agent]));
  return ({ code, where }) => {
    const agent = byFile.get(where?.file ?? '');
    if (agent === undefined || !isForeignFormat(agent.format)) return false;
    const first = byName.get(agent.name)!;
    return code === 'unknown_tool' || (code === 'duplicate' && programOf(first.file) !== programOf(agent.file));
  };
}

/** `.claude`; empty for our own folders and those of a collection. */
function programOf(file: string): string {
  return /^\.[^/]+(?=\/)/.exec(file)?.[0] ?? '';
}

function cycleProblem(names: readonly string[]): Problem {
  return problem('cycle', `these agents form a cycle: ${[...names, names[0]].join(' → ')}`, {
    hint: 'remove one of these steps, then retry the task; guild check shows where it is',
  });
}

/** Uses the model for its checks too, not only for its work. */
function withModel(agent: Agent, model: string): Agent {
  const { evaluator, metacognition } = agent;
  return {
    ...agent,
    models: [model],
    evaluator: evaluator && { ...evaluator, model },
    metacognition: metacognition && { ...metacognition, model },
  };
}

function parse(text: string, file: string, format: AgentFormat | undefined): ReturnType<typeof parseAgent> {
  const definition = createHash('sha256').update(text).digest('hex');
  return parseAgent(text, { file, definition, format });
}

function emptyAgent(file: string): Problem {
  return problem('bad_file', `${file} is empty, so it does not define an agent`, {
    where: { file },
    hint: 'write its prompt, or delete the file',
  });
}

/** An editor that writes in place leaves no newline at the end until it has finished. */
function isBeingSaved(text: string, stamp: string): boolean {
  return !text.endsWith('\n') && Date.now() - Number(writtenAt(stamp) / 1_000_000n) < SAVING_MS;
}

const SAVING_MS = 2000;

/** A folder that changed this recently may change again without another stamp. */
function isYoung(stamp: string | undefined): boolean {
  return stamp !== undefined && (stamp === 'unknown' || Date.now() - Number(writtenAt(stamp) / 1_000_000n) < YOUNG_MS);
}

const YOUNG_MS = 100;

function nameIn(file: string): string {
  const { base, dir } = path.posix.parse(file);
  return base === 'agent.md' ? path.posix.basename(dir) : base.split('.')[0]!;
}

function keyOf({ where, message }: Problem): string {
  return `${where?.file}:${where?.line}:${message}`;
}
