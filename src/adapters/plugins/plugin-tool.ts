/** Turns a plugin's tool into a tool of the program, with the same checks and outcomes. */
import { defined } from '../../domain/defined.js';
import { problem, type Problem } from '../../domain/problem.js';
import { mediaTypeOf } from '../../domain/file-ref.js';
import type { JsonSchema } from '../../ports/model.js';
import type { ReplyFile, Tool, ToolContext, ToolReply } from '../../tools/core/tool.js';
import { checkedSchema, shownSchema } from './tool-schema.js';
import { questionIn } from './question.js';

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
    /** False if its arguments do not leave this machine. Default true. */
    outward?: boolean;
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
  const shown = shownSchema(parameters);
  return {
    name,
    description,
    parameters: shown,
    checked: checkedSchema(shown),
    kind: source.metadata?.readOnly === true ? 'pure' : 'effect',
    plugin: plugin.name,
    outside: source.metadata?.outside !== false,
    outward: source.metadata?.outward !== false,
    run: async (args, context) => asReply(await source.execute(args, contextFor(context, plugin.root))),
  };
}

/** `progress(text)`: says how far the call is. `answers`: to the questions that it has asked. */
function contextFor(context: ToolContext, workspace: string) {
  const { agent, task, callId, approved, signal, progress, folder, answers } = context;
  // Plugins read the workspace by the rules of file tools.
  const search = (query: string, options: { under?: string; limit: number }): Promise<unknown> =>
    folder.search(agent.name, query, options);
  return { agent: agent.name, task: task.id, callId, approved, signal, progress, search, workspace, answers };
}

/** `label`: a sentence for the model before the content. People do not see it while a call runs. */
function asReply(result: unknown): ToolReply {
  const {
    success = true,
    content = result,
    label,
    media,
    ask,
  } = (typeof result === 'object' && result !== null ? result : {}) as {
    success?: unknown;
    content?: unknown;
    label?: unknown;
    media?: unknown;
    ask?: unknown;
  };
  const question = ask === undefined ? undefined : questionIn(ask);
  if (question !== undefined) return { kind: 'question', question };
  const plain = typeof content === 'string' ? content : (JSON.stringify(content) ?? 'done');
  const isLabelled = typeof label === 'string' && label !== '';
  const text = isLabelled ? `${label}\n${plain}` : plain;
  const shown = isLabelled ? plain : undefined;
  if (success === false) return defined({ kind: 'problem', code: 'tool_failed', message: text, shown });
  const files = filesIn(media);
  return defined({ kind: 'text', text, shown, files: files.length > 0 ? files : undefined });
}

/** The largest size that providers accept for all files of one result. */
const MAX_FILES_BYTES = 4 * 1024 * 1024;

/** Images and PDF documents in base64. The first bytes decide what a file is, not its label. */
function filesIn(media: unknown): ReplyFile[] {
  let room = MAX_FILES_BYTES;
  return (Array.isArray(media) ? media : []).flatMap((file: unknown) => {
    const { name, data } = (typeof file === 'object' && file !== null ? file : {}) as Record<string, unknown>;
    if (typeof data !== 'string') return [];
    const bytes = Buffer.from(data, 'base64');
    const mediaType = mediaTypeOf(bytes);
    if (mediaType === undefined || (room -= bytes.length) < 0) return [];
    const known = typeof name === 'string' && name !== '' ? name.slice(0, 200) : mediaType.replace('/', '.');
    return [{ name: known, mediaType, data: bytes }];
  });
}
