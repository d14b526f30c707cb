/** Validates the draft of a new agent. */
import type { Task } from '../../domain/task/task.js';
import type { EngineContext } from '../core/context.js';

export function checkDraft(context: EngineContext, task: Task, name: string, source: string): string | undefined {
  const [wrong] = context.agents.problemsOf(name, source);
  if (wrong !== undefined) {
    const line = wrong.where?.line === undefined ? '' : ` (line ${wrong.where.line})`;
    return `${wrong.message}${line}${wrong.hint ? `; ${wrong.hint}` : ''}`;
  }
  const agent = context.agents.parse(source, `agents/${name}.md`)!;
  const needs = Array.isArray(task.context['needs']) ? task.context['needs'].map(String) : [];
  const lacking = needs.filter((need) => !agent.capabilities.includes(need));
  return lacking.length === 0 ? undefined : `its capabilities must include ${lacking.join(', ')}`;
}
