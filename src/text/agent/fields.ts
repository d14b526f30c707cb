/** Converts the keys of an agent that mean the same in every format to the domain's fields. */
import { DEFAULT_TEAM_ROUNDS, type Advisor, type Agent, type Mind, type Team } from '../../domain/agent/agent.js';
import type { AnswerSchema } from '../../domain/agent/answer-schema.js';
import { readPriority } from '../../domain/task/priority.js';
import { budgetOf, count, durationMs } from '../../schemas/amounts.js';
import type { AgentKeys } from '../../schemas/agent.js';
import { defined } from '../../domain/defined.js';
import { modelSettings, textList, textOf } from '../schema/values.js';

/** Everything but the name, the prompts and the file, which each format states in its own way. */
export type AgentFields = Omit<
  Agent,
  'name' | 'systemPrompt' | 'userPromptTemplate' | 'format' | 'file' | 'definition'
>;

/** Turns a reference to another agent into its name; some formats refer to agents by path. */
type NameOf = (reference: string) => string;

export function agentFields(file: AgentKeys, nameOf: NameOf = (name) => name.replace(/^@/, '')): AgentFields {
  const agents = (textList(file.agents) ?? []).map(nameOf);
  return {
    description: textOf(file.description) ?? '',
    models: textList(file.model) ?? [],
    settings: modelSettings(file),
    tools: textList(file.tools) ?? [],
    skills: textList(file.skills) ?? [],
    agents,
    capabilities: textList(file.capabilities) ?? [],
    expertise: textList(file.expertise) ?? [],
    priority: readPriority(file.priority) ?? 'C',
    runsOn: textList(file.runs_on) ?? [],
    maxConcurrentTasks: count(file.max_concurrent_tasks) ?? Infinity,
    advisors: toAdvisors(file.advisors, nameOf),
    budget: budgetOf(file.budget),
    approve: file.approve ?? {},
    context: file.context ?? 'last',
    session: file.session ?? 'per_task',
    variables: toVariables(file.variables),
    ...defined<Partial<AgentFields>>({
      planApproval: file.plan_approval,
      threshold: file.threshold,
      router: toRouter(file.router, agents, nameOf),
      team: toTeam(file.team, nameOf),
      handoff: file.handoff ? nameOf(file.handoff) : undefined,
      evaluator: toMind(file.evaluator),
      probation: file.probation === true ? true : undefined,
      // the results of an agent on probation are checked, whether or not its file asks for it
      metacognition: toMind(file.metacognition ?? (file.probation === true ? {} : undefined)),
      output: file.output as AnswerSchema | undefined,
      input: file.input as AnswerSchema | undefined,
      type: textOf(file.type),
      version: textOf(file.version),
    }),
  };
}

function toAdvisors(advisors: AgentKeys['advisors'] = [], nameOf: NameOf): Advisor[] {
  const list = typeof advisors === 'string' ? textList(advisors)! : advisors;
  return list.map((advisor) => {
    if (typeof advisor === 'string') return { agent: nameOf(advisor), required: false };
    const { agent, required = false, timeout } = advisor;
    return defined<Advisor>({ agent: nameOf(String(agent)), required, timeoutMs: durationMs(timeout) });
  });
}

function toRouter(router: AgentKeys['router'], agents: string[], nameOf: NameOf): Agent['router'] {
  if (router === undefined || router === false) return undefined;
  if (router === true) return { destinations: agents };
  const fallback = textOf(router.fallback);
  return defined({
    destinations: textList(router.destinations)?.map(nameOf) ?? agents,
    fallback: fallback === undefined ? undefined : nameOf(fallback),
  });
}

const TEAM_ENDINGS = {
  consensus: 'consensus',
  max_rounds: 'maxRounds',
  coordinator_decides: 'coordinatorDecides',
} as const;

function toTeam(team: AgentKeys['team'], nameOf: NameOf): Team | undefined {
  if (team === undefined) return undefined;
  const { members, termination_mode: mode, max_rounds: rounds } = Array.isArray(team) ? { members: team } : team;
  return {
    members: textList(members)!.map(nameOf),
    terminationMode: TEAM_ENDINGS[mode ?? 'consensus'],
    maxRounds: count(rounds) ?? DEFAULT_TEAM_ROUNDS,
  };
}

/** The name of a model alone, or a mapping; an empty mapping is the agent's own model. */
function toMind(mind: AgentKeys['evaluator']): Mind | undefined {
  if (mind === undefined || typeof mind === 'string') return mind === undefined ? undefined : { model: mind };
  const { model, prompt, temperature, max_tokens: maxTokens } = mind;
  return defined<Mind>({ model: textOf(model), prompt: textOf(prompt), temperature, maxTokens: count(maxTokens) });
}

/** A mapping of names to defaults, of names to `{default: …}`, or only names. */
function toVariables(variables: AgentKeys['variables'] = {}): Record<string, string> {
  if (typeof variables === 'string' || Array.isArray(variables))
    return Object.fromEntries(textList(variables)!.map((name) => [name, '']));
  return Object.fromEntries(
    Object.entries(variables).map(([name, value]) => {
      const plain = typeof value === 'object' ? value?.default : value;
      return [name, textOf(plain) ?? ''];
    }),
  );
}
