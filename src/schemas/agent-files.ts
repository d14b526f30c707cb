/** Agents in other formats: `*.agent.yaml`, and the files of Claude Code, Copilot and `*.ai`. */
import { AGENT_KEYS } from './agent.js';
import { routerRules } from './agent-patterns.js';
import { key, named, needed } from './about.js';
import { flag, mapping, name, names, text, whole } from './values.js';
import * as z from './zod.js';

const prompts = {
  system_prompt: key(text, 'The system prompt.', { example: 'You plan.', spellings: ['prompt'] }),
  user_prompt_template: key(text, 'The template of the first message.', {
    default: 'the description of the task',
    example: 'Do {{task}}.',
    spellings: ['user_prompt'],
  }),
};

/** `agents/*.agent.yaml`, with every key at the top. */
export const agentFlat = z
  .strictObject(
    {
      agent_id: key(text, 'The name of the agent.', {
        default: 'the name of the file',
        example: 'planner-001',
        spellings: ['id', 'name'],
      }),
      ...prompts,
      metadata: key(
        z.looseObject(
          {
            description: key(text, 'The description, if the top of the file has none.', {
              example: 'Breaks down goals',
            }),
            version: key(text, 'The version, if the top of the file has none.', { example: '0.0.1' }),
          },
          mapping,
        ),
        'Facts about the file. Other keys are ignored.',
        { example: '{version: 0.0.1}' },
      ),
      ...AGENT_KEYS,
    },
    mapping,
  )
  .check(...routerRules);

/** `agents/*.agent.yaml` with `apiVersion`, `kind`, `metadata` and `spec`. */
export const agentSpec = z.strictObject(
  {
    apiVersion: needed(text, 'The version of the format.', { example: 'v1' }),
    kind: needed(z.literal('Agent', { error: 'Agent' }), 'Always `Agent`.', { example: 'Agent' }),
    metadata: key(
      z.looseObject(
        {
          name: key(text, 'The name of the agent.', {
            default: 'the name of the file',
            example: 'watcher',
            spellings: ['id'],
          }),
          description: key(text, 'The description, if `spec` has none.', { example: 'Watches' }),
          model: key(names, 'The model, if `spec` has none.', { example: 'openai/gpt-5', spellings: ['models'] }),
          tools: key(names, 'The tools, if `spec` has none.', { example: '[read_file]' }),
        },
        mapping,
      ),
      'Facts about the agent. Other keys are ignored.',
      { example: '{name: watcher}' },
    ),
    spec: key(
      z
        .strictObject({ ...prompts, messages: key(z.unknown(), 'Ignored.', { example: '[]' }), ...AGENT_KEYS }, mapping)
        .check(...routerRules),
      'The keys of the agent.',
      { example: '{system_prompt: You watch., tools: [read_file]}' },
    ),
  },
  mapping,
);

const turns = key(whole(1), 'The same as `budget.turns`.', { example: '12', spellings: ['steps', 'max_steps'] });

/** Keys that have a meaning for the other program and none here. */
function ignored<const T extends readonly string[]>(...keys: T) {
  const anything = z.optional(z.unknown());
  return Object.fromEntries(keys.map((name) => [name, anything])) as Record<T[number], typeof anything>;
}

const toolSwitches = z.record(z.string(), flag, mapping);

/** `deny`, `ask`, `allow`, or a mapping of patterns to these. */
const permission = z.union([z.string(), z.looseObject({})], { error: 'allow, ask or deny' });

/**
 * Claude Code, Copilot, opencode and Gemini CLI. Unknown keys are warnings: the file is right for
 * its own program.
 */
export const agentClaude = z
  .object(
    {
      ...AGENT_KEYS,
      name: key(text, 'The name of the agent.', { example: 'code-reviewer' }),
      tools: key(
        named(
          'names, or a mapping: name to true or false',
          z.union([z.string(), z.array(name), toolSwitches], { error: 'a list of names' }),
        ),
        'The tools it may call, by the names of its own program.',
        { default: 'every tool, as in its own program', example: 'Read, Grep' },
      ),
      disallowedTools: key(names, 'Tools that it may not use.', { example: 'Bash' }),
      permission: key(
        z.union([permission, z.record(z.string(), permission)], { error: 'a mapping of tools to allow, ask or deny' }),
        'For each tool: `deny` takes it away, `ask` asks you each time. `allow` changes nothing: the policy decides.',
        { example: '{edit: deny, bash: ask}' },
      ),
      permissionMode: key(text, '`plan`: the same as `plan_approval`. The policy decides in every other mode.', {
        example: 'plan',
      }),
      effort: key(text, 'The same as `reasoning`.', { example: 'high' }),
      maxTurns: turns,
      ...ignored('color', 'target', 'argument-hint', 'mode', 'infer', 'kind', 'hidden', 'user-invocable'),
      ...ignored('disable-model-invocation', 'metadata', 'license', 'author', 'category', 'tags'),
    },
    mapping,
  )
  .check(...routerRules);

/** Keys that begin a field in frontmatter that is not valid YAML. */
export const FOREIGN_KEYS: ReadonlySet<string> = new Set([
  ...Object.keys(agentClaude.shape),
  ...'hooks mcpServers mcp-servers memory background isolation initialPrompt handoffs prompt'.split(' '),
]);

/** In `*.ai` these say how to write an answer; here they are JSON Schemas. */
const { output: _output, input: _input, ...aiKeys } = AGENT_KEYS;

/** `*.ai`. */
export const agentAi = z
  .object(
    {
      ...aiKeys,
      maxTurns: turns,
      maxOutputTokens: key(whole(1), 'The same as `max_tokens`.', { example: '8192' }),
      ...ignored('usage', 'toolName', 'plugins', 'maxToolCallsPerTurn', 'maxRetries', 'llmTimeout', 'toolTimeout'),
      ...ignored(
        'cache',
        'repeatPenalty',
        'toolResponseMaxBytes',
        'toolOutput',
        'reasoningTokens',
        'caching',
        'contextWindow',
      ),
      ...ignored('maxConcurrentTools'),
    },
    mapping,
  )
  .check(...routerRules);
