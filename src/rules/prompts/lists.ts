/**
 * Puts the real names of agents, capabilities and channels into the schemas of the tools that take
 * them, so that a model chooses and does not guess.
 */
import type { Agent } from '../../domain/agent/agent.js';
import type { AnswerSchema } from '../../domain/agent/answer-schema.js';
import type { Colleague } from './orientation.js';

/** The part of a JSON Schema that lists are put into. */
interface Schema {
  description?: string;
  properties?: Record<string, Schema>;
  items?: Schema;
  enum?: string[];
}

interface Lists {
  delegates: readonly Colleague[];
  destinations: readonly Colleague[];
  /** Everyone but the agent itself. */
  others: readonly Colleague[];
  capabilities: readonly string[];
  skills: readonly { name: string }[];
  channels: readonly string[];
  /** The schema of the agent's result, if it declares one. */
  output?: AnswerSchema | undefined;
}

/** A longer list would cost more than a wrong guess. */
const MAX_NAMES = 200;

export function listsFor(
  agent: Pick<Agent, 'name' | 'agents' | 'router' | 'output'>,
  all: ReadonlyMap<string, Colleague>,
  { skills = [], channels = [] }: Partial<Pick<Lists, 'skills' | 'channels'>> = {},
): Lists {
  const others = [...all.values()].filter(({ name }) => name !== agent.name);
  const named = (names: readonly string[]): Colleague[] =>
    names.flatMap((name) => (name === agent.name ? [] : (all.get(name) ?? [])));
  return {
    delegates: agent.agents.length > 0 ? named(agent.agents) : others,
    destinations: named(agent.router?.destinations ?? []),
    others,
    capabilities: knownCapabilities(all.values()),
    skills,
    channels,
    output: agent.output,
  };
}

export function knownCapabilities(agents: Iterable<Pick<Colleague, 'capabilities'>>): string[] {
  return [...new Set([...agents].flatMap((agent) => agent.capabilities))].sort();
}

export function withLists<S extends Schema>(tool: string, schema: S, lists: Lists): S {
  const { delegates, destinations, others, capabilities, skills, channels } = lists;
  switch (tool) {
    case 'delegate_to_agent':
      return changed(schema, { agent: oneOf(delegates) });
    case 'create_task':
      return changed(schema, { agent: oneOf(others), requires: hinted(capabilities) });
    case 'route_to':
      return changed(schema, { agent: described(destinations) });
    case 'broadcast':
      return channels.length === 0
        ? without(schema, ['channel', 'priority'])
        : changed(schema, { channel: (name) => ({ ...name, ...enumOf(channels) }) });
    case 'load_skill':
      return changed(schema, { name: (list) => ({ ...list, ...enumOf(skills.map(({ name }) => name)) }) });
    case 'assign_provider':
    case 'reassign_task':
      return changed(schema, { agent: oneOf(others) });
    case 'request_dependency':
      return changed(schema, { reviewer: oneOf(others) });
    case 'final_report':
      return reporting(schema, lists.output);
    case 'request_help':
      return changed(schema, {
        capabilities: (list) => ({ ...list, items: { ...list.items, ...enumOf(capabilities) } }),
      });
    case 'break_down':
      return changed(schema, {
        parts: (list) => ({
          ...list,
          items: changed(list.items ?? {}, { agent: oneOf(others), requires: hinted(capabilities) }),
        }),
      });
    default:
      return schema;
  }
}

/** Either a report in words, or a result with its schema and words only for a failure. */
function reporting<S extends Schema & { required?: string[] }>(schema: S, output: AnswerSchema | undefined): S {
  const { report, result, ...more } = schema.properties ?? {};
  if (report === undefined || result === undefined) return schema;
  if (output === undefined) return { ...schema, properties: { report, ...more }, required: ['report'] };
  const why = { ...report, description: 'Only with success: false: what you tried and what is missing' };
  const wanted = {
    ...output,
    description: output.description ?? 'The whole result; leave it out only with success: false',
  };
  return { ...schema, properties: { result: wanted, report: why, ...more } };
}

type Change = (schema: Schema) => Schema;

function changed<S extends Schema>(schema: S, changes: Record<string, Change>): S {
  const properties = { ...schema.properties };
  for (const [name, change] of Object.entries(changes))
    if (properties[name] !== undefined) properties[name] = change(properties[name]);
  return { ...schema, properties };
}

function without<S extends Schema>(schema: S, names: readonly string[]): S {
  const kept = Object.entries(schema.properties ?? {}).filter(([name]) => !names.includes(name));
  return { ...schema, properties: Object.fromEntries(kept) };
}

function enumOf(names: readonly string[]): { enum?: string[] } {
  return names.length === 0 || names.length > MAX_NAMES ? {} : { enum: [...names] };
}

function oneOf(agents: readonly Colleague[]): Change {
  return (schema) => ({ ...schema, ...enumOf(agents.map(({ name }) => name)) });
}

/** Includes the description of each agent, for a model that sees no other list. */
function described(agents: readonly Colleague[]): Change {
  const lines = agents.map(({ name, description }) => `${name}: ${description.split('\n')[0]!.slice(0, 200)}`);
  return (schema) => ({
    ...oneOf(agents)(schema),
    description: [schema.description ?? '', ...lines].join('\n'),
  });
}

/** Not an enum: a capability that is missing may be asked for, and leads to a new agent. */
function hinted(names: readonly string[]): Change {
  if (names.length === 0 || names.length > MAX_NAMES) return (schema) => schema;
  return (schema) => ({ ...schema, description: `${schema.description ?? ''}. Existing ones: ${names.join(', ')}` });
}
