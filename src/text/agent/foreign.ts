/**
 * Agent files that were written for other programs: Claude Code, Copilot (`*.agent.md`,
 * `*.chatmode.md`), opencode, Gemini CLI, and `*.ai`. A key without a meaning here is a warning,
 * because the file is valid for its own program.
 */
import type { ModelSettings } from '../../domain/agent/agent.js';
import { problem, type Problem, type ProblemCode } from '../../domain/problem.js';
import { count } from '../../schemas/amounts.js';
import { agentAi, agentClaude } from '../../schemas/agent-files.js';
import { isMapping } from '../../domain/mapping.js';
import type { Path, Places } from '../schema/fault.js';
import { readValue } from '../schema/read.js';
import { textList, textOf } from '../schema/values.js';
import { draftOf, type DraftRead } from './draft.js';
import { agentFields, type AgentFields } from './fields.js';
import { INHERITED_TOOLS, ourToolsFor } from './tool-names.js';

/** Claude Code, Copilot, opencode and Gemini CLI. */
export function readClaude(value: Record<string, unknown>, places: Places): DraftRead {
  const { value: file, problems, ignored, where } = readValue(agentClaude, value, places);
  if (file === undefined) return { problems, warnings: ignored };
  // warnings, because the file is valid for its own program
  const warnings = [...problems, ...ignored];
  const warn: Warn = (code, message, path) => void warnings.push(problem(code, message, { where: where(path) }));
  const { tools, ...keys } = file;
  const fields = agentFields(keys);
  fields.models = fields.models.flatMap((model) => modelName(model, warn));
  fields.agents = fields.agents.filter((agent) => agent !== '*');
  const refused = toTools(file.disallowedTools ?? [], 'disallowedTools', warn);
  // Only a file without `tools` gets the default; unreadable tools grant nothing.
  const granted = (value['tools'] ?? null) === null ? inheritedWithout(refused) : grantedTools(tools ?? [], warn);
  fields.tools = granted.filter((tool) => !refused.includes(tool));
  restrict(fields, file.permission);
  if (textOf(file.permissionMode) === 'plan') fields.planApproval = true;
  const reasoning = EFFORTS[textOf(file.effort) ?? ''];
  if (reasoning !== undefined) fields.settings.reasoning ??= reasoning;
  limitTurns(fields.budget, file.maxTurns);
  const name = textOf(file.name);
  return { draft: draftOf(name === undefined ? undefined : plainName(name), fields), problems: [], warnings };
}

const EFFORTS: Record<string, ModelSettings['reasoning']> = {
  low: 'low',
  medium: 'medium',
  high: 'high',
  xhigh: 'high',
  max: 'high',
};

/** Other programs have no separate tool for folders: an agent that may not write gets none. */
function inheritedWithout(refused: readonly string[]): string[] {
  const isReader = refused.includes('write_file');
  return INHERITED_TOOLS.filter((tool) => !refused.includes(tool) && !(isReader && tool === 'create_directory'));
}

/** opencode writes a mapping: every tool is on unless it, or `*`, is switched off. */
function grantedTools(tools: string | readonly (string | number)[] | Record<string, boolean>, warn: Warn): string[] {
  if (!isMapping(tools)) return toTools(tools, 'tools', warn);
  const switches = Object.entries(tools);
  const named = (isOn: boolean): string[] =>
    switches.flatMap(([name, on]) => (on === isOn && name !== '*' ? (ourToolsFor(name) ?? []) : []));
  const off = named(false);
  const base = tools['*'] === false ? [] : inheritedWithout(off);
  return [...new Set([...base, ...named(true)])].filter((tool) => !off.includes(tool));
}

/** opencode's `permission`. A mapping of patterns counts as its strictest entry. */
function restrict(fields: AgentFields, permission: unknown): void {
  if (!isMapping(permission)) return;
  for (const [name, written] of Object.entries(permission)) {
    const words: unknown[] = isMapping(written) ? Object.values(written) : [written];
    const ours = name === '*' ? [] : (ourToolsFor(name) ?? []);
    // Patterns may still allow a part, so a mapping never takes the tool away.
    if (words.includes('deny') && !isMapping(written))
      fields.tools = fields.tools.filter((tool) => !ours.includes(tool));
    else if (words.includes('deny') || words.includes('ask')) for (const tool of ours) fields.approve[tool] = 'ask';
  }
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
    .replace(/\+\+/g, 'pp')
    .replaceAll('#', 'sharp')
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

/** Splits at commas outside parentheses: `Read, Bash(git log:*, git diff:*)` has two items. */
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

/** Case does not matter, and `[1m]` only asks for a larger context. No name: the default. */
function modelName(written: string, warn: Warn): string[] {
  const model = written.replace(/\[1m\]$/i, '').trim();
  if (/^(?:inherit|default|auto)?$/i.test(model)) return [];
  if (!/\s/.test(model)) return [model.toLowerCase()];
  warn('unknown_model', `"${model}" is not the name of a model; the default of the workspace is used`, ['model']);
  return [];
}
