/** Turns a plugin's tool into one of ours, with the same checks and outcomes. */
import { problem, type Problem } from '../../domain/problem.js';
import type { JsonSchema } from '../../ports/model.js';
import type { Tool, ToolReply } from '../../tools/core/tool.js';

export interface PluginTool {
  /** `{name, description, parameters}`, or the same inside `function`, as in model APIs. */
  definition: Definition & { function?: Definition };
  metadata?: {
    /** Default true. */
    requiresHumanApproval?: boolean;
    /** It changes nothing, so it may run again after a crash. */
    readOnly?: boolean;
    /** False if its replies contain no outside text. Default true. */
    outside?: boolean;
  };
  execute(args: Record<string, unknown>, context: Record<string, unknown>): unknown;
}

interface Definition {
  name?: string;
  description?: string;
  parameters?: JsonSchema;
}

const NAME = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;

export function pluginTool(source: PluginTool, plugin: { name: string; file: string; root: string }): Tool | Problem {
  const definition = source?.definition?.function ?? source?.definition;
  const invalid = (message: string): Problem => problem('bad_field', message, { where: { file: plugin.file } });
  if (typeof definition?.name !== 'string' || !NAME.test(definition.name))
    return invalid('a tool of this plugin has no valid name');
  const { name, description = '', parameters = { type: 'object' } } = definition;
  if (typeof source.execute !== 'function') return invalid(`the tool ${name} has no execute()`);
  if (parameters?.type !== 'object') return invalid(`the parameters of ${name} must be a JSON Schema of an object`);
  return {
    name,
    description,
    parameters: checkableSchema(parameters),
    kind: source.metadata?.readOnly === true ? 'pure' : 'effect',
    plugin: plugin.name,
    outside: source.metadata?.outside !== false,
    async run(args, { agent, task, callId, approved, signal }) {
      const context = { agent: agent.name, task: task.id, callId, approved, signal, workspace: plugin.root };
      return asReply(await source.execute(args, context));
    },
  };
}

function asReply(result: unknown): ToolReply {
  const { success = true, content = result } = (typeof result === 'object' && result !== null ? result : {}) as {
    success?: unknown;
    content?: unknown;
  };
  const text = typeof content === 'string' ? content : (JSON.stringify(content) ?? 'done');
  return success === false ? { kind: 'problem', code: 'tool_failed', message: text } : { kind: 'text', text };
}

const TYPES = new Set(['object', 'string', 'integer', 'number', 'boolean', 'array']);

/**
 * Drops properties our validation does not support (`anyOf`, type lists); the plugin checks them.
 */
function checkableSchema(schema: JsonSchema): JsonSchema {
  const all = Object.entries(schema.properties ?? {});
  const supported = all.filter(([, property]) => TYPES.has(property?.type));
  const properties = Object.fromEntries(supported);
  if (supported.length === all.length) return { ...schema, properties };
  const required = schema.required?.filter((name) => Object.hasOwn(properties, name));
  return { ...schema, properties, additionalProperties: true, required };
}
