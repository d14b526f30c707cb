/** Gives a piece of work to another agent. The child's answer becomes this call's result; several calls of one turn run in parallel. */
import { childId } from '../../domain/task/id.js';
import { nearest } from '../core/nearest.js';
import type { Tool, ToolContext, ToolReply } from '../core/tool.js';

export const delegateToAgent: Tool = {
  name: 'delegate_to_agent',
  kind: 'ask',
  description:
    'Gives a task to another agent and waits for its answer. Say everything it needs to know: it does not see this conversation. Calls in one turn run in parallel.',
  parameters: {
    type: 'object',
    properties: {
      agent: { type: 'string', description: 'Name of the agent' },
      task: { type: 'string', description: 'What it shall do, complete in itself' },
      context: { type: 'string', description: 'Facts, constraints and earlier results it needs' },
      variables: {
        type: 'object',
        description: "Texts for the names in that agent's prompt, where it has any",
        additionalProperties: true,
      },
      timeout_seconds: { type: 'number', minimum: 1, description: 'How long it may take; then it has failed' },
    },
    required: ['agent', 'task'],
    additionalProperties: false,
  },
  run(args, context) {
    const to = args['agent'] as string;
    const choices = choicesOf(context);
    if (!choices.includes(to)) return badChoice(to, choices, context);
    const task = (args['task'] as string).trim();
    if (task === '')
      return { kind: 'problem', code: 'bad_field', message: 'task is empty; say what the agent shall do' };
    const more = (args['context'] as string | undefined)?.trim();
    const variables = (args['variables'] ?? {}) as Record<string, unknown>;
    const wrong = badVariable(variables, context.agents.get(to)!.variables ?? {});
    if (wrong !== undefined) return { kind: 'problem', code: 'bad_field', message: wrong };
    const seconds = args['timeout_seconds'] as number | undefined;
    return {
      kind: 'ask',
      child: {
        id: childId(context.task.id, `call-${context.callId}`),
        role: 'call',
        to,
        description: task,
        ...(more || args['variables'] ? { context: { ...variables, ...(more ? { context: more } : {}) } } : {}),
        ...(seconds === undefined ? {} : { budget: { timeMs: Math.round(seconds * 1000) } }),
      },
    };
  },
};

/** An agent that names no others may ask any; never itself, which would wait for its own answer. */
function choicesOf({ agent, agents }: ToolContext): string[] {
  const named = agent.agents.length > 0 ? agent.agents : [...agents.keys()];
  return named.filter((name) => name !== agent.name && agents.has(name));
}

/** Only names that the agent's file declares: nothing else of its task is the caller's to set. */
function badVariable(given: Record<string, unknown>, declared: Record<string, string>): string | undefined {
  for (const [name, value] of Object.entries(given)) {
    if (typeof value !== 'string') return `variables.${name} must be a text`;
    if (Object.hasOwn(declared, name) && !OURS.has(name)) continue;
    return `that agent has no variable ${name}; it has ${Object.keys(declared).join(', ') || 'none'}`;
  }
  return undefined;
}

const OURS = new Set(['original_goal', 'taint', 'request', 'context']);

function badChoice(to: string, choices: string[], { agent, agents }: ToolContext): ToolReply {
  const list =
    choices.length === 0
      ? 'there is no other agent to ask; do it yourself'
      : `choose one of ${choices.map((name) => described(name, agents)).join('; ')}`;
  if (to === agent.name)
    return { kind: 'problem', code: 'not_allowed', message: `you cannot delegate to yourself; ${list}` };
  if (agents.has(to))
    return { kind: 'problem', code: 'not_allowed', message: `you may not delegate to ${to}; ${list}` };
  const near = nearest(to, choices, 1)[0];
  const meant = near === undefined ? '' : `, did you mean ${near}?`;
  return {
    kind: 'problem',
    code: 'unknown_agent',
    message: `there is no agent ${JSON.stringify(to)}${meant}; ${list}`,
  };
}

function described(name: string, agents: ToolContext['agents']): string {
  const about = agents.get(name)?.description;
  return about ? `${name} (${about.split('\n')[0]!.slice(0, 120)})` : name;
}
