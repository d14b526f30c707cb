/** The keys of an agent: the frontmatter of `agents/<name>.md`, and most of every other format. */
import { DEFAULT_THRESHOLD } from '../domain/agent/agent.js';
import { schemaFault } from '../domain/agent/answer-schema.js';
import { key, named } from './about.js';
import { advisor, router, routerRules, team } from './agent-patterns.js';
import {
  MODEL_SETTINGS,
  at,
  budget,
  choice,
  flag,
  mapping,
  name,
  names,
  number,
  priority,
  text,
  whole,
} from './values.js';
import * as z from './zod.js';

/** The second and the third model of an agent. */
const mind = z.union(
  [
    named('model', z.string()),
    z.strictObject({
      model: key(text, 'The model, or a name from `models` of guild.yaml.', {
        default: "the agent's own model",
        example: 'fast',
      }),
      prompt: key(text, 'The system prompt.', {
        default: "the agent's own prompt",
        example: 'Decide whether it helps.',
      }),
      temperature: key(number(0, 2), 'Sampling temperature.', { default: "the agent's own", example: '0' }),
      max_tokens: key(whole(1), 'The most tokens that one answer may have.', {
        default: "the agent's own",
        example: '500',
      }),
    }),
  ],
  mapping,
);

const stricter = z.enum(['ask', 'deny'], { error: 'ask or deny: an agent may only be stricter than the policy' });

const variable = z.union(
  [z.null(), text, z.looseObject({ default: key(text, 'The value if the task gives none.', { example: 'plain' }) })],
  { error: 'text' },
);

const answerSchema = named(
  'JSON Schema of an object',
  z.record(z.string(), z.unknown(), mapping).check(
    z.superRefine((value, context) => {
      const fault = schemaFault(value);
      if (fault !== undefined)
        context.addIssue({
          code: 'custom',
          path: fault.path,
          message: `${fault.path.length === 0 ? 'this' : `"${fault.path.at(-1)}"`} ${fault.message}`,
          params: { rule: {} },
        });
    }),
  ),
);

const threshold = z.union([number(0, 10), z.literal('never')], { error: 'a number from 0 to 10, or never' });

export const AGENT_KEYS = {
  description: key(text, 'One sentence on what the agent does. Other agents and the program choose by it.', {
    default: 'empty',
    example: 'Breaks a goal into steps for others',
  }),
  model: key(names, 'A model, a name from `models` of guild.yaml, or a list that is tried in order.', {
    default: 'the model of guild.yaml',
    example: 'openai/gpt-5',
    spellings: ['models'],
  }),
  ...MODEL_SETTINGS,
  tools: key(
    names,
    'The tools it may call. An unknown name is an error. `github_*` means all tools of the MCP server `github`.',
    { default: 'none', example: '[read_file, delegate_to_agent]' },
  ),
  skills: key(names, 'Skills whose text is in the prompt from the start. The others are listed for `load_skill`.', {
    default: 'none',
    example: '[release-notes]',
  }),
  agents: key(names, 'The agents that it may delegate or route to.', {
    default: 'all',
    example: '[executor, evaluator]',
  }),
  capabilities: key(names, 'A task is offered to the agent only if these cover all its `requirements`.', {
    default: 'none',
    example: '[planning]',
  }),
  expertise: key(names, 'The subjects that it knows. Bids and help requests are matched with them.', {
    default: 'none',
    example: '[ops]',
  }),
  priority: key(priority, 'Among agents that can help equally well, the most urgent priority is asked first.', {
    default: '`C`',
  }),
  max_concurrent_tasks: key(whole(1), 'How many tasks it works on at the same time.', {
    default: 'no limit',
    example: '2',
  }),
  runs_on: key(
    names,
    'Labels of the machines it may run on: all of them. A machine has its own name and those in `GUILD_LABELS`. On several machines it stays on one of them, its home, while a process lives there.',
    { default: 'any machine', example: '[gpu]' },
  ),
  threshold: key(
    threshold,
    'The lowest score at which it takes an offered task. `never`: it only takes tasks addressed to it.',
    { ...at(DEFAULT_THRESHOLD), example: '8' },
  ),
  advisors: key(
    named(
      'names, or a list of names and [mappings](#advisors)',
      z.union([z.string(), z.array(advisor)], { error: 'a list of agents' }),
    ),
    'Agents that are asked for advice first, in parallel.',
    { default: 'none', example: '[legal, {agent: risk, required: true}]' },
  ),
  router: key(router, 'The agent only chooses which agent does the task. `true` chooses from `agents`.', {
    default: '`false`',
    example: '{destinations: [billing, support], fallback: support}',
  }),
  team: key(team, 'Agents that discuss the task in rounds before this agent answers.', {
    default: 'none',
    example: '{members: [analyst, developer], max_rounds: 4}',
  }),
  handoff: key(
    z.union([named('name', z.string()), z.literal(false)], { error: 'the name of one agent' }),
    'The agent that continues with the answer.',
    { default: 'none', example: 'approval-gateway', hint: 'for a chain, give the next agent its own handoff' },
  ),
  evaluator: key(mind, 'The model that bids for offered tasks.', {
    default: "the agent's own model",
    example: '{model: fast}',
  }),
  metacognition: key(mind, 'Checks each result against the goal and sends back a result that does not advance it.', {
    default: 'results are not checked',
    example: '{model: fast}',
  }),
  budget: key(budget, 'The limits for one task of this agent, together with everything below it.', {
    default: 'the budget of guild.yaml',
    example: '{turns: 30, usd: 1.50}',
  }),
  approve: key(
    z.record(z.string(), stricter, mapping),
    'Tools that this agent may use less freely than the policy allows.',
    {
      default: 'as the policy says',
      example: '{write_file: ask}',
    },
  ),
  plan_approval: key(flag, 'You approve its plan before it may call a tool.', { default: '`false`' }),
  probation: key(flag, 'It is new: its results are checked, and it is retired if they are rejected.', {
    default: '`false`',
  }),
  context: key(choice(['none', 'last', 'summary', 'full']), 'The part of the conversation that a handoff passes on.', {
    default: '`last`',
  }),
  session: key(choice(['per_task', 'shared']), '`shared`: one long conversation, in which its tasks take turns.', {
    default: '`per_task`',
  }),
  output: key(
    answerSchema,
    'The result is JSON that fits this schema. It may use type, description, properties, required, items, enum, minimum and maximum.',
    {
      default: 'any text',
      example: '{type: object, properties: {title: {type: string}}, required: [title]}',
    },
  ),
  input: key(
    answerSchema,
    'The input that it expects of an agent that hands off to it. `guild check` compares it with the `output` of that agent.',
    { default: 'anything', example: '{type: object, properties: {title: {type: string}}, required: [title]}' },
  ),
  variables: key(
    named(
      'names, or a mapping: name to default',
      z.union([z.string(), z.array(name), z.record(z.string(), variable)], {
        error: 'a list of names',
      }),
    ),
    'Variables for `{{name}}` in the prompt, with their defaults.',
    { default: 'none', example: '{tone: friendly}' },
  ),
  type: key(text, 'A word for the kind of agent. `planner` makes it the planner if no agent has that name.', {
    example: 'planner',
    spellings: ['agent_type'],
  }),
  version: key(text, 'A note for people.', { example: '1.2' }),
};

export const agentMarkdown = z
  .strictObject(
    {
      name: key(text, 'The name of the agent.', { default: 'the name of the file', example: 'planner' }),
      ...AGENT_KEYS,
    },
    { error: 'a mapping: lines such as "description: …"' },
  )
  .check(...routerRules);
export type AgentKeys = Omit<z.infer<typeof agentMarkdown>, 'name'>;
