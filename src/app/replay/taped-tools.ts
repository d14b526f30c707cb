/**
 * Plugin tools and `web_fetch` reach the outside world, and `system_status` depends on the machine,
 * so they go through the tape. Other built-in tools work on files that a replay has.
 */
import type { DoneEntry } from '../../domain/session/cassette.js';
import type { Tool, ToolContext, ToolReply } from '../../tools/core/tool.js';

type Run = (tool: Tool, args: Record<string, unknown>, context: ToolContext) => Promise<ToolReply>;

type Tools = Pick<ReadonlyMap<string, Tool>, 'get' | 'has'>;

export function withPluginTools(tools: Tools, run: Run): Tools {
  const taped = (tool: Tool): Tool =>
    tool.plugin !== undefined || tool.outside === true || tool.isVolatile === true
      ? { ...tool, run: (args, context) => run(tool, args, context) }
      : tool;
  return {
    has: (name) => tools.has(name),
    get(name) {
      const tool = tools.get(name);
      return tool && taped(tool);
    },
  };
}

export function askedOf(
  tool: Tool,
  args: Record<string, unknown>,
  { agent, task, answers }: ToolContext,
): Pick<DoneEntry, 'kind' | 'agent' | 'task' | 'asked'> {
  const answered = answers.length === 0 ? '' : ` ${JSON.stringify(answers)}`;
  return { kind: 'tool', agent: agent.name, task: task.id, asked: `${tool.name} ${JSON.stringify(args)}${answered}` };
}
