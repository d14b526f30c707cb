/** What a model is shown: the system prompt of the agent as the conversation knows it, the messages, and the tools it may call. */
import type { Agent } from '../domain/agent.js';
import type { Message } from '../domain/session.js';
import type { Task } from '../domain/task.js';
import type { ToolSpec } from '../ports/model.js';
import { isBuilt, toolDescriptions } from '../tools/toolbox.js';
import type { Parts } from './parts.js';

export function grantedTools(parts: Parts, agent: Agent): ToolSpec[] {
  return agent.tools.flatMap((name) =>
    isBuilt(name) || parts.tools.get(name)?.plugin !== undefined ? (parts.tools.get(name) ?? []) : [],
  );
}

export function systemPrompt(parts: Parts, agent: Agent, task: Task): string {
  const variables: Record<string, string> = { ...agent.variables };
  for (const [key, value] of Object.entries(task.context)) if (typeof value === 'string') variables[key] = value;
  return parts.agents.prompt(agent, toolDescriptions(grantedTools(parts, agent)), variables);
}

/** The first message: the request, and what else the asker said about it. */
export function firstMessage(parts: Parts, agent: Agent, task: Task): Message {
  const { original_goal: goal, ...rest } = task.context;
  const said: string[] = [];
  if (goal !== undefined && goal !== task.description && task.parent !== undefined)
    said.push(`This serves the goal: ${goal}`);
  if (Object.keys(rest).length > 0) said.push(`Context:\n${JSON.stringify(rest, null, 2)}`);
  const request = agent.userPromptTemplate === undefined ? task.description : fill(agent.userPromptTemplate, task);
  return {
    role: 'user',
    content: [request, ...said].join('\n\n'),
    ...(task.from ? { from: task.from } : {}),
    timestamp: parts.clock.now().toISOString(),
  };
}

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
