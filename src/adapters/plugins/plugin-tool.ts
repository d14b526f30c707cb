/** A tool as a plugin writes it, made one of ours: the same checks, the same outcomes. */
import { problem, type Problem } from '../../domain/problem.js';
import type { JsonSchema } from '../../ports/model.js';
import type { Tool, ToolReply } from '../../tools/core/tool.js';

export interface PluginTool {
  /** `{name, description, parameters}`, or the same inside `function`, as model APIs have it. */
  definition: Definition & { function?: Definition };
  metadata?: {
    /** Default true. */
    requiresHumanApproval?: boolean;
    /** It only reads, so it may run again after a crash. */
    readOnly?: boolean;
    /** False: what it answers is the plugin's own words. By default it may be anybody's. */
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

export function pluginTool(made: PluginTool, plugin: { name: string; file: string; root: string }): Tool | Problem {
  const definition = made?.definition?.function ?? made?.definition;
  const no = (message: string): Problem => problem('bad_field', message, { where: { file: plugin.file } });
  if (typeof definition?.name !== 'string' || !NAME.test(definition.name))
    return no('a tool of this plugin has no usable name');
  const { name, description = '', parameters = { type: 'object' } } = definition;
  if (typeof made.execute !== 'function') return no(`the tool ${name} has no execute`);
  if (parameters?.type !== 'object') return no(`the parameters of ${name} must be a JSON Schema of an object`);
  return {
    name,
    description,
    parameters: checkable(parameters),
    kind: made.metadata?.readOnly === true ? 'pure' : 'effect',
    plugin: plugin.name,
    outside: made.metadata?.outside !== false,
    async run(args, { agent, task, callId, approved, signal }) {
      const context = { agent: agent.name, task: task.id, callId, approved, signal, workspace: plugin.root };
      return asReply(await made.execute(args, context));
    },
  };
}

function asReply(said: unknown): ToolReply {
  const { success = true, content = said } = (typeof said === 'object' && said !== null ? said : {}) as {
    success?: unknown;
    content?: unknown;
  };
  const text = typeof content === 'string' ? content : (JSON.stringify(content) ?? 'done');
  return success === false ? { kind: 'problem', code: 'tool_failed', message: text } : { kind: 'text', text };
}

const TYPES = new Set(['object', 'string', 'integer', 'number', 'boolean', 'array']);

/** What our check does not know (`anyOf`, a list of types) is left to the plugin instead of being refused. */
function checkable(schema: JsonSchema): JsonSchema {
  const given = Object.entries(schema.properties ?? {});
  const known = given.filter(([, one]) => TYPES.has(one?.type));
  const whole = known.length === given.length;
  return {
    ...schema,
    properties: Object.fromEntries(known),
    ...(whole
      ? {}
      : {
          additionalProperties: true,
          required: schema.required?.filter((name) => known.some(([one]) => one === name)),
        }),
  };
}
