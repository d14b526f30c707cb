/**
 * One agent from one file, whatever the format: Markdown with frontmatter, `*.agent.yaml`, the
 * files of Claude Code and Copilot, `*.ai`. All problems of a file are reported at once. A file
 * with a problem yields no agent.
 */
import { agentNameProblem } from '../../domain/agent/name.js';
import { isForeignFormat, type Agent, type AgentFormat } from '../../domain/agent/agent.js';
import { problem, type Problem, type Where } from '../../domain/problem.js';
import { isMapping } from '../../domain/mapping.js';
import { whereAt } from '../lines/where.js';
import { inOrder, type Places } from '../schema/fault.js';
import { YamlPlaces, loadYaml, wholeFile, type YamlSource } from '../yaml/parse.js';
import { readAgentYaml, readMarkdown, type DraftRead } from './draft.js';
import { plainName, readAi, readClaude } from './foreign.js';
import { splitFrontmatter } from './frontmatter.js';
import { FOREIGN_KEYS } from '../../schemas/agent-files.js';
import { loadLines } from './loose-yaml.js';
import { agentPlaces } from './places.js';
import { fillTemplate, splitPrompts } from './prompt.js';

interface AgentFile {
  /** Path relative to the workspace. */
  file: string;
  /** Default: by the name of the file. */
  format?: AgentFormat;
  /** sha256 of the file's bytes. */
  definition: string;
}

interface AgentParsed {
  agent?: Agent;
  /** The valid part of a file with problems, to check it further. No agent works from it. */
  draft?: Agent;
  problems: Problem[];
  warnings: Problem[];
  /** Places for the checks of other modules: `name`, `tools.0`, `team.members.1`, `handoff`, … */
  places: Record<string, Where>;
}

export function parseAgent(text: string, agentFile: AgentFile): AgentParsed {
  const format = formatOf(agentFile);
  const head = headOf(text, agentFile.file, format);
  if (head.problem !== undefined) return { problems: [head.problem], warnings: [], places: {} };
  const places = new YamlPlaces(head.source);
  const loaded = loadHead(head.source, format);
  if (loaded.value === undefined) return { problems: loaded.problems, warnings: [], places: {} };
  const { draft, problems, warnings } = READERS[format](loaded.value, places);
  warnings.push(...loaded.problems);
  if (draft === undefined) return { problems, warnings: inOrder(warnings), places: {} };

  const prompts = format === 'agent-yaml' ? { system: draft.system ?? '' } : splitPrompts(text.slice(head.body));
  const user = draft.user ?? ('user' in prompts ? prompts.user : undefined);
  const agent: Agent = {
    name: draft.name ?? nameFromFile(agentFile.file, format),
    ...draft.fields,
    systemPrompt: prompts.system,
    ...(user === undefined ? {} : { userPromptTemplate: user }),
    format,
    file: agentFile.file,
    definition: agentFile.definition,
  };
  const badName = checkName(agent.name, places, agentFile.file);
  if (badName !== undefined) problems.push(badName);
  if (agent.systemPrompt === '') {
    warnings.push(
      problem('bad_field', 'this agent has no prompt', { where: whereAt(agentFile.file, text, head.body) }),
    );
  }
  const unseen = findUnseen(text, agentFile.file);
  if (unseen !== undefined) warnings.push(unseen);
  const rest = { problems: inOrder(problems), warnings: once(warnings), places: agentPlaces(agent, places) };
  return problems.length > 0 ? { draft: agent, ...rest } : { agent, ...rest };
}

/**
 * The system prompt with its variables filled in. In the file of another program `{{…}}` may mean
 * anything, so only variables that the file declares are filled.
 */
export function renderPrompt(
  agent: Agent,
  given: { toolDescriptions: string; variables: Record<string, string> },
): string {
  if (isForeignFormat(agent.format)) {
    const declared = Object.keys(agent.variables).map((name) => [
      name,
      given.variables[name] ?? agent.variables[name]!,
    ]);
    return fillTemplate(agent.systemPrompt, Object.fromEntries(declared) as Record<string, string>);
  }
  const tools = given.toolDescriptions.trim() === '' ? 'No tools currently available.' : given.toolDescriptions;
  return fillTemplate(agent.systemPrompt, { ...agent.variables, ...given.variables, tool_descriptions: tools });
}

const READERS: Record<AgentFormat, (value: Record<string, unknown>, places: Places) => DraftRead> = {
  markdown: readMarkdown,
  'agent-yaml': readAgentYaml,
  claude: readClaude,
  ai: readAi,
};

function formatOf(agentFile: AgentFile): AgentFormat {
  if (/\.(?:agent|chatmode)\.md$/.test(agentFile.file)) return 'claude';
  if (agentFile.format !== undefined) return agentFile.format;
  if (/\.agent\.ya?ml$/.test(agentFile.file)) return 'agent-yaml';
  if (agentFile.file.endsWith('.ai')) return 'ai';
  return /(?:^|\/)\.(?:claude|github|opencode|gemini|agents)\//.test(agentFile.file) ? 'claude' : 'markdown';
}

interface Head {
  source: YamlSource;
  /** Where the prompt starts. */
  body: number;
  problem?: Problem;
}

function headOf(text: string, file: string, format: AgentFormat): Head {
  if (format === 'agent-yaml') return { source: wholeFile(file, text), body: text.length };
  const split = splitFrontmatter(text);
  if (split.kind === 'found') return { source: { file, text, start: split.start, end: split.end }, body: split.body };
  const source = { file, text, start: 0, end: 0 };
  if (split.kind === 'none') return { source, body: split.body, ...late(text, file, split.body) };
  const open = problem('bad_file', 'the frontmatter that starts here is never closed', {
    where: whereAt(file, text, split.at),
    hint: 'add a line "---" between the frontmatter and the prompt',
  });
  return { source, body: text.length, problem: open };
}

/**
 * Settings after a comment or an empty line are reported, because without them the agent would have
 * different tools.
 */
function late(text: string, file: string, from: number): { problem?: Problem } {
  const before = /^(?:\s|<!--[^]*?-->)+(?=---[ \t]*\r?\n\w+:[^]*?\n---[ \t]*(?:\r?\n|$))/.exec(text.slice(from))?.[0];
  if (before === undefined || !/\n[ \t]*$/.test(before)) return {};
  return {
    problem: problem('bad_file', 'the frontmatter does not start on the first line', {
      where: whereAt(file, text, from + before.length),
      hint: 'remove everything before this line "---"',
    }),
  };
}

/** Without a value nothing can be read. With a value, the problems are only warnings. */
function loadHead(source: YamlSource, format: AgentFormat): { value?: Record<string, unknown>; problems: Problem[] } {
  const yaml = loadYaml(source);
  if (!yaml.ok) {
    const value = format === 'claude' ? loadLines(source, FOREIGN_KEYS) : undefined;
    return { problems: [value === undefined ? yaml.problem : readByLine(yaml.problem)], value };
  }
  if (yaml.value === null) return { value: {}, problems: [] };
  if (isMapping(yaml.value)) return { value: yaml.value, problems: [] };
  const message = 'an agent is described by a mapping: lines such as "description: …"';
  return { problems: [problem('bad_field', message, { where: new YamlPlaces(source).value([]) })] };
}

function readByLine({ message, where }: Problem): Problem {
  return problem('bad_file', `the frontmatter is not valid YAML (${message}), so it was read line by line`, { where });
}

/** `agents/<name>/agent.md` is named by its folder. */
function nameFromFile(file: string, format: AgentFormat): string {
  const parts = file.split('/');
  const base = parts.at(-1)!;
  const name =
    base === 'agent.md' && parts.length > 1
      ? parts.at(-2)!
      : base.replace(/(?:\.(?:agent|chatmode))?\.(?:md|ya?ml|ai)$/, '');
  return format === 'claude' || format === 'ai' ? plainName(name) : name;
}

function checkName(name: string, places: Places, file: string): Problem | undefined {
  const key = places.key(['name']);
  return agentNameProblem(name, key.line === undefined ? { file } : key);
}

function once(problems: Problem[]): Problem[] {
  return inOrder([
    ...new Map(problems.map((each) => [`${each.where?.line}:${each.where?.column} ${each.message}`, each])).values(),
  ]);
}

/** Characters that a model reads and a person does not see, except joiners: emoji need them. */
// oxlint-disable-next-line no-control-regex
const UNSEEN =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\u{e0000}-\u{e007f}]/gu;

function findUnseen(text: string, file: string): Problem | undefined {
  const matches = [...text.matchAll(UNSEEN)].filter((match) => match.index > 0);
  const first = matches[0];
  if (first === undefined) return undefined;
  const code = first[0].codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0');
  const many = matches.length === 1 ? 'a character' : `${matches.length} characters`;
  return problem('bad_field', `the file contains ${many} that cannot be seen; the first is U+${code}`, {
    where: whereAt(file, text, first.index),
    hint: 'remove those that you did not put there, because a model reads them',
  });
}
