/**
 * Agent files that were written for other programs: Claude Code's `.claude/agents/*.md`, Copilot's `*.agent.md` and `*.chatmode.md`, and
 * `*.ai`. What they say is carried over as far as it means something here; the rest is a warning, never an error, since the
 * file is right in its own home. Without a word about tools such an agent may read and nothing more.
 */
import type { Fields, Path } from '../yaml/fields.js';
import { readAgentFields, type AgentDraft, type AgentFields } from './fields.js';

/** Names of tools in this program's design, whether or not this build has them. */
export const TOOL_NAMES: ReadonlySet<string> = new Set(
  [
    'read_file write_file list_directory search_files create_directory query_tasks create_task update_task execute_command',
    'send_message broadcast list_active_sessions read_session edit_session slack_send slack_read delegate_to_agent route_to',
    'vote_conclude request_help request_dependency give_back provide_dependency create_agent final_report',
  ].flatMap((line) => line.split(' ')),
);

const READ_ONLY = ['read_file', 'list_directory', 'search_files'];

/** Claude Code and Copilot. */
export function readClaude(fields: Fields): AgentDraft {
  const name = fields.text('name');
  const tools = readTools(fields, READ_ONLY);
  const refused = readTools(fields, [], 'disallowedTools');
  const turns = fields.whole('maxTurns', 1);
  const models = (fields.texts('model', 'models') ?? []).filter((model) => isModel(model, fields));
  const others = (fields.texts('agents') ?? []).filter((agent) => agent !== '*');
  const read = readAgentFields(fields);
  for (const key of ['color', 'target', 'argument-hint', 'mode', 'infer']) fields.take(key);
  warnLeft(fields);
  read.models = models;
  read.agents = others;
  read.tools = tools.filter((tool) => !refused.includes(tool));
  if (turns !== undefined) read.budget.turns ??= turns;
  return draftOf(name === undefined ? undefined : plainName(name), read);
}

/** `*.ai`: other agents are named by the path of their file. */
export function readAi(fields: Fields): AgentDraft {
  const tools = readTools(fields, []);
  const turns = fields.whole('maxTurns', 1);
  const most = fields.whole('maxOutputTokens', 1);
  const read = readAgentFields(fields, (path) => plainName(path.replace(/^.*\//, '').replace(/\.(?:ai|md)$/, '')));
  for (const key of AI_KEYS) fields.take(key);
  warnLeft(fields);
  read.tools = tools;
  if (turns !== undefined) read.budget.turns ??= turns;
  if (most !== undefined) read.settings.maxTokens ??= most;
  return draftOf(undefined, read);
}

/** Keys that mean something at home and nothing here. */
const AI_KEYS = [
  ...[
    'usage',
    'toolName',
    'input',
    'output',
    'plugins',
    'maxToolCallsPerTurn',
    'maxRetries',
    'llmTimeout',
    'toolTimeout',
    'cache',
  ],
  ...[
    'repeatPenalty',
    'toolResponseMaxBytes',
    'toolOutput',
    'reasoningTokens',
    'caching',
    'contextWindow',
    'maxConcurrentTools',
  ],
];

/** A name as people write it, as one that can be a file name. */
export function plainName(name: string): string {
  return name
    .trim()
    .toLowerCase()
    .replace(/[^a-z0-9_.-]+/g, '-')
    .replace(/^[-.]+|-+$/g, '');
}

/** What their tools are called here, in lower case. */
const THEIR_TOOLS: Record<string, string[]> = {
  ...{ read: ['read_file'], notebookread: ['read_file'], readfile: ['read_file'] },
  ...{
    write: ['write_file'],
    edit: ['write_file'],
    multiedit: ['write_file'],
    editfiles: ['write_file'],
    createfile: ['write_file'],
  },
  ...{
    bash: ['execute_command'],
    shell: ['execute_command'],
    execute: ['execute_command'],
    runcommands: ['execute_command'],
  },
  ...{ runinterminal: ['execute_command'], powershell: ['execute_command'] },
  ...{
    grep: ['search_files'],
    search: ['search_files'],
    codebase: ['search_files'],
    usages: ['search_files'],
    textsearch: ['search_files'],
  },
  ...{
    glob: ['list_directory', 'search_files'],
    ls: ['list_directory', 'search_files'],
    filesearch: ['list_directory', 'search_files'],
  },
  ...{
    listdir: ['list_directory'],
    task: ['delegate_to_agent'],
    agent: ['delegate_to_agent'],
    runsubagent: ['delegate_to_agent'],
  },
  '*': [...READ_ONLY, 'write_file', 'execute_command', 'delegate_to_agent'],
};

function readTools(fields: Fields, otherwise: string[], key = 'tools'): string[] {
  const found = fields.take(key);
  if (found === undefined) return otherwise;
  const list = typeof found.value === 'string' ? splitTools(found.value) : (fields.textsOf(found) ?? []);
  return [...new Set(list.flatMap((tool, i) => ourTool(tool, fields, [...found.path, i])))];
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

function ourTool(tool: string, fields: Fields, path: Path): string[] {
  if (TOOL_NAMES.has(tool)) return [tool];
  const name = tool.replace(/\(.*$/, '').trim();
  const plain = name.replace(/^.*\//, '').toLowerCase();
  const ours = Object.hasOwn(THEIR_TOOLS, plain) ? THEIR_TOOLS[plain] : undefined;
  if (ours === undefined) {
    fields.warn('unknown_tool', `the tool "${tool}" has no counterpart here and is left out`, path);
    return [];
  }
  if (name !== tool && ours.includes('execute_command')) {
    fields.warn('bad_field', `"${tool}" becomes execute_command; which commands may run is the policy's to say`, path);
  }
  return ours;
}

function isModel(model: string, fields: Fields): boolean {
  if (model === 'inherit' || model === 'default' || model === '') return false;
  if (!/\s/.test(model)) return true;
  fields.warn('unknown_model', `"${model}" is a name for people, not of a model; the workspace's default is used`, [
    ...fields.path,
    'model',
  ]);
  return false;
}

function warnLeft(fields: Fields): void {
  for (const key of fields.left())
    fields.warn('unknown_key', `the key "${key}" means nothing here and is ignored`, [...fields.path, key]);
}

function draftOf(name: string | undefined, fields: AgentFields): AgentDraft {
  return name === undefined ? { fields } : { name, fields };
}
