/** Gives work to another agent and returns its answer. Calls of one turn run in parallel. */
import { PROGRAM_KEYS } from '../../domain/task/task.js';
import { childId } from '../../domain/task/id.js';
import { defineTool, mapping, number, oneOf, optional, text, textOrMapping, toolProblem } from '../core/define-tool.js';
import type { ToolContext, ToolReply } from '../core/tool.js';
import { unknownAgent } from '../core/unknown-agent.js';

/** The kinds of work that callers distinguish. */
const TASK_TYPES = ['planning', 'code_review', 'research', 'testing', 'general'] as const;

export const delegateToAgent = defineTool({
  name: 'delegate_to_agent',
  kind: 'ask',
  description:
    'Gives a task to another agent and waits for its answer. Say everything it needs to know: it does not see this conversation. Calls in one turn run in parallel.',
  args: {
    agent: text('Name of the agent'),
    task: text('What to do, self-contained'),
    context: optional(textOrMapping('Facts, constraints and earlier results it needs')),
    task_type: optional(oneOf(TASK_TYPES, 'The kind of work; general if left out')),
    variables: optional(mapping("Texts for the variables in that agent's prompt, if it has any")),
    timeout_seconds: optional(number('How long it may take; after that it counts as failed', { minimum: 1 })),
  },
  run(args, context) {
    const { agent: to, variables = {}, timeout_seconds: seconds } = args;
    const choices = choicesOf(context);
    if (!choices.includes(to)) return badChoice(to, choices, context);
    const description = args.task.trim();
    if (description === '') return toolProblem('bad_field', 'task is empty; say what the agent has to do');
    const wrong = badVariable(variables, context.agents.get(to)!.variables ?? {});
    if (wrong !== undefined) return toolProblem('bad_field', wrong);
    const facts = factsIn(args.context);
    const id = childId(context.task.id, `call-${context.callId}`);
    return {
      kind: 'ask',
      child: {
        id,
        role: 'call',
        to,
        description,
        type: args.task_type ?? 'general',
        context: { ...facts, ...variables },
        budget: seconds === undefined ? undefined : { timeMs: Math.round(seconds * 1000) },
      },
    };
  },
});

/** A caller may not set any field that the program itself uses. */
function factsIn(given: string | Record<string, unknown> | undefined): Record<string, unknown> {
  if (given === undefined) return {};
  if (typeof given === 'string') return given.trim() === '' ? {} : { context: given.trim() };
  const free = Object.entries(given).filter(([name]) => !RESERVED.has(name));
  return Object.fromEntries(free);
}

/** An agent without a list of agents may ask any, except itself: it would wait for itself. */
function choicesOf({ agent, agents }: ToolContext): string[] {
  const named = agent.agents.length > 0 ? agent.agents : [...agents.keys()];
  return named.filter((name) => name !== agent.name && agents.has(name));
}

/** Only names that the agent's file declares: the caller may set nothing else of the task. */
function badVariable(variables: Record<string, unknown>, declared: Record<string, string>): string | undefined {
  for (const [name, value] of Object.entries(variables)) {
    if (typeof value !== 'string') return `variables.${name} must be a text`;
    if (Object.hasOwn(declared, name) && !RESERVED.has(name)) continue;
    return `that agent has no variable ${name}; it has ${Object.keys(declared).join(', ') || 'none'}`;
  }
  return undefined;
}

const RESERVED = new Set([...PROGRAM_KEYS, 'original_goal', 'context', 'approval_required', 'reply_to', '__proto__']);

function badChoice(to: string, choices: string[], { agent, agents }: ToolContext): ToolReply {
  const list =
    choices.length === 0
      ? 'there is no other agent to ask; do it yourself'
      : `choose one of ${choices.map((name) => described(name, agents)).join('; ')}`;
  if (to === agent.name) return toolProblem('not_allowed', `you cannot delegate to yourself; ${list}`);
  if (agents.has(to)) return toolProblem('not_allowed', `you may not delegate to ${to}; ${list}`);
  return unknownAgent(to, choices, list);
}

function described(name: string, agents: ToolContext['agents']): string {
  const about = agents.get(name)?.description;
  return about ? `${name} (${about.split('\n')[0]!.slice(0, 120)})` : name;
}
