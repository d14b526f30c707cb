/**
 * Agents as whole YAML files, `*.agent.yaml`. Two shapes are read: a flat one (`agent_id`, `agent_type`, `system_prompt`, `tools`,
 * `metadata`; also `id`, `type`, `capabilities`), and one with `apiVersion`, `kind`, `metadata` and `spec`. Both may carry every
 * field that our Markdown form has. They are our own formats: an unknown key is an error, except inside `metadata`.
 */
import { readAgentFields, type AgentDraft, type AgentFields } from './fields.js';
import { TOOL_NAMES } from './foreign.js';
import type { Fields } from '../yaml/fields.js';

export function readAgentYaml(fields: Fields): AgentDraft {
  return fields.take('apiVersion') === undefined ? readFlat(fields) : readSpec(fields);
}

function readFlat(fields: Fields): AgentDraft {
  const name = fields.text('agent_id', 'id', 'name');
  const system = fields.text('system_prompt', 'prompt');
  const user = fields.text('user_prompt_template', 'user_prompt');
  const listsTools = has(fields, 'tools');
  const read = readAgentFields(fields);
  // the older spelling lists tools among the capabilities
  if (!listsTools) read.tools = read.capabilities.filter((word) => TOOL_NAMES.has(word));
  const metadata = fields.mapping('metadata');
  read.description ||= metadata?.text('description') ?? '';
  read.version ??= metadata?.text('version');
  if (read.version === undefined) delete read.version;
  fields.noMore();
  return draft(name, read, system, user);
}

function readSpec(fields: Fields): AgentDraft {
  const kind = fields.text('kind');
  if (kind !== 'Agent') fields.error('bad_field', '"kind" must be Agent', ['kind'], 'value');
  const metadata = fields.mapping('metadata');
  const spec = fields.mapping('spec');
  fields.noMore();
  const name = metadata?.text('name', 'id');
  const system = spec?.text('system_prompt', 'prompt');
  const user = spec?.text('user_prompt_template', 'user_prompt');
  spec?.take('messages');
  const read = readAgentFields(spec ?? metadata ?? fields);
  if (spec !== undefined && metadata !== undefined) {
    read.description ||= metadata.text('description') ?? '';
    if (read.models.length === 0) read.models = metadata.texts('model', 'models') ?? [];
    if (read.tools.length === 0) read.tools = metadata.texts('tools') ?? [];
  }
  spec?.noMore();
  return draft(name, read, system, user);
}

function draft(name: string | undefined, fields: AgentFields, system?: string, user?: string): AgentDraft {
  return {
    fields,
    ...(name === undefined ? {} : { name }),
    ...(system === undefined ? {} : { system: system.trim() }),
    ...(user === undefined ? {} : { user: user.trim() }),
  };
}

function has(fields: Fields, key: string): boolean {
  return fields.left().includes(key);
}
