/**
 * The fields of an agent that mean the same in every format: names, models, patterns, limits. Each reader takes its fields and
 * reports what is wrong with them; what a format spells differently it takes before or after.
 */
import type { Advisor, Agent, Mind, Team } from '../../domain/agent/agent.js';
import { priorityOf } from '../records/task-fields.js';
import { Fields, isMapping, type Found } from '../yaml/fields.js';

/** Everything but what a format says in its own way: where it lies, its name, its prompts. */
export type AgentFields = Omit<
  Agent,
  'name' | 'systemPrompt' | 'userPromptTemplate' | 'format' | 'file' | 'definition'
>;

/** What a format's reader found. */
export interface AgentDraft {
  name?: string;
  fields: AgentFields;
  system?: string;
  user?: string;
}

/** How a reference to another agent becomes its name; formats that refer by path differ. */
type NameOf = (reference: string) => string;

export function readAgentFields(fields: Fields, nameOf: NameOf = (name) => name.replace(/^@/, '')): AgentFields {
  const agents = (fields.texts('agents') ?? []).map(nameOf);
  const read: AgentFields = {
    description: fields.text('description') ?? '',
    models: fields.texts('model', 'models') ?? [],
    settings: fields.modelSettings(),
    tools: fields.texts('tools') ?? [],
    agents,
    capabilities: fields.texts('capabilities') ?? [],
    expertise: fields.texts('expertise') ?? [],
    priority: readPriority(fields),
    maxConcurrentTasks: fields.whole('max_concurrent_tasks', 1) ?? Infinity,
    advisors: readAdvisors(fields, nameOf),
    budget: fields.budget(),
    approve: readApprove(fields.mapping('approve')),
    context: fields.choice('context', ['none', 'last', 'summary', 'full']) ?? 'last',
    session: fields.choice('session', ['per_task', 'shared']) ?? 'per_task',
    variables: readVariables(fields),
  };
  const more = {
    planApproval: fields.flag('plan_approval'),
    threshold: readThreshold(fields),
    router: readRouter(fields, agents, nameOf),
    team: readTeam(fields, nameOf),
    handoff: readHandoff(fields, nameOf),
    evaluator: readMind(fields, 'evaluator'),
    ...readProbation(fields),
    type: fields.text('type', 'agent_type'),
    version: fields.text('version'),
  };
  return { ...read, ...Object.fromEntries(Object.entries(more).filter(([, value]) => value !== undefined)) };
}

/** Whoever is on probation has its results checked, also where its file does not ask for that. */
function readProbation(fields: Fields): Pick<Agent, 'probation' | 'metacognition'> {
  const probation = fields.flag('probation');
  const metacognition = readMind(fields, 'metacognition') ?? (probation ? {} : undefined);
  return { ...(probation ? { probation } : {}), ...(metacognition ? { metacognition } : {}) };
}

/** From which score on it takes what is offered. */
function readThreshold(fields: Fields): Agent['threshold'] {
  const found = fields.take('threshold');
  if (found === undefined || found.value === 'never') return found && 'never';
  const { value } = found;
  if (typeof value === 'number' && value >= 0 && value <= 10) return value;
  return fields.wrong(found, 'a number from 0 to 10, or never');
}

function readPriority(fields: Fields): Agent['priority'] {
  const found = fields.take('priority');
  if (found === undefined) return 'C';
  return priorityOf(found.value) ?? fields.wrong(found, 'A, B, C or D') ?? 'C';
}

function readAdvisors(fields: Fields, nameOf: NameOf): Advisor[] {
  const found = fields.take('advisors');
  if (found === undefined) return [];
  if (typeof found.value === 'string') {
    return (fields.textsOf(found) ?? []).map((name) => ({ agent: nameOf(name), required: false }));
  }
  if (!Array.isArray(found.value)) return fields.wrong(found, 'a list of agents') ?? [];
  return found.value.flatMap(
    (item: unknown, i) => readAdvisor({ value: item, path: [...found.path, i] }, fields, nameOf) ?? [],
  );
}

function readAdvisor(found: Found, fields: Fields, nameOf: NameOf): Advisor | undefined {
  if (typeof found.value === 'string') return { agent: nameOf(found.value), required: false };
  if (!isMapping(found.value)) return fields.wrong(found, 'an agent\'s name, or a mapping with "agent"');
  const given = new Fields(found.value, found.path, fields.report);
  const agent = given.text('agent', 'name');
  const timeoutMs = given.duration('timeout');
  const advisor = { required: given.flag('required') ?? false, ...(timeoutMs === undefined ? {} : { timeoutMs }) };
  given.noMore();
  return agent === undefined ? fields.wrong(found, 'a mapping with "agent"') : { agent: nameOf(agent), ...advisor };
}

/** `router: true` routes to `agents`; a mapping names its destinations. */
function readRouter(fields: Fields, agents: string[], nameOf: NameOf): Agent['router'] {
  const found = fields.take('router');
  if (found === undefined || found.value === false) return undefined;
  if (found.value === true) {
    if (agents.length > 0) return { destinations: agents };
    fields.error(
      'bad_field',
      'a router needs somewhere to route to',
      found.path,
      'key',
      'list its destinations under "agents"',
    );
    return undefined;
  }
  if (!isMapping(found.value)) return fields.wrong(found, 'true, or a mapping with "destinations"');
  const given = new Fields(found.value, found.path, fields.report);
  const destinations = given.texts('destinations') ?? agents;
  const fallback = given.text('fallback');
  given.noMore();
  if (destinations.length === 0) return fields.wrong(found, 'a mapping with "destinations", a list of agents');
  return { destinations: destinations.map(nameOf), ...(fallback === undefined ? {} : { fallback: nameOf(fallback) }) };
}

const MODES = ['consensus', 'maxRounds', 'coordinatorDecides'] as const;
const DEFAULT_ROUNDS = 10;

function readTeam(fields: Fields, nameOf: NameOf): Team | undefined {
  const found = fields.take('team');
  if (found === undefined) return undefined;
  if (Array.isArray(found.value)) {
    const members = (fields.textsOf(found) ?? []).map(nameOf);
    return { members, terminationMode: 'consensus', maxRounds: DEFAULT_ROUNDS };
  }
  if (!isMapping(found.value)) return fields.wrong(found, 'a mapping with "members"');
  const given = new Fields(found.value, found.path, fields.report);
  const members = (given.texts('members') ?? []).map(nameOf);
  const terminationMode = given.choice('termination_mode', MODES) ?? 'consensus';
  const maxRounds = given.whole('max_rounds', 1) ?? DEFAULT_ROUNDS;
  given.noMore();
  if (members.length === 0) return fields.wrong(found, 'a mapping with "members", a list of agents');
  return { members, terminationMode, maxRounds };
}

function readHandoff(fields: Fields, nameOf: NameOf): string | undefined {
  const found = fields.take('handoff');
  if (found === undefined || found.value === false) return undefined;
  if (typeof found.value === 'string') return nameOf(found.value);
  fields.error(
    'bad_field',
    '"handoff" must be the name of one agent',
    found.path,
    'value',
    'for a chain, give the next agent its own handoff',
  );
  return undefined;
}

/** A model's name alone, or a mapping; an empty mapping is the agent's own model. */
function readMind(fields: Fields, key: string): Mind | undefined {
  const found = fields.take(key);
  if (found === undefined) return undefined;
  if (typeof found.value === 'string') return { model: found.value };
  const given = fields.mappingOf(found);
  if (given === undefined) return undefined;
  const mind: Mind = {
    model: given.text('model'),
    prompt: given.text('prompt'),
    temperature: given.number('temperature', { min: 0, max: 2 }),
    maxTokens: given.whole('max_tokens', 1),
  };
  given.noMore();
  return Object.fromEntries(Object.entries(mind).filter(([, value]) => value !== undefined));
}

function readApprove(given: Fields | undefined): Agent['approve'] {
  const approve: [string, 'ask' | 'deny'][] = [];
  for (const [tool, found] of given?.entries() ?? []) {
    if (found.value === 'ask' || found.value === 'deny') approve.push([tool, found.value]);
    else given!.wrong(found, 'ask or deny: an agent may only be stricter than the policy');
  }
  return Object.fromEntries(approve);
}

/** A mapping of names to defaults, of names to `{default: …}`, or only a list of names. */
function readVariables(fields: Fields): Record<string, string> {
  const found = fields.take('variables');
  if (found === undefined) return {};
  if (!isMapping(found.value)) return Object.fromEntries((fields.textsOf(found) ?? []).map((name) => [name, '']));
  return Object.fromEntries(
    Object.entries(found.value).map(([name, value]) => {
      const plain = isMapping(value) ? value['default'] : value;
      if (plain === null || plain === undefined) return [name, ''];
      if (typeof plain !== 'object') return [name, String(plain)];
      fields.wrong({ value, path: [...found.path, name] }, 'text');
      return [name, ''];
    }),
  );
}
