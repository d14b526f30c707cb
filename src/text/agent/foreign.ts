/**
 * Agent files that were written for other programs: `.claude/agents/*.md` of Claude Code,
 * `*.agent.md` and `*.chatmode.md` of Copilot, and `*.ai`. A key without a meaning here is a
 * warning, because the file is valid for its own program. An agent that names no tools may only
 * read.
 */
import { problem, type Problem, type ProblemCode } from '../../domain/problem.js';
import { count } from '../../schemas/amounts.js';
import { agentAi, agentClaude } from '../../schemas/agent-files.js';
import type { Path, Places } from '../schema/fault.js';
import { readValue } from '../schema/read.js';
import { textList, textOf } from '../schema/values.js';
import { draftOf, type DraftRead } from './draft.js';
import { agentFields } from './fields.js';
import { READ_ONLY_TOOLS, TOOL_NAMES, ourToolsFor } from './tool-names.js';

/** Claude Code and Copilot. */
export function readClaude(value: Record<string, unknown>, places: Places): DraftRead {
  const { value: file, problems, ignored, where } = readValue(agentClaude, value, places);
  // a warning, because the file is valid for its own program
  const warnings = [...problems, ...ignored];
  if (file === undefined) return { problems: [], warnings };
  const warn: Warn = (code, message, path) => void warnings.push(problem(code, message, { where: where(path) }));
  const fields = agentFields(file);
  const refused = toTools(file.disallowedTools ?? [], 'disallowedTools', warn);
  fields.models = fields.models.filter((model) => isModel(model, warn));
  fields.agents = fields.agents.filter((agent) => agent !== '*');
  // Only a file without `tools` gets the default; unreadable tools grant nothing.
  const tools = (value['tools'] ?? null) === null ? READ_ONLY_TOOLS : toTools(file.tools ?? [], 'tools', warn);
  fields.tools = tools.filter((tool) => !refused.includes(tool));
  limitTurns(fields.budget, file.maxTurns);
  const name = textOf(file.name);
  return { draft: draftOf(name === undefined ? undefined : plainName(name), fields), problems: [], warnings };
}

/** `*.ai`: other agents are named by the path of their file. */
export function readAi(value: unknown, places: Places): DraftRead {
  const { value: file, problems, ignored, where } = readValue(agentAi, value, places);
  const warnings: Problem[] = [...ignored];
  if (file === undefined) return { problems, warnings };
  const warn: Warn = (code, message, path) => void warnings.push(problem(code, message, { where: where(path) }));
  const fields = agentFields(file, (path) => plainName(path.replace(/^.*\//, '').replace(/\.(?:ai|md)$/, '')));
  fields.tools = toTools(file.tools ?? [], 'tools', warn);
  limitTurns(fields.budget, file.maxTurns);
  const maxTokens = count(file.maxOutputTokens);
  if (maxTokens !== undefined) fields.settings.maxTokens ??= maxTokens;
  return { draft: draftOf(undefined, fields), problems, warnings };
}

/** Turns a name as people write it into a valid file name. */
export function plainName(name: string): string {
  return name
    .trim()
    .toLowerCase()
    .replace(/[^a-z0-9_.-]+/g, '-')
    .replace(/^[-.]+|-+$/g, '');
}

type Warn = (code: ProblemCode, message: string, path: Path) => void;

function limitTurns(budget: { turns?: number }, maxTurns: string | number | undefined): void {
  const turns = count(maxTurns);
  if (turns !== undefined) budget.turns ??= turns;
}

function toTools(written: string | readonly (string | number)[], key: string, warn: Warn): string[] {
  const list = typeof written === 'string' ? splitTools(written) : textList(written)!;
  return [...new Set(list.flatMap((tool, i) => ourTools(tool, [key, i], warn)))];
}

/** At commas outside parentheses: `Read, Bash(git log:*, git diff:*)` is two. */
function splitTools(text: string): string[] {
  const tools: string[] = [];
  for (const part of text.split(',')) {
    const last = tools.at(-1);
    if (last !== undefined && last.includes('(') && !last.includes(')')) tools[tools.length - 1] = `${last},${part}`;
    else tools.push(part);
  }
  return tools.map((tool) => tool.trim()).filter((tool) => tool !== '');
}

function ourTools(tool: string, path: Path, warn: Warn): string[] {
  if (TOOL_NAMES.has(tool)) return [tool];
  const name = tool.replace(/\(.*$/, '').trim();
  const ours = ourToolsFor(name);
  if (ours === undefined) {
    warn('unknown_tool', `the tool "${tool}" has no counterpart here and is left out`, path);
    return [];
  }
  if (name !== tool && ours.includes('execute_command'))
    warn('bad_field', `"${tool}" becomes execute_command; the policy decides which commands may run`, path);
  return ours;
}

function isModel(model: string, warn: Warn): boolean {
  if (model === 'inherit' || model === 'default' || model === '') return false;
  if (!/\s/.test(model)) return true;
  warn('unknown_model', `"${model}" is not the name of a model; the default of the workspace is used`, ['model']);
  return false;
}
