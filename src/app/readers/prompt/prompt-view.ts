/** The prompt of an agent for a task, built by the code of a real call, without making the call. */
import path from 'node:path';
import { clock } from '../../../adapters/clock/index.js';
import { disk as realDisk } from '../../../adapters/disk/index.js';
import { surroundings } from '../../../adapters/machine/surroundings.js';
import { loadPlugins } from '../../../adapters/plugins/index.js';
import { project } from '../../../adapters/project/index.js';
import { roster } from '../../../adapters/roster/index.js';
import type { Agent } from '../../../domain/agent/agent.js';
import type { Config } from '../../../domain/config/config.js';
import type { Env } from '../../../domain/config/env.js';
import { windowOf } from '../../../domain/config/window.js';
import { defined } from '../../../domain/defined.js';
import { noAgent } from '../../../domain/nearest.js';
import { problem, type Problem, ProblemError, problemError } from '../../../domain/problem.js';
import { sessionId } from '../../../domain/session/session-id.js';
import type { Message, Session } from '../../../domain/session/session.js';
import { childId } from '../../../domain/task/id.js';
import type { Role } from '../../../domain/task/role.js';
import { makeTask, type Task } from '../../../domain/task/task.js';
import { compactor } from '../../../engine/conversation/compact.js';
import { currentPins, readPins } from '../../../engine/conversation/pins.js';
import { firstMessage, headTokens, promptHead, resultsBefore } from '../../../engine/conversation/prompt.js';
import type { Store } from '../../../ports/store/index.js';
import type { ToolSpec } from '../../../ports/model.js';
import { messageTokens, textTokens } from '../../../rules/budget/reserve.js';
import { isLeaf } from '../../../rules/patterns/decide.js';
import { resolveModels } from '../../../rules/scheduling/models.js';
import { toolbox } from '../../../tools/toolbox.js';
import { pluginsInForce } from '../../trust/plugins-in-force.js';
import { heldAgents } from '../../trust/held-agents.js';
import { openTrust } from '../../trust/trust.js';
import { openReader } from '../open-reader.js';
import { readConfig } from '../read-config.js';

export interface PromptView {
  agent: string;
  /** The existing task whose next call this is. */
  task?: string;
  /** Its conversation, if it has started. */
  session?: string;
  model?: string;
  system: string;
  tools: ToolSpec[];
  messages: readonly Message[];
  /** Estimates, four ASCII characters to a token. */
  tokens: { system: number; tools: number; messages: number };
  /** Why the agent does not work yet; until then part of its prompt may be missing. */
  held?: string;
}

/** `about`: the id of a task, or the text of a request. `role`: the role of the task. */
export async function promptView(
  folder: string,
  name: string,
  { about, role, env }: { about?: string; role?: Role; env: Env },
): Promise<PromptView> {
  const root = path.resolve(folder);
  const store = openReader(root);
  const { config } = readConfig(realDisk(), root, env);
  const trust = openTrust(root, env, config);
  const plugins = await loadPlugins({ ...pluginsInForce(root, env, trust), env });
  try {
    const agents = roster(realDisk(), root, undefined, [], () => plugins.tools.map((tool) => tool.name));
    agents.refresh();
    const agent = agents.all().get(name);
    if (agent === undefined) throw problemError('unknown_agent', noAgent(name, agents.all().keys()));
    const tools = new Map([...toolbox(), ...plugins.tools.map((tool) => [tool.name, tool] as const)]);
    const heads = new Map();
    const context = {
      ...store,
      agents,
      tools,
      config,
      clock: clock(),
      project: project(realDisk(), root),
      surroundings: surroundings(root),
      folds: { heads, headTokens: new WeakMap() },
    };
    const existing = about === undefined ? undefined : await ownTurn(store, about, agent);
    if (existing !== undefined && role !== undefined) throw new ProblemError(hasRole(existing));
    const task = existing ?? example(about ?? '(the request)', agent, role);
    const session = existing === undefined ? undefined : await sessionOf(store, task, agent);
    const pins = session && currentPins(session);
    const head = (pins && (await readPins(context, pins))) ?? promptHead(context, agent, task);
    const messages = session
      ? shownMessages(session, agent, task, config, headTokens(context, head))
      : [firstMessage(context, agent, task, { results: existing ? await resultsBefore(context, task) : [] })];
    const resolved = resolveModels(agent, config, task.role);
    return defined({
      agent: name,
      held: heldAgents(trust, config, agents, (tool) => tools.has(tool)).get(name),
      task: existing ? task.id : undefined,
      session: session ? session.header.sessionId : undefined,
      model: 'models' in resolved ? resolved.models[0]! : undefined,
      ...head,
      messages,
      tokens: {
        system: textTokens(head.system),
        tools: head.tools.length === 0 ? 0 : textTokens(JSON.stringify(head.tools)),
        messages: messages.reduce((sum, message) => sum + messageTokens(message), 0),
      },
    });
  } finally {
    await plugins.close();
    await store.close();
  }
}

function example(description: string, agent: Agent, role: Role | undefined): Task {
  const own = isLeaf({ role: 'root' }, agent) ? 'root' : 'work';
  return makeTask({ id: 'example', description, role: role ?? own, to: agent.name, from: 'human', created_at: '' });
}

/**
 * Under a pattern the agent takes its turns in a child. Before that child exists, the view shows
 * the prompt it would have.
 */
async function ownTurn({ tasks }: Store, id: string, agent: Agent): Promise<Task | undefined> {
  const task = (await tasks.read(id))?.task;
  if (task === undefined || isLeaf(task, agent)) return task;
  return (await tasks.read(childId(id, 'work')))?.task ?? { ...task, role: 'work' };
}

function hasRole({ id, role }: Task): Problem {
  return problem('bad_usage', `task ${id} has the role ${role}`, {
    hint: 'leave --role out, or give a request in words',
  });
}

async function sessionOf({ sessions }: Store, task: Task, agent: Agent): Promise<Session | undefined> {
  const opened = await sessions.open(sessionId(task, agent));
  if (opened.kind === 'held') throw new ProblemError(opened.problem);
  return opened.kind === 'open' ? opened.session : undefined;
}

function shownMessages(
  { messages }: Session,
  agent: Agent,
  { role }: Task,
  config: Config,
  headTokens: number,
): readonly Message[] {
  const resolved = resolveModels(agent, config, role);
  if ('code' in resolved) return messages;
  const { models, settings } = resolved;
  return compactor(windowOf(models, config.windows), headTokens, settings.maxTokens ?? 4096).view(messages);
}
