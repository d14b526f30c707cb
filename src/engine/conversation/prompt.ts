/** Builds the input of a model call: system prompt, tools, first message, and valid messages. */
import { roleFacts } from '../../domain/task/role.js';
import { grantedNames } from '../core/grants.js';
import type { Agent } from '../../domain/agent/agent.js';
import type { Message } from '../../domain/session/session.js';
import type { Placed, Task } from '../../domain/task/task.js';
import type { ToolSpec } from '../../ports/model.js';
import { CHECK_PROMPT } from '../../rules/patterns/check.js';
import { fence } from '../../rules/patterns/gather.js';
import { bidPrompt } from '../../rules/staffing/offer.js';
import { isBuilt, toolDescriptions } from '../../tools/toolbox.js';
import { hasRequiredCall } from './required-call.js';
import type { EngineContext } from '../core/context.js';

export function grantedTools(context: EngineContext, agent: Agent, task: Task): ToolSpec[] {
  return [...new Set(grantedNames(agent, task, context.config.channels))].flatMap((name) => {
    const tool = context.tools.get(name);
    if (tool === undefined || !(isBuilt(name) || tool.plugin !== undefined)) return [];
    return name === 'route_to' ? withChoices(tool, agent.router?.destinations ?? []) : tool;
  });
}

/** Lists the choices in the schema, so that the model cannot name another agent. */
function withChoices(tool: ToolSpec, choices: string[]): ToolSpec {
  const { properties = {} } = tool.parameters;
  const agent = { ...properties['agent']!, enum: choices };
  return { ...tool, parameters: { ...tool.parameters, properties: { ...properties, agent } } };
}

export function systemPrompt(context: EngineContext, agent: Agent, task: Task): string {
  const variables: Record<string, string> = { ...agent.variables };
  for (const [key, value] of Object.entries(task.context)) if (typeof value === 'string') variables[key] = value;
  return context.agents.prompt(
    withRolePrompt(agent, task),
    toolDescriptions(grantedTools(context, agent, task)),
    variables,
  );
}

/** Everything that is sent before the messages, to estimate its size. */
export function promptHead(context: EngineContext, agent: Agent, task: Task): string {
  return systemPrompt(context, agent, task) + JSON.stringify(grantedTools(context, agent, task));
}

/** Checks and bids have their own system prompt. */
function withRolePrompt(agent: Agent, { role }: Task): Agent {
  switch (roleFacts(role).prompt) {
    case 'check':
      return { ...agent, systemPrompt: agent.metacognition?.prompt ?? CHECK_PROMPT };
    case 'bid':
      return { ...agent, systemPrompt: agent.evaluator?.prompt ?? bidPrompt(agent) };
    case undefined:
      return agent;
  }
}

/** The request, the goal it serves, the asker's context, and results of its dependencies. */
export function firstMessage(
  context: EngineContext,
  agent: Agent,
  task: Task,
  results: readonly string[] = [],
): Message {
  const { original_goal: goal, draft: _, ...rest } = task.context;
  const sections: string[] = [];
  // A required call has everything in its description and does not use the agent's template.
  const isSelfContained = hasRequiredCall(task);
  const request =
    agent.userPromptTemplate === undefined || isSelfContained ? task.description : fill(agent.userPromptTemplate, task);
  // A stage of a pattern usually quotes the goal in its request.
  if (goal !== undefined && task.parent !== undefined && !isSelfContained && !request.includes(goal))
    sections.push(`Goal it serves: ${goal}`);
  if (Object.keys(rest).length > 0) sections.push(`Context:\n${JSON.stringify(rest, null, 2)}`);
  return {
    role: 'user',
    content: [request, ...sections, ...results].join('\n\n'),
    ...(task.from ? { from: task.from } : {}),
    timestamp: context.clock.now().toISOString(),
  };
}

/** Results of the task's dependencies. The work stage of a pattern gets those of its parent. */
export async function resultsBefore(context: EngineContext, task: Task): Promise<string[]> {
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
async function askerOf(context: EngineContext, id: string): Promise<Placed | undefined> {
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
export function withMissingResults(messages: readonly Message[]): readonly Message[] {
  let isComplete = true;
  const out: Message[] = [];
  for (let i = 0; i < messages.length; i++) {
    const message = messages[i]!;
    if (message.role === 'tool') {
      isComplete = false; // a result without its call is skipped
      continue;
    }
    out.push(message);
    if (message.role !== 'assistant' || !message.toolCalls?.length) continue;
    const open = new Map(message.toolCalls.map((call) => [call.id, call]));
    while (messages[i + 1]?.role === 'tool') {
      const result = messages[++i]!;
      if (result.toolCallId !== undefined && open.delete(result.toolCallId)) out.push(result);
      else isComplete = false;
    }
    for (const call of open.values()) {
      isComplete = false;
      out.push({
        role: 'tool',
        name: call.name,
        toolCallId: call.id,
        content: 'No result was recorded.',
        isError: true,
      });
    }
  }
  return isComplete ? messages : out;
}
