/** Agents in other formats: `*.agent.yaml`, and the files of Claude Code, Copilot and `*.ai`. */
import { AGENT_KEYS } from './agent.js';
import { routerRules } from './agent-patterns.js';
import { key, needed } from './about.js';
import { mapping, names, text, whole } from './values.js';
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
            description: key(text, 'The description, if there is none at the top.', { example: 'Breaks down goals' }),
            version: key(text, 'The version, if there is none at the top.', { example: '0.0.1' }),
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

const turns = key(whole(1), 'The same as `budget.turns`.', { example: '12' });

/** Keys that have a meaning for the other program and none here. */
function ignored<const T extends readonly string[]>(...keys: T) {
  const anything = z.optional(z.unknown());
  return Object.fromEntries(keys.map((name) => [name, anything])) as Record<T[number], typeof anything>;
}

/** Claude Code and Copilot. Unknown keys are warnings: the file is right for its own program. */
export const agentClaude = z
  .object(
    {
      ...AGENT_KEYS,
      name: key(text, 'The name of the agent.', { example: 'code-reviewer' }),
      disallowedTools: key(names, 'Tools that it may not use.', { example: 'Bash' }),
      maxTurns: turns,
      ...ignored('color', 'target', 'argument-hint', 'mode', 'infer'),
    },
    mapping,
  )
  .check(...routerRules);

/** `*.ai`. */
export const agentAi = z
  .object(
    {
      ...AGENT_KEYS,
      maxTurns: turns,
      maxOutputTokens: key(whole(1), 'The same as `max_tokens`.', { example: '8192' }),
      ...ignored(
        'usage',
        'toolName',
        'input',
        'output',
        'plugins',
        'maxToolCallsPerTurn',
        'maxRetries',
        'llmTimeout',
        'toolTimeout',
      ),
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
