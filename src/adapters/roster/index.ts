/**
 * The agents of a workspace, read from every place and format they may be written in. A file that does not parse harms
 * only itself: while a person edits it, its last good version stays in force.
 */
import { INTERVALS } from '../../domain/intervals.js';
import { createHash, randomBytes } from 'node:crypto';
import path from 'node:path';
import type { Agent, AgentFormat } from '../../domain/agent/agent.js';
import { problem, type Problem, type Where } from '../../domain/problem.js';
import type { Agents } from '../../ports/agents.js';
import type { Disk } from '../../ports/disk.js';
import { checkRoster, cyclesAmong, unfit } from '../../rules/scheduling/roster.js';
import { parseAgent, renderPrompt } from '../../text/agent/parse.js';
import { KNOWN_TOOLS } from '../../tools/toolbox.js';

interface Known {
  stamp: string;
  text: string;
  /** The last version that parsed. */
  agent?: Agent;
  places: Record<string, Where>;
  problems: Problem[];
  warnings: Problem[];
}

export interface Roster extends Agents {
  /** Everything that is wrong now, reported before or not. */
  check(): { problems: Problem[]; warnings: Problem[]; files: number };
}

/** Where agents are written: a folder, which names in it count, and the format they have. */
const PLACES: { folder: string; ends: string; format?: AgentFormat }[] = [
  { folder: 'agents', ends: '.agent.yaml', format: 'agent-yaml' },
  { folder: 'agents', ends: '.agent.yml', format: 'agent-yaml' },
  { folder: 'templates', ends: '.agent.yaml', format: 'agent-yaml' },
  { folder: 'templates', ends: '.agent.yml', format: 'agent-yaml' },
  { folder: 'agents', ends: '.ai', format: 'ai' },
  { folder: '.', ends: '.ai', format: 'ai' },
  { folder: 'agents', ends: '.md', format: 'markdown' },
  { folder: '.claude/agents', ends: '.md', format: 'claude' },
];

const FOLDERS = [...new Set(PLACES.map(({ folder }) => folder))];

/** With so many agents, an edit of one that leaves its name alone is noticed within this time and not at once: a pass must not cost a look at each. */
const MANY = 1000;

const MAX_AGENT_BYTES = 1024 * 1024;

/** `model`: what every agent uses, whatever its file says. `foreign`: files of Claude Code's kind, wherever they lie. `pluginTools`: names of tools beside our own. */
export function roster(
  disk: Disk,
  root: string,
  model?: string,
  foreign: readonly string[] = [],
  pluginTools: readonly string[] = [],
): Roster {
  const isForeign = new Set(foreign);
  const known = new Map<string, Known>();
  const reported = new Set<string>();
  let agents = new Map<string, Agent>();
  let unreadable: ReadonlyMap<string, Problem> = new Map();
  let faults = new Map<string, Problem>();
  let all: { problems: Problem[]; warnings: Problem[] } = { problems: [], warnings: [] };
  let folderStamps = '';
  /** Changed here since the last look. */
  let touched = false;
  let placeStamps = '';
  let lookedAt = -Infinity;

  return {
    refresh(isKnown = false) {
      if ((isKnown && !touched) || !look()) return [];
      touched = false;
      combine();
      const fresh = all.problems.filter((one) => !reported.has(keyOf(one)));
      for (const one of fresh) reported.add(keyOf(one));
      return fresh;
    },
    all: () => agents,
    unreadable: () => unreadable,
    fault: (name) => faults.get(name),
    source: (agent) => known.get(agent.file)?.text ?? '',
    parse: (source, file) => parse(source, file, format(file)).agent,
    problemsOf(name, source) {
      const file = `agents/${name}.md`;
      const { agent, problems, places } = parse(source, file, 'markdown');
      if (agent === undefined) return problems.length > 0 ? problems : [problem('bad_file', 'it defines no agent')];
      if (agents.has(name) || agent.name !== name)
        return [problem('duplicate', `there is an agent ${agent.name} already, or the file names another one`)];
      const tools = new Set([...KNOWN_TOOLS, ...pluginTools]);
      const found = checkRoster([...agents.values(), agent], tools, new Map([[file, places]]));
      return [...problems, ...found.filter((one) => one.where?.file === file)];
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
      if (agent === undefined) return problems[0] ?? problem('bad_file', `${file} defines no agent`);
      if (agents.has(name) || agent.name !== name)
        return problem('duplicate', `there is an agent ${agent.name} already, or the file names another one`);
      const full = path.join(root, file);
      // Under a name of its own: of two who make the same agent one is told, and neither takes away what the other writes.
      const tmp = path.join(root, '.guild', 'tmp', `agent-${randomBytes(6).toString('hex')}`);
      await disk.createSynced(tmp, source);
      const created = disk.link(tmp, full);
      disk.remove(tmp);
      await disk.syncFolder(path.join(root, 'agents'));
      touched = true;
      return created ? undefined : problem('duplicate', `${file} exists already`);
    },
    prompt: (agent, toolDescriptions, variables) => renderPrompt(agent, { toolDescriptions, variables }),
    check() {
      look();
      combine();
      return { ...all, files: known.size };
    },
  };

  function format(file: string): AgentFormat | undefined {
    return isForeign.has(file) ? 'claude' : formatOf(file);
  }

  /** True if any file is new, changed or gone. Only stamps are read while nothing is; of very many files not at every pass. */
  function look(): boolean {
    const folders = known.size > MANY ? FOLDERS.map((folder) => disk.stamp(path.join(root, folder))).join() : '';
    const now = performance.now();
    if (folders !== '' && folders === placeStamps && now - lookedAt < INTERVALS.rosterCheckMs) return false;
    placeStamps = folders;
    lookedAt = now;
    const files = find();
    const stamps = files.map((file) => `${file} ${disk.stamp(path.join(root, file))}`).join('\n');
    if (stamps === folderStamps) return false;
    folderStamps = stamps;
    const there = new Set(files);
    for (const file of known.keys()) if (!there.has(file)) known.delete(file);
    for (const file of files) load(file);
    return true;
  }

  function find(): string[] {
    const files = new Set<string>(foreign);
    const names = new Map(FOLDERS.map((folder) => [folder, disk.list(path.join(root, folder))]));
    for (const { folder, ends } of PLACES) {
      for (const name of names.get(folder)!) {
        if (name.endsWith(ends) && !name.startsWith('.') && name !== 'README.md')
          files.add(path.posix.join(folder, name));
      }
    }
    for (const name of names.get('agents')!) {
      const file = `agents/${name}/agent.md`;
      if (
        !name.includes('.') &&
        name !== 'live' &&
        name !== 'retired' &&
        disk.stamp(path.join(root, file)) !== undefined
      )
        files.add(file);
    }
    return [...files].sort();
  }

  function load(file: string): void {
    const before = known.get(file);
    if (before !== undefined && before.stamp === disk.stamp(path.join(root, file))) return;
    const read = disk.read(path.join(root, file), MAX_AGENT_BYTES);
    // Editors replace files: one that was listed a moment ago may be gone.
    if (read.kind === 'missing') return void known.delete(file);
    if (read.kind !== 'file') {
      const what = read.kind === 'not_a_file' ? `a ${read.what}` : 'too big';
      const wrong: Problem = {
        code: 'bad_file',
        message: `${file} is ${what}, so it defines no agent`,
        where: { file },
      };
      known.set(file, { stamp: '', text: '', places: {}, problems: [wrong], warnings: [] });
      return;
    }
    const text = read.bytes.toString('utf8');
    const { agent, problems, warnings, places } = parse(text, file, format(file));
    const good = agent ?? before?.agent;
    known.set(file, {
      stamp: read.stamp,
      text: agent ? text : (before?.text ?? text),
      places,
      problems,
      warnings,
      ...(good ? { agent: good } : {}),
    });
  }

  function combine(): void {
    const entries = [...known.values()];
    const found = entries.flatMap((one) => one.agent ?? []);
    const places = new Map(entries.flatMap((one) => (one.agent ? [[one.agent.file, one.places] as const] : [])));
    const roster = checkRoster(found, new Set([...KNOWN_TOOLS, ...pluginTools]), places);
    all = {
      problems: [...entries.flatMap((one) => one.problems), ...roster],
      warnings: entries.flatMap((one) => one.warnings),
    };
    unreadable = new Map(
      [...known].flatMap(([file, { agent, problems }]) => (agent || !problems[0] ? [] : [[nameIn(file), problems[0]]])),
    );
    agents = new Map();
    for (const agent of found) {
      if (!agents.has(agent.name)) agents.set(agent.name, model === undefined ? agent : withModel(agent, model));
    }
    const round = cyclesAmong(agents).map((names) => [names, roundAndRound(names)] as const);
    faults = unfit(agents, places);
    for (const [names, wrong] of round) for (const name of names) faults.set(name, wrong);
  }
}

function roundAndRound(names: readonly string[]): Problem {
  return problem('cycle', `these agents form a cycle: ${[...names, names[0]].join(' → ')}`, {
    hint: 'remove one of these steps, then retry the task; guild check shows where it stands',
  });
}

/** For everything it is asked, not only for its own work. */
function withModel(agent: Agent, model: string): Agent {
  const { evaluator, metacognition } = agent;
  return {
    ...agent,
    models: [model],
    ...(evaluator ? { evaluator: { ...evaluator, model } } : {}),
    ...(metacognition ? { metacognition: { ...metacognition, model } } : {}),
  };
}

function parse(text: string, file: string, format: AgentFormat | undefined): ReturnType<typeof parseAgent> {
  const definition = createHash('sha256').update(text).digest('hex');
  return parseAgent(text, { file, definition, ...(format ? { format } : {}) });
}

/** The name that a file gives an agent when nothing in it can be read. */
function nameIn(file: string): string {
  const { base, dir } = path.posix.parse(file);
  return base === 'agent.md' ? path.posix.basename(dir) : base.split('.')[0]!;
}

function formatOf(file: string): AgentFormat | undefined {
  const folder = path.posix.dirname(file);
  return PLACES.find((place) => place.folder === folder && file.endsWith(place.ends))?.format;
}

function keyOf(one: Problem): string {
  return `${one.where?.file}:${one.where?.line}:${one.message}`;
}
