/** Gathers the facts for the dependency and help rules, such as candidates and lock holders. */
import type { Agent } from '../../domain/agent/agent.js';
import type { AgentState } from '../../domain/agent/agent-state.js';
import type { Dependency } from '../../domain/coordination/dependency.js';
import type { Help } from '../../domain/coordination/help.js';
import { childId } from '../../domain/task/id.js';
import type { Placed, Task } from '../../domain/task/task.js';
import type { Bystander, HelpInput, Volunteer } from '../../rules/coordination/help.js';
import { volunteers } from '../../rules/coordination/help.js';
import type { NeedFacts } from '../../rules/coordination/needs.js';
import { byAgent } from '../../rules/coordination/agent-states.js';
import { providerProgress } from '../../rules/coordination/providers.js';
import { resourceKey } from '../../rules/coordination/wait-node.js';
import { approvalFor, consult } from '../approvals/request.js';
import { candidatesFor, others } from './candidates.js';
import { capacity, type Capacity } from '../core/capacity.js';
import { underWay } from '../core/ready-queue.js';
import { offeredFor, publishedStates } from './mesh.js';
import type { EngineContext } from '../core/context.js';

type Known = ReadonlyMap<string, Placed | undefined>;

export async function needFacts(
  context: EngineContext,
  task: Task,
  dependency: Dependency,
  asker: Task,
  children: Known,
): Promise<NeedFacts> {
  switch (dependency.type) {
    case 'resource': {
      const key = resourceKey(dependency.resource!);
      if (await context.locks.acquire(key, asker.id, { durable: true })) return { held: true };
      const holder = await context.locks.holder(key);
      return { held: false, holder };
    }
    case 'sequence':
      return { after: await context.tasks.read(dependency.after!) };
    case 'approval':
      return dependency.reviewer === undefined
        ? { human: await question(context, task, asker, children, 'approve_need', { need: dependency.need }) }
        : {};
    default:
      return providerProgress(task, children).kind === 'next' ? providerFacts(context, task, dependency, children) : {};
  }
}

async function providerFacts(
  context: EngineContext,
  task: Task,
  dependency: Dependency,
  children: Known,
): Promise<NeedFacts> {
  const { mode, coordinator } = context.config.coordination;
  const free = await capacity(context);
  const candidates = candidatesFor(context, task, dependency, free);
  if (mode === 'mesh') {
    const offered = candidates.length === 0 ? undefined : offeredFor(context, task, candidates, children, free);
    return { candidates, offered };
  }
  const asksCoordinator =
    coordinator !== undefined &&
    coordinator !== task.from &&
    context.agents.all().has(coordinator) &&
    free.isHosted(coordinator);
  const hosted = candidates.filter(({ agent }) => free.isHosted(agent));
  return {
    candidates: hosted.length > 0 ? hosted : candidates,
    coordinator: asksCoordinator ? coordinator : undefined,
  };
}

export async function helpFacts(
  context: EngineContext,
  task: Task,
  help: Help,
  asker: Task,
  children: Known,
): Promise<HelpInput> {
  const { coordinator, helpMs } = context.config.coordination;
  const from = Date.parse(task.claimed_at ?? task.created_at);
  const deadline = help.deadline ?? new Date(from + helpMs).toISOString();
  const hasCoordinator = coordinator !== undefined && context.agents.all().has(coordinator);
  return {
    task,
    help,
    children,
    deadline,
    volunteers: volunteersFor(context, task, help, bystanders(context, await capacity(context))),
    coordinator: hasCoordinator ? coordinator : undefined,
    human: await question(context, task, asker, children, 'give_help', { answer: BLANK, question: help.context }),
    now: context.clock.now().toISOString(),
  };
}

const BLANK = '(write your answer here)';

export type Bystanders = (agent: Agent) => Bystander | undefined;

/** Agents that could help now, best first. */
export function volunteersFor(context: EngineContext, task: Task, help: Help, around: Bystanders): Volunteer[] {
  const all = others(context, task).flatMap((agent) => around(agent) ?? []);
  return volunteers(help, task.from ?? '', all);
}

/**
 * The state and load of each agent, from the open tasks and its last published state. Undefined for
 * an agent without a host. A snapshot, computed at the first call; use it for one pass only.
 */
export function bystanders(context: EngineContext, free: Capacity): Bystanders {
  let seen: { started: ReturnType<typeof byAgent>['started']; published: ReadonlyMap<string, AgentState> } | undefined;
  return (agent) => {
    if (!free.isHosted(agent.name)) return undefined;
    seen ??= { started: byAgent(underWay(context)).started, published: publishedStates(context) };
    const isBusy = (seen.started.get(agent.name) ?? []).length > 0;
    return {
      agent,
      state: isBusy ? 'working' : stateAtRest(seen.published.get(agent.name)),
      busy: free.load(agent.name),
    };
  };
}

/** The published state lags behind: an agent without started tasks is waiting. */
function stateAtRest(published: AgentState = 'idle'): AgentState {
  return published === 'working' || published === 'blocked' ? 'waiting' : published;
}

/** The question for the human, which appears on the ballot, and the answer if there is one. */
async function question(
  context: EngineContext,
  task: Task,
  asker: Task,
  children: Known,
  tool: string,
  args: Record<string, unknown>,
): Promise<NonNullable<NeedFacts['human']>> {
  const name = asker.to ?? 'nobody';
  const agent = context.agents.all().get(name) ?? ({ name, session: 'per_task' } as Agent);
  const isHelp = tool === 'give_help';
  const reason = isHelp
    ? `${name} asked for help and no agent could give it`
    : `${name} asks for your approval before it continues`;
  const wanted = approvalFor(
    context,
    asker,
    agent,
    { id: task.id, name: tool, arguments: args },
    { verdict: 'ask', reasons: [reason], risk: 'LOW' },
    {
      id: childId(task.id, 'approval'),
      title: isHelp ? `Help ${name}` : `Approve for ${name}`,
      confinement: 'no action runs: your answer goes to the agent that asked',
    },
  );
  const { child, answer } = await consult(context, wanted, async (id) => children.get(id));
  return { child, said: answer };
}
