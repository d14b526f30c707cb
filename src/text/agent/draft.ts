/** An agent from its frontmatter or YAML, before its prompt and its file are known. */
import type { Problem } from '../../domain/problem.js';
import { agentFlat, agentSpec } from '../../schemas/agent-files.js';
import { agentMarkdown } from '../../schemas/agent.js';
import type { Places } from '../schema/fault.js';
import { readValue } from '../schema/read.js';
import { textList, textOf } from '../schema/values.js';
import { agentFields, type AgentFields } from './fields.js';
import { TOOL_NAMES } from './tool-names.js';

interface AgentDraft {
  name?: string;
  fields: AgentFields;
  system?: string;
  user?: string;
}

export interface DraftRead {
  /** Absent if no part of it can be read. */
  draft?: AgentDraft;
  problems: Problem[];
  warnings: Problem[];
}

export function readMarkdown(value: unknown, places: Places): DraftRead {
  const { value: file, problems } = readValue(agentMarkdown, value, places);
  return { problems, warnings: [], draft: file && draftOf(file.name, agentFields(file)) };
}

/** `*.agent.yaml` in its two shapes. They are our own formats: an unknown key is an error. */
export function readAgentYaml(value: Record<string, unknown>, places: Places): DraftRead {
  return 'apiVersion' in value ? readSpec(value, places) : readFlat(value, places);
}

function readFlat(value: unknown, places: Places): DraftRead {
  const { value: file, problems } = readValue(agentFlat, value, places);
  if (file === undefined) return { problems, warnings: [] };
  const fields = agentFields(file);
  // the older spelling lists tools among the capabilities
  if (file.tools === undefined) fields.tools = fields.capabilities.filter((word) => TOOL_NAMES.has(word));
  fields.description ||= textOf(file.metadata?.description) ?? '';
  const version = fields.version ?? textOf(file.metadata?.version);
  if (version !== undefined) fields.version = version;
  return { draft: draftOf(file.agent_id, fields, file), problems, warnings: [] };
}

function readSpec(value: unknown, places: Places): DraftRead {
  const { value: file, problems } = readValue(agentSpec, value, places);
  if (file === undefined) return { problems, warnings: [] };
  const { metadata = {}, spec = {} } = file;
  const fields = agentFields(spec);
  fields.description ||= textOf(metadata.description) ?? '';
  if (fields.models.length === 0) fields.models = textList(metadata.model) ?? [];
  if (fields.tools.length === 0) fields.tools = textList(metadata.tools) ?? [];
  return { draft: draftOf(metadata.name, fields, spec), problems, warnings: [] };
}

type Text = string | number | boolean;

export function draftOf(
  name: Text | undefined,
  fields: AgentFields,
  prompts: { system_prompt?: Text; user_prompt_template?: Text } = {},
): AgentDraft {
  const { system_prompt: system, user_prompt_template: user } = prompts;
  return { fields, name: textOf(name), system: textOf(system)?.trim(), user: textOf(user)?.trim() };
}
