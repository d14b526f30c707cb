/** Checks tools, sampling, thinking and effort against the family of the model. */
import { isMapping } from '../../../../domain/mapping.js';
import { numberOf, objectOf, objectsIn, stringOf, type Json } from '../wire/json.js';
import type { Judge } from '../wire/rule.js';
import type { Family } from './families.js';
import type { Turn } from './turns.js';

type Refuse = Judge['refuse'];

const BINDING_BETA = 'thinking-binding-controls-2026-08-01';

export function checkSettings(
  body: Json,
  turns: readonly Turn[],
  family: Family,
  betas: string,
  { refuse }: Judge,
): void {
  checkLimit(body, family, refuse);
  checkTools(body, turns, refuse);
  checkSampling(body, family, refuse);
  checkThinking(body, family, refuse);
  const choice = objectOf(body['tool_choice'])['type'];
  if (!family.forced && (choice === 'any' || choice === 'tool'))
    refuse('3-request.forced-tool', 'tool_choice: type "tool" and "any" are not supported for this model.');
  if (objectOf(body['thinking'])['block_binding'] !== undefined && !betas.split(/\s*,\s*/).includes(BINDING_BETA))
    refuse('3-thinking.binding-beta', 'thinking.block_binding: Extra inputs are not permitted');
}

/** True if the model thinks in answer to this request. */
export function thinks(body: Json, family: Family): boolean {
  const type = objectOf(body['thinking'])['type'];
  if (type === undefined) return family.thinking === 'always';
  return type !== 'disabled' && type !== 'between_tools';
}

function checkLimit(body: Json, family: Family, refuse: Refuse): void {
  const limit = numberOf(body['max_tokens']);
  if (limit === undefined) refuse('3-request.max-tokens-given', 'max_tokens: Field required');
  else if (limit > family.output)
    refuse(
      '3-request.max-tokens-limit',
      `max_tokens: ${limit} > ${family.output}, which is the maximum allowed number of output tokens for ${stringOf(body['model'])}`,
    );
}

function checkTools(body: Json, turns: readonly Turn[], refuse: Refuse): void {
  const tools = objectsIn(body['tools']);
  const used = turns.some(({ blocks }) =>
    blocks.some(({ block }) => /^tool_(use|result)$/.test(stringOf(block['type']))),
  );
  if (used && tools.length === 0)
    refuse('3-request.tools-defined', 'Requests which include `tool_use` or `tool_result` blocks must define tools.');
  const names = new Set<string>();
  for (const [at, tool] of tools.entries()) {
    const name = stringOf(tool['name']);
    if (names.has(name)) refuse('3-request.tool-unique', 'tools: Tool names must be unique.');
    names.add(name);
    if (tool['type'] !== undefined && tool['type'] !== 'custom') continue;
    if (!/^[a-zA-Z0-9_-]{1,128}$/.test(name))
      refuse('3-request.tool-name', `tools.${at}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`);
    const schema = tool['input_schema'];
    if (!isMapping(schema) || schema['type'] !== 'object')
      refuse('3-request.tool-schema', `tools.${at}.custom.input_schema.type: Input should be 'object'`);
    else if ('oneOf' in schema || 'allOf' in schema || 'anyOf' in schema)
      refuse(
        '3-request.tool-schema',
        `tools.${at}.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level`,
      );
  }
}

function checkSampling(body: Json, family: Family, refuse: Refuse): void {
  const given = ['temperature', 'top_p', 'top_k'].filter((name) => body[name] !== undefined);
  if (!family.sampling) {
    for (const name of given) refuse('3-request.sampling', `\`${name}\` is deprecated for this model.`);
    return;
  }
  if (thinks(body, family) && given.includes('temperature') && body['temperature'] !== 1)
    refuse('3-request.temperature-thinking', '`temperature` may only be set to 1 when thinking is enabled.');
  if (given.includes('temperature') && given.includes('top_p'))
    refuse(
      '3-request.temperature-or-top-p',
      '`temperature` and `top_p` cannot both be specified for this model. Please use only one.',
    );
}

const EFFORTS = ['low', 'medium', 'high', 'xhigh', 'max'];

function checkThinking(body: Json, family: Family, refuse: Refuse): void {
  const thinking = objectOf(body['thinking']);
  const effort = objectOf(body['output_config'])['effort'];
  const unsupported = (type: string) =>
    `"thinking.type.${type}" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.`;
  if (effort !== undefined && !EFFORTS.includes(stringOf(effort)))
    refuse('3-thinking.effort', `output_config.effort: Input should be 'low', 'medium', 'high', 'xhigh' or 'max'`);
  if (thinking['type'] === 'disabled') {
    if (!family.disable) refuse('3-thinking.disabled', unsupported('disabled'));
    else if (family.disable === 'high' && (effort === 'xhigh' || effort === 'max'))
      refuse('3-thinking.disabled-effort', `"thinking.type.disabled" is not supported with effort "${effort}".`);
  }
  if (thinking['type'] === 'between_tools' && !family.betweenTools)
    refuse('3-thinking.between-tools', unsupported('between_tools'));
  if (thinking['type'] === 'adaptive' && family.thinking === 'budget')
    refuse('3-thinking.adaptive', 'adaptive thinking is not supported on this model');
  if (thinking['type'] === 'enabled') checkBudget(body, thinking, family, refuse, unsupported);
}

function checkBudget(
  body: Json,
  thinking: Json,
  family: Family,
  refuse: Refuse,
  unsupported: (type: string) => string,
): void {
  if (family.thinking !== 'budget' && family.thinking !== 'both')
    return refuse('3-thinking.budget', unsupported('enabled'));
  const budget = numberOf(thinking['budget_tokens']) ?? 0;
  if (budget < 1024)
    refuse(
      '3-thinking.budget-minimum',
      'thinking.enabled.budget_tokens: Input should be greater than or equal to 1024',
    );
  if (budget >= (numberOf(body['max_tokens']) ?? Infinity))
    refuse('3-thinking.budget-below-max', '`max_tokens` must be greater than `thinking.budget_tokens`.');
}
