/** What a model is shown: the system prompt of the agent as the conversation knows it, the messages, and the tools it may call. */
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
import { owesCall } from './required-call.js';
import type { EngineContext } from '../core/context.js';

export function grantedTools(context: EngineContext, agent: Agent, task: Task): ToolSpec[] {
  return [...new Set(grantedNames(agent, task, context.config.channels))].flatMap((name) => {
    const tool = context.tools.get(name);
    if (tool === undefined || !(isBuilt(name) || tool.plugin !== undefined)) return [];
    return name === 'route_to' ? withChoices(tool, agent.router?.destinations ?? []) : tool;
  });
}

/** The names to choose from are part of the question, so that a model cannot choose wrongly without noticing. */
function withChoices(tool: ToolSpec, choices: string[]): ToolSpec {
  const { properties = {} } = tool.parameters;
  const agent = { ...properties['agent']!, enum: choices };
  return { ...tool, parameters: { ...tool.parameters, properties: { ...properties, agent } } };
}

export function systemPrompt(context: EngineContext, agent: Agent, task: Task): string {
  const variables: Record<string, string> = { ...agent.variables };
  for (const [key, value] of Object.entries(task.context)) if (typeof value === 'string') variables[key] = value;
  return context.agents.prompt(
    speakingAs(agent, task),
    toolDescriptions(grantedTools(context, agent, task)),
    variables,
  );
}

/** Everything that is sent before the messages, for estimates of its size. */
export function promptHead(context: EngineContext, agent: Agent, task: Task): string {
  return systemPrompt(context, agent, task) + JSON.stringify(grantedTools(context, agent, task));
}

/** Who judges or weighs has a prompt of its own. */
function speakingAs(agent: Agent, { role }: Task): Agent {
  switch (roleFacts(role).prompt) {
    case 'check':
      return { ...agent, systemPrompt: agent.metacognition?.prompt ?? CHECK_PROMPT };
    case 'bid':
      return { ...agent, systemPrompt: agent.evaluator?.prompt ?? bidPrompt(agent) };
    case undefined:
      return agent;
  }
}

/** The first message: the request, what else the asker said about it, and what came of the tasks it waited for. */
export function firstMessage(
  context: EngineContext,
  agent: Agent,
  task: Task,
  before: readonly string[] = [],
): Message {
  const { original_goal: goal, draft: _, ...rest } = task.context;
  const said: string[] = [];
  // What judges or weighs is told all in its description, and not in the words of the agent's own work.
  const isAside = owesCall(task);
  if (goal !== undefined && goal !== task.description && task.parent !== undefined && !isAside)
    said.push(`This serves the goal: ${goal}`);
  if (Object.keys(rest).length > 0) said.push(`Context:\n${JSON.stringify(rest, null, 2)}`);
  const request =
    agent.userPromptTemplate === undefined || isAside ? task.description : fill(agent.userPromptTemplate, task);
  return {
    role: 'user',
    content: [request, ...said, ...before].join('\n\n'),
    ...(task.from ? { from: task.from } : {}),
    timestamp: context.clock.now().toISOString(),
  };
}

/** The results of what this task depends on; its own work under a pattern builds on the same. */
export async function resultsBefore(context: EngineContext, task: Task): Promise<string[]> {
  const asker = roleFacts(task.role).isOwnWork && task.parent ? (await askerOf(context, task.parent))?.task : task;
  const found: string[] = [];
  for (const id of asker?.dependencies ?? []) {
    const placed = await context.tasks.read(id);
    const result = placed?.task.result;
    if (placed === undefined || result === undefined) continue;
    const cut = result.length > MAX_BEFORE;
    const shown = cut ? `${result.slice(0, MAX_BEFORE)}\n[… cut: ${result.length} characters in all]` : result;
    const head = `What came of ${id} (${placed.task.description.split('\n')[0]!.slice(0, 120)}):`;
    found.push(`${head}\n${fence('result', placed.task.to ?? 'nobody', shown, task.id)}`);
  }
  return found;
}

/** It waits for its work, so it is among the open ones. */
async function askerOf(context: EngineContext, id: string): Promise<Placed | undefined> {
  return context.tasks.getOpen(id) ?? context.tasks.read(id);
}

/** Characters of one result that are quoted; the rest is in its record. */
const MAX_BEFORE = 8000;

function fill(template: string, task: Task): string {
  return template.replace(/\{\{\s*(\w+)\s*\}\}/g, (_, name: string) => {
    if (name === 'task' || name === 'description' || name === 'request') return task.description;
    const value = task.context[name];
    return typeof value === 'string' ? value : '';
  });
}

/**
 * A conversation that providers accept: every tool call has a result right after it. A person may have removed one, or a
 * stopped task may have left one open; the gap is filled for the model only, the file stays as it is.
 */
export function mended(messages: readonly Message[]): readonly Message[] {
  let whole = true;
  const out: Message[] = [];
  for (let i = 0; i < messages.length; i++) {
    const message = messages[i]!;
    if (message.role === 'tool') {
      whole = false; // a result without its call: passed over
      continue;
    }
    out.push(message);
    if (message.role !== 'assistant' || !message.toolCalls?.length) continue;
    const wanted = new Map(message.toolCalls.map((call) => [call.id, call]));
    while (messages[i + 1]?.role === 'tool') {
      const result = messages[++i]!;
      if (result.toolCallId !== undefined && wanted.delete(result.toolCallId)) out.push(result);
      else whole = false;
    }
    for (const call of wanted.values()) {
      whole = false;
      out.push({
        role: 'tool',
        name: call.name,
        toolCallId: call.id,
        content: 'No result was recorded.',
        isError: true,
      });
    }
  }
  return whole ? messages : out;
}
