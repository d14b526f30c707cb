/**
 * Trying an agent that is none yet. In a trial the draft speaks through its maker's hands, with tools that only read and without any pattern; the
 * best agent there is, to compare with, is held to the same.
 */
import { roleFacts } from '../../domain/task/role.js';
import type { Agent } from '../../domain/agent/agent.js';
import { readDraft } from '../../domain/agent/draft.js';
import type { Task } from '../../domain/task/task.js';
import type { EngineContext } from '../core/context.js';

/** What can be seen and not changed. */
const READING = ['read_file', 'list_directory', 'search_files', 'query_tasks', 'web_search', 'final_report'];

/** The agent as it acts in this task; undefined if the draft is gone. */
export async function acting(context: EngineContext, task: Task, agent: Agent): Promise<Agent | undefined> {
  if (!roleFacts(task.role).isTrial) return agent;
  const drafted = task.context['draft'];
  if (typeof drafted !== 'string') return held(agent, agent.name);
  const draft = readDraft((await context.tasks.read(drafted))?.task.result ?? '');
  const made = draft && context.agents.parse(draft.source, `agents/${draft.name}.md`);
  return made && held(made, agent.name);
}

function held(agent: Agent, name: string): Agent {
  const { router: _, team: __, handoff: ___, metacognition: ____, planApproval: _____, ...plain } = agent;
  const tools = agent.tools.filter((tool) => READING.includes(tool));
  return { ...plain, name, tools, agents: [], advisors: [], session: 'per_task' };
}
