/** Builds the input of a model call: system prompt, tools, first message, and valid messages. */
import { defined } from '../../domain/defined.js';
import { roleFacts } from '../../domain/task/role.js';
import { grantedNames } from '../core/grants.js';
import { projectText } from '../core/project-text.js';
import type { Agent } from '../../domain/agent/agent.js';
import type { Message } from '../../domain/session/session.js';
import type { Placed, Task } from '../../domain/task/task.js';
import type { JsonSchema, ToolSpec } from '../../ports/model.js';
import { textTokens } from '../../rules/budget/reserve.js';
import { DUPLICATES_PROMPT } from '../../rules/patterns/breakdown.js';
import { CHECK_PROMPT } from '../../rules/patterns/check.js';
import { fence } from '../../rules/patterns/gather.js';
import { bidPrompt } from '../../rules/staffing/offer.js';
import { isBuilt, toolDescriptions } from '../../tools/toolbox.js';
import { channelsRead, channelsWritten } from '../../rules/coordination/channels.js';
import { knownCapabilities, listsFor, withLists } from '../../rules/prompts/lists.js';
import { colleagueLine, orientation } from '../../rules/prompts/orientation.js';
import { requestText } from '../../rules/prompts/request.js';
import { todayText } from '../../rules/prompts/today.js';
import { hasRequiredCall, requiredTool } from './decide/required-call.js';
import type { EngineContext } from '../core/context.js';

/** The ports that prompts are built from. */
type PromptSource = Pick<EngineContext, 'agents' | 'tools' | 'config' | 'clock' | 'surroundings' | 'project'>;

/** The part of a prompt before the messages. */
export interface PromptHead {
  system: string;
  tools: ToolSpec[];
}

export function promptHead(context: PromptSource, agent: Agent, task: Pick<Task, 'role'>): PromptHead {
  const tools = grantedTools(context, agent, task);
  return { system: systemPrompt(context, agent, task, tools), tools };
}

/** An estimate of its size, computed once for all conversations that have the same head. */
export function headTokens({ folds }: { folds: Pick<EngineContext['folds'], 'headTokens'> }, head: PromptHead): number {
  const known = folds.headTokens.get(head);
  if (known !== undefined) return known;
  const tokens = textTokens(head.system + JSON.stringify(head.tools));
  folds.headTokens.set(head, tokens);
  return tokens;
}

/** In the order of the agent's file, so that the list is the same in every call. */
export function grantedTools(context: PromptSource, agent: Agent, task: Pick<Task, 'role'>): ToolSpec[] {
  const skills = visibleSkills(context);
  const channels = channelsWritten(agent.name, context.config.channels);
  const lists = listsFor(agent, context.agents.all(), { skills, channels });
  return [...new Set(grantedNames(agent, task, context.config.channels))].flatMap((name) => {
    if (!isOffered(context, name)) return [];
    const { description, parameters } = context.tools.get(name)!;
    return { name, description, parameters: withoutOwnKeys(withLists(name, parameters, lists)) };
  });
}

/** True if the tool exists and can be used for something in this workspace. */
export function isOffered(context: Pick<PromptSource, 'tools' | 'project'>, name: string): boolean {
  const tool = context.tools.get(name);
  if (tool === undefined || !(isBuilt(name) || tool.plugin !== undefined)) return false;
  return name !== 'load_skill' || visibleSkills(context).length > 0;
}

function visibleSkills({ project }: Pick<PromptSource, 'project'>): ReturnType<PromptSource['project']['skills']> {
  return project.skills().filter(({ isHidden }) => !isHidden);
}

/** `alsoObject` is ours; providers refuse keys that they do not know. */
function withoutOwnKeys(schema: JsonSchema): JsonSchema {
  const properties = Object.entries(schema.properties ?? {});
  if (properties.every(([, { alsoObject }]) => alsoObject === undefined)) return schema;
  const plain = properties.map(([name, { alsoObject: _, ...rest }]) => [name, rest] as const);
  return { ...schema, properties: Object.fromEntries(plain) };
}

function systemPrompt(
  context: PromptSource,
  agent: Agent,
  task: Pick<Task, 'role'>,
  tools: readonly ToolSpec[],
): string {
  const { surroundings, config, clock } = context;
  const all = [...context.agents.all().values()];
  const now = clock.now();
  const facts = {
    ...surroundings,
    agent,
    tools: tools.map((tool) => tool.name),
    now,
    agents: all,
    reads: channelsRead(agent.name, config.channels),
    writes: channelsWritten(agent.name, config.channels),
    requiredTool: requiredTool(task, agent),
    answersInText: roleFacts(task.role).answersInText,
  };
  const filled = context.agents.prompt(withRolePrompt(agent, task), toolDescriptions(tools), {
    date: todayText(now, surroundings.timeZone),
    name: agent.name,
    agents: all
      .filter(({ name }) => name !== agent.name)
      .map(colleagueLine)
      .join('\n'),
    capabilities: knownCapabilities(all).join(', '),
    workspace: surroundings.workspace,
    ...declared(agent),
  });
  const project = projectText(context, agent, task);
  return [filled, project, orientation(facts)].filter((text) => text.trim() !== '').join('\n\n');
}

/** A task's own values are in its first message: the system prompt is the same for every task. */
function declared({ variables }: Agent): Record<string, string> {
  return Object.fromEntries(
    Object.entries(variables).map(([name, value]) => [
      name,
      value.trim() === '' ? `(${name}: given with the task)` : value,
    ]),
  );
}

/** The instructions of ordinary work would contradict these questions. */
function withRolePrompt(agent: Agent, { role }: Pick<Task, 'role'>): Agent {
  switch (roleFacts(role).prompt) {
    case 'check':
      return { ...agent, systemPrompt: agent.metacognition?.prompt ?? CHECK_PROMPT };
    case 'bid':
      return { ...agent, systemPrompt: agent.evaluator?.prompt ?? bidPrompt(agent) };
    case 'same':
      return { ...agent, systemPrompt: DUPLICATES_PROMPT };
    case undefined:
      return agent;
  }
}

/** `earlier`: messages of other tasks in the same conversation; none of them is repeated. */
export function firstMessage(
  context: Pick<EngineContext, 'clock'>,
  agent: Agent,
  task: Task,
  { results = [], earlier = [] }: { results?: readonly string[]; earlier?: readonly Message[] } = {},
): Message {
  // A task with a required call has everything in its description, so the agent's template is not
  // used.
  const isSelfContained = hasRequiredCall(task);
  const request =
    agent.userPromptTemplate === undefined || isSelfContained ? task.description : fill(agent.userPromptTemplate, task);
  const content = isSelfContained
    ? request
    : requestText({
        task,
        request,
        variables: Object.keys(agent.variables),
        said: (text) => earlier.some((message) => message.content.includes(text)),
        results,
      });
  return defined({
    role: 'user',
    content,
    from: task.from,
    timestamp: context.clock.now().toISOString(),
  });
}

/** Results of the task's dependencies. The work stage of a pattern gets those of its parent. */
export async function resultsBefore(context: Pick<EngineContext, 'tasks'>, task: Task): Promise<string[]> {
  const asker = roleFacts(task.role).isOwnWork && task.parent ? (await askerOf(context, task.parent))?.task : task;
  const results: string[] = [];
  for (const id of asker?.dependencies ?? []) {
    const placed = await context.tasks.read(id);
    const result = placed?.task.result;
    if (placed === undefined || result === undefined) continue;
    const isCut = result.length > MAX_RESULT;
    const shown = isCut ? `${result.slice(0, MAX_RESULT)}\n[… cut: ${result.length} characters in all]` : result;
    const head = `Result of ${id} (${placed.task.description.split('\n')[0]!.slice(0, 120)}):`;
    results.push(`${head}\n${fence('result', placed.task.to ?? 'nobody', shown, task.id)}`);
  }
  return results;
}

/** The asker waits for its work, so it is usually among the open tasks. */
async function askerOf(context: Pick<EngineContext, 'tasks'>, id: string): Promise<Placed | undefined> {
  return context.tasks.getOpen(id) ?? context.tasks.read(id);
}

/** Characters of one result that are quoted; the rest is in its record. */
const MAX_RESULT = 8000;

function fill(template: string, task: Task): string {
  return template.replace(/\{\{\s*(\w+)\s*\}\}/g, (_, name: string) => {
    if (name === 'task' || name === 'description' || name === 'request') return task.description;
    const value = task.context[name];
    return typeof value === 'string' ? value : '';
  });
}

/**
 * Gives every tool call a result right after it, as providers require. A person may have removed
 * one, or a stopped task left a call open. Only the model sees the change; the file stays as it is.
 */
export function withMissingResults(messages: readonly Message[]): Message[] {
  const out: Message[] = [];
  for (let i = 0; i < messages.length; i++) {
    const message = messages[i]!;
    // A result without its call is skipped.
    if (message.role === 'tool') continue;
    out.push(message);
    if (message.role !== 'assistant' || !message.toolCalls?.length) continue;
    const open = new Map(message.toolCalls.map((call) => [call.id, call]));
    while (messages[i + 1]?.role === 'tool') {
      const result = messages[++i]!;
      if (result.toolCallId !== undefined && open.delete(result.toolCallId)) out.push(result);
    }
    for (const call of open.values())
      out.push({
        role: 'tool',
        name: call.name,
        toolCallId: call.id,
        content: 'No result was recorded.',
        isError: true,
      });
  }
  return out;
}
