/**
 * One agent out of one file, whatever the format: our Markdown with frontmatter, `*.agent.yaml`, Claude Code's and Copilot's
 * Markdown, `*.ai`. All problems of a file are found at once; an agent comes out only if there are none.
 */
import type { Agent, AgentFormat } from '../../domain/agent/agent.js';
import { isSafeId } from '../../domain/task/id.js';
import { problem, type Problem, type Where } from '../../domain/problem.js';
import { ENGINE, HUMAN } from '../../domain/task/task.js';
import { readAgentFields, type AgentDraft } from './fields.js';
import { plainName, readAi, readClaude } from './foreign.js';
import { agentPlaces } from './places.js';
import { readAgentYaml } from './agent-yaml.js';
import { splitFrontmatter } from './frontmatter.js';
import { loadLines } from './loose-yaml.js';
import { fillTemplate, splitPrompts } from './prompt.js';
import { whereAt } from '../lines/where.js';
import { YamlPlaces, loadYaml, wholeFile, type YamlSource } from '../yaml/parse.js';
import { Fields, inOrder, isMapping, type Report } from '../yaml/fields.js';

interface AgentFile {
  /** Path relative to the workspace. */
  file: string;
  /** Default: what the file's name says. */
  format?: AgentFormat;
  /** sha256 of the file's bytes. */
  definition: string;
}

interface AgentParsed {
  agent?: Agent;
  problems: Problem[];
  warnings: Problem[];
  /** Where things stand that other checks may complain about: `name`, `tools.0`, `team.members.1`, `handoff`, … */
  places: Record<string, Where>;
}

export function parseAgent(text: string, given: AgentFile): AgentParsed {
  const format = formatOf(given);
  const head = headOf(text, given.file, format);
  const places = new YamlPlaces(head.source);
  const report: Report = { places, problems: head.problems, warnings: [] };
  const value = head.problems.length > 0 ? undefined : loadHead(head.source, format, report);
  if (value === undefined) return { problems: report.problems, warnings: report.warnings, places: {} };

  const draft = READERS[format](new Fields(value, [], report));
  // a file for another program is right in its own home
  if (format === 'claude') report.warnings.push(...report.problems.splice(0));
  const prompts = format === 'agent-yaml' ? { system: draft.system ?? '' } : splitPrompts(text.slice(head.body));
  const user = draft.user ?? ('user' in prompts ? prompts.user : undefined);
  const agent: Agent = {
    name: draft.name ?? nameFromFile(given.file, format),
    ...draft.fields,
    systemPrompt: prompts.system,
    ...(user === undefined ? {} : { userPromptTemplate: user }),
    format,
    file: given.file,
    definition: given.definition,
  };
  checkName(agent.name, report, given.file);
  if (agent.systemPrompt === '') {
    report.warnings.push(
      problem('bad_field', 'this agent has no prompt', { where: whereAt(given.file, text, head.body) }),
    );
  }
  warnUnseen(text, given.file, report);
  const rest = {
    problems: inOrder(report.problems),
    warnings: once(report.warnings),
    places: agentPlaces(agent, places),
  };
  return report.problems.length > 0 ? rest : { agent, ...rest };
}

/** The system prompt with its blanks filled in. */
export function renderPrompt(
  agent: Agent,
  given: { toolDescriptions: string; variables: Record<string, string> },
): string {
  const tools = given.toolDescriptions.trim() === '' ? 'No tools currently available.' : given.toolDescriptions;
  return fillTemplate(agent.systemPrompt, { ...agent.variables, ...given.variables, tool_descriptions: tools });
}

const READERS: Record<AgentFormat, (fields: Fields) => AgentDraft> = {
  markdown: readMarkdown,
  'agent-yaml': readAgentYaml,
  claude: readClaude,
  ai: readAi,
};

function readMarkdown(fields: Fields): AgentDraft {
  const name = fields.text('name');
  const read = readAgentFields(fields);
  fields.noMore();
  return name === undefined ? { fields: read } : { name, fields: read };
}

function formatOf(given: AgentFile): AgentFormat {
  if (/\.(?:agent|chatmode)\.md$/.test(given.file)) return 'claude';
  if (given.format !== undefined) return given.format;
  if (/\.agent\.ya?ml$/.test(given.file)) return 'agent-yaml';
  if (given.file.endsWith('.ai')) return 'ai';
  return /(?:^|\/)\.(?:claude|github)\//.test(given.file) ? 'claude' : 'markdown';
}

interface Head {
  source: YamlSource;
  body: number;
  problems: Problem[];
}

function headOf(text: string, file: string, format: AgentFormat): Head {
  if (format === 'agent-yaml') return { source: wholeFile(file, text), body: text.length, problems: [] };
  const split = splitFrontmatter(text);
  if (split.kind === 'found')
    return { source: { file, text, start: split.start, end: split.end }, body: split.body, problems: [] };
  if (split.kind === 'none') return { source: { file, text, start: 0, end: 0 }, body: split.body, problems: [] };
  const open = problem('bad_file', 'the frontmatter that begins here is never closed', {
    where: whereAt(file, text, split.at),
    hint: 'add a line "---" between the frontmatter and the prompt',
  });
  return { source: { file, text, start: 0, end: 0 }, body: text.length, problems: [open] };
}

/** Undefined if there is nothing to go on with. */
function loadHead(source: YamlSource, format: AgentFormat, report: Report): Record<string, unknown> | undefined {
  const yaml = loadYaml(source);
  if (!yaml.ok) {
    const lines = format === 'claude' ? loadLines(source) : undefined;
    (lines ? report.warnings : report.problems).push(yaml.problem);
    return lines;
  }
  if (yaml.value === null) return {};
  if (isMapping(yaml.value)) return yaml.value;
  const where = report.places.value([]);
  report.problems.push(
    problem('bad_field', 'an agent is described by a mapping: lines such as "description: …"', { where }),
  );
  return undefined;
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

function checkName(name: string, report: Report, file: string): void {
  const where = report.places.key(['name']);
  const at = where.line === undefined ? { file } : where;
  if (!isSafeId(name) || name.length > 60) {
    const hint = 'use letters, digits, "_", "-" and ".", no dot or dash first, at most 60 in all';
    report.problems.push(
      problem('bad_name', `${JSON.stringify(name)} cannot be the name of an agent`, { where: at, hint }),
    );
  } else if (name === HUMAN || name === ENGINE) {
    const who = name === HUMAN ? 'the person' : 'the program itself';
    report.problems.push(
      problem('bad_name', `"${name}" is ${who}, not an agent`, { where: at, hint: 'give the agent another name' }),
    );
  }
}

function once(problems: Problem[]): Problem[] {
  return inOrder([
    ...new Map(problems.map((one) => [`${one.where?.line}:${one.where?.column} ${one.message}`, one])).values(),
  ]);
}

/** Characters that a person does not see and a model reads. Joiners are left alone: scripts and emoji need them. */
// oxlint-disable-next-line no-control-regex
const UNSEEN =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\u{e0000}-\u{e007f}]/gu;

function warnUnseen(text: string, file: string, report: Report): void {
  const found = [...text.matchAll(UNSEEN)].filter((match) => match.index > 0);
  const first = found[0];
  if (first === undefined) return;
  const code = first[0].codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0');
  const many = found.length === 1 ? 'a character' : `${found.length} characters`;
  report.warnings.push(
    problem('bad_field', `the file holds ${many} that cannot be seen, the first is U+${code}`, {
      where: whereAt(file, text, first.index),
      hint: 'remove what you did not put there: a model reads it all the same',
    }),
  );
}
