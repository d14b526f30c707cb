/**
 * Runs a drafted agent before it exists. In a trial the draft runs under its maker's name, with
 * read-only tools and without patterns. The agent it is compared with is restricted in the same
 * way.
 */
import { roleFacts } from '../../domain/task/role.js';
import type { Agent } from '../../domain/agent/agent.js';
import { readDraft } from '../../domain/agent/draft.js';
import type { Task } from '../../domain/task/task.js';
import type { EngineContext } from '../core/context.js';

/** Tools that change nothing. */
const READ_ONLY = ['read_file', 'list_directory', 'search_files', 'query_tasks', 'web_search', 'final_report'];

/** The agent to run this task as; undefined if the draft is missing or invalid. */
export async function acting(context: EngineContext, task: Task, agent: Agent): Promise<Agent | undefined> {
  if (!roleFacts(task.role).isTrial) return agent;
  const draftTask = task.context['draft'];
  if (typeof draftTask !== 'string') return restricted(agent, agent.name);
  const draft = readDraft((await context.tasks.read(draftTask))?.task.result ?? '');
  const drafted = draft && context.agents.parse(draft.source, `agents/${draft.name}.md`);
  return drafted && restricted(drafted, agent.name);
}

function restricted(agent: Agent, name: string): Agent {
  const { router: _, team: __, handoff: ___, metacognition: ____, planApproval: _____, ...plain } = agent;
  const tools = agent.tools.filter((tool) => READ_ONLY.includes(tool));
  return { ...plain, name, tools, agents: [], advisors: [], session: 'per_task' };
}
