/**
 * Plugin tools reach the outside world, so they go through the tape. Built-in tools work on files
 * that a replay has.
 */
import type { DoneEntry } from '../../domain/session/cassette.js';
import type { Tool, ToolContext, ToolReply } from '../../tools/core/tool.js';

type Run = (tool: Tool, args: Record<string, unknown>, context: ToolContext) => Promise<ToolReply>;

export function withPluginTools(tools: ReadonlyMap<string, Tool>, run: Run): ReadonlyMap<string, Tool> {
  const taped = (tool: Tool): Tool =>
    tool.plugin === undefined ? tool : { ...tool, run: (args, context) => run(tool, args, context) };
  return new Map([...tools].map(([name, tool]) => [name, taped(tool)]));
}

export function askedOf(
  tool: Tool,
  args: Record<string, unknown>,
  { agent, task }: ToolContext,
): Pick<DoneEntry, 'kind' | 'agent' | 'task' | 'asked'> {
  return { kind: 'tool', agent: agent.name, task: task.id, asked: `${tool.name} ${JSON.stringify(args)}` };
}
